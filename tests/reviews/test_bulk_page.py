import re

import pytest

from banks import jobs
from banks.models import Bank, Job
from reviews.bulk import deciding
from reviews.models import ReviewEntry
from reviews.services import decide
from reviews.views import bulk as view
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, Reader, assert_harmless, text_of


def boxes(page: str) -> list[dict[str, str | None]]:
    return [attributes for _, attributes in Reader(page).elements if attributes.get("name") == "pick"]


def picks(page: str) -> list[str]:
    return [str(box["value"]) for box in boxes(page)]


@pytest.fixture
def memories(bank: Bank) -> list[ReviewEntry]:
    return [factories.make_entry(bank, f"notes/{number}.md") for number in range(3)]


def test_the_selected_are_approved_in_the_version_that_was_shown(
    memories: list[ReviewEntry], people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    page = text_of(client.get("/reviews/"))
    assert_harmless(page)
    chosen = picks(page)[:2]
    asked = client.post("/reviews/bulk/approve/?age=older-1", {"picked": "1", "pick": chosen})
    assert "Approve 2 memories" in text_of(asked)  # without a number it asks, whatever the list is narrowed by
    assert picks(text_of(asked)) == chosen
    answer = client.post("/reviews/bulk/approve/", {"picked": "1", "pick": chosen, "total": "2"}, follow=True)
    assert "Approved 2." in text_of(answer)
    assert "Undo" in text_of(answer)
    assert sorted(ReviewEntry.objects.values_list("state", flat=True)) == ["approved", "approved", "pending"]


def test_another_number_than_was_said_asks_again(memories: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    answer = client.post("/reviews/bulk/delete/", {"total": "2"})
    assert (answer.status_code, "another number now" in text_of(answer)) == (409, True)
    assert "Delete 3 memories" in text_of(answer)
    assert not Job.objects.exists()


def test_all_that_match_are_counted_with_what_is_left_out(
    bank: Bank, memories: list[ReviewEntry], people: People, as_user
) -> None:
    factories.make_entry(bank, "flagged.md", danger=True)
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/bulk/approve/?bank={bank.pk}"))
    assert "Approve 3 memories" in page
    assert "Left out: 1" in page
    assert "1 flagged memory that you have not opened" in page
    assert str(bank) in page
    flagged = next(box for box in boxes(text_of(client.get("/reviews/"))) if "data-left" in box)
    assert flagged["data-left"] == "flagged"
    assert "Delete 4 memories" in text_of(client.get("/reviews/bulk/delete/"))


def test_many_are_a_job_whose_page_asks_until_it_is_over(
    memories: list[ReviewEntry], people: People, as_user, monkeypatch
) -> None:
    monkeypatch.setattr(view, "HERE", 2)
    client = as_user(people.reviewer)
    answer = client.post("/reviews/bulk/approve/", {"total": "3"})
    job = Job.objects.get()
    assert answer["Location"] == f"/reviews/bulk/{job.pk}/"
    page = client.get(f"/reviews/bulk/{job.pk}/", headers=HTMX)
    assert (page.status_code, "every 2s" in text_of(page)) == (200, True)
    assert "How far it is" in text_of(client.get("/reviews/"))
    jobs.run(job.pk)
    page = client.get(f"/reviews/bulk/{job.pk}/", headers=HTMX)
    assert (page.status_code, "every 2s" in text_of(page)) == (286, False)
    assert "<b>3</b> approved" in text_of(page)
    assert as_user(people.owner).get(f"/reviews/bulk/{job.pk}/").status_code == 404
    client = as_user(people.reviewer)
    back = client.post(f"/reviews/bulk/{job.pk}/undo/")
    undo = Job.objects.exclude(pk=job.pk).get()
    assert back["Location"] == f"/reviews/bulk/{undo.pk}/"
    jobs.run(undo.pk)
    assert "<b>3</b> taken back" in text_of(client.get(back["Location"]))
    assert set(ReviewEntry.objects.values_list("state", flat=True)) == {"pending"}


def test_what_was_refused_stays_selected_with_its_reason(memories: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    chosen = picks(text_of(client.get("/reviews/")))
    ReviewEntry.objects.filter(pk=memories[1].pk).update(version=2)
    answer = client.post("/reviews/bulk/approve/", {"picked": "1", "pick": chosen, "total": "3"}, follow=True)
    page = text_of(answer)
    (box,) = boxes(page)
    assert "checked" in box
    assert str(box["value"]).startswith(f"{memories[1].pk}.2.")
    assert "This memory was written again since it was shown to you." in page


def test_the_last_action_is_the_whole_group(memories: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    client.post("/reviews/bulk/delete/", {"total": "3"})
    job = Job.objects.get(kind=deciding.KIND)
    page = text_of(client.get("/undo/"))
    assert re.search(r"Delete</a> 3 memories", page)
    answer = client.post("/undo/", {"step": f"j{job.pk}"})
    undo = Job.objects.exclude(pk=job.pk).get()
    assert answer["Location"] == f"/reviews/bulk/{undo.pk}/"
    jobs.run(undo.pk)
    assert set(ReviewEntry.objects.values_list("state", flat=True)) == {"pending"}
    assert f"j{job.pk}" not in text_of(client.get("/undo/"))


def test_nothing_picked_decides_nothing(memories: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    for posted in ({"picked": "1", "total": "3"}, {"picked": "1", "pick": "1", "total": "3"}):
        assert "Nothing is selected" in text_of(client.post("/reviews/bulk/approve/", posted, follow=True))
    assert not Job.objects.exists()


def test_rows_that_cannot_be_decided_on_have_no_box(memories: list[ReviewEntry], people: People, as_user) -> None:
    assert not boxes(text_of(as_user(people.viewer).get("/reviews/")))
    entry = memories[0]
    decide.approve(user=people.owner, entry_id=entry.pk, version=1, text_hash=entry.text_id or "")
    assert not boxes(text_of(as_user(people.reviewer).get("/reviews/?state=decided")))
    page = text_of(as_user(people.viewer).get("/reviews/bulk/approve/"))
    assert "Nothing is left to approve." in page
