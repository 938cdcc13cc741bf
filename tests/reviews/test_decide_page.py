from datetime import timedelta

import pytest
from django.utils import timezone

from banks.models import Bank, Write
from reviews.models import Decision, ReviewEntry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, shown, text_of


@pytest.fixture
def queue(bank: Bank) -> list[ReviewEntry]:
    """Three memories in the order of the list."""
    now = timezone.now()
    return [
        factories.make_entry(bank, f"notes/{n}.md", text=f"Text {n}", expires_at=now + timedelta(days=n))
        for n in (1, 2, 3)
    ]


def approve(client, entry: ReviewEntry, **more):
    return client.post(f"/reviews/{entry.pk}/approve/", shown(entry), **more)


def test_the_next_card_is_in_the_answer(queue: list[ReviewEntry], people: People, as_user) -> None:
    answer = approve(as_user(people.reviewer), queue[0], headers=HTMX)
    page = text_of(answer)
    assert answer.status_code == 200
    assert answer["HX-Push-Url"] == f"/reviews/{queue[1].pk}/"
    assert "Text 2" in page
    assert "<title>notes/2.md · memadmin</title>" in page
    assert 'id="rail-pending" hx-swap-oob="true" data-tone="pending">2<' in page
    assert "Approved notes/1.md. Next: notes/2.md" in page
    assert 'title="Undo: approve of notes/1.md"' in page
    queue[0].refresh_from_db()
    assert (queue[0].state, queue[0].decided_by) == ("approved", "Mira Kovač")


def test_without_script_the_next_card_is_one_redirect_away(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    answer = client.post(f"/reviews/{queue[0].pk}/approve/?project=&q=notes", shown(queue[0]))
    assert (answer.status_code, answer["Location"]) == (303, f"/reviews/{queue[1].pk}/?q=notes")
    page = text_of(client.get(answer["Location"]))
    assert "Approved notes/1.md." in page
    assert 'action="/undo/?q=notes"' in page


def test_the_way_through_the_list_ends_with_all_done(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    assert client.post(f"/reviews/{queue[0].pk}/skip/")["Location"] == f"/reviews/{queue[1].pk}/"
    assert approve(client, queue[1])["Location"] == f"/reviews/{queue[2].pk}/"
    assert approve(client, queue[2])["Location"] == f"/reviews/{queue[0].pk}/"  # the one that was skipped
    last = approve(client, queue[0], headers=HTMX)
    assert "Nothing is waiting for a decision." in text_of(last)
    assert last["HX-Push-Url"] == "/reviews/"


def test_a_delete_can_be_taken_back_before_anything_is_sent(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    answer = client.post(f"/reviews/{queue[0].pk}/delete/", shown(queue[0]), headers=HTMX)
    assert "data-toast" in text_of(answer)
    assert "sent in" in text_of(answer)
    assert Write.objects.get().state == "queued"
    again = client.post(f"/reviews/{queue[0].pk}/undo/", headers=HTMX)
    assert "Text 1" in text_of(again)
    assert "is pending again" in text_of(again)
    assert Write.objects.get(kind="delete").state == "cancelled"
    queue[0].refresh_from_db()
    assert queue[0].state == "pending"


def test_a_second_click_on_undo_is_answered_as_the_first(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    approve(client, queue[0])
    seen = {"version": queue[0].version + 1}
    for _ in range(2):
        answer = client.post(f"/reviews/{queue[0].pk}/undo/", seen)
        assert (answer.status_code, answer["Location"]) == (303, f"/reviews/{queue[0].pk}/")
    assert list(Decision.objects.values_list("verdict", flat=True).order_by("pk")) == ["approved", "reopened"]


def test_undo_pressed_again_does_not_take_back_what_a_colleague_decided_meanwhile(
    queue: list[ReviewEntry], people: People, as_user
) -> None:
    client, entry = as_user(people.reviewer), queue[0]
    approve(client, entry)
    client.post(f"/reviews/{entry.pk}/undo/", {"version": entry.version + 1})  # its answer is lost
    entry.refresh_from_db()
    approve(as_user(people.owner), entry)
    assert client.post(f"/reviews/{entry.pk}/undo/", {"version": entry.version - 1}).status_code == 409
    entry.refresh_from_db()
    assert (entry.state, entry.decided_by) == ("approved", "Ann Weber")


def test_an_undo_that_comes_too_late_says_what_can_be_done(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    client.post(f"/reviews/{queue[0].pk}/delete/", shown(queue[0]))
    Write.objects.update(state="sending")
    answer = client.post(f"/reviews/{queue[0].pk}/undo/")
    assert answer.status_code == 409
    assert "already been told to delete" in text_of(answer)


def test_a_second_click_is_answered_as_the_first(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    approve(client, queue[0])
    again = approve(client, queue[0])
    assert (again.status_code, again["Location"]) == (303, f"/reviews/{queue[1].pk}/")
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("data", [{}, {"version": "x", "text_hash": "y"}, {"version": "-1"}, {"version": "9" * 30}])
def test_a_decision_without_what_was_seen_is_refused(
    data: dict[str, str], queue: list[ReviewEntry], people: People, as_user
) -> None:
    for act in ("approve", "delete", "edit"):
        answer = as_user(people.reviewer).post(f"/reviews/{queue[0].pk}/{act}/", data)
        assert answer.status_code == 422
        assert "which version you saw" in text_of(answer)
    assert not Decision.objects.exists()


def test_a_deleted_memory_is_put_back_from_its_card_and_from_the_log(
    queue: list[ReviewEntry], people: People, as_user
) -> None:
    client, entry = as_user(people.reviewer), queue[0]
    client.post(f"/reviews/{entry.pk}/delete/", shown(entry))
    Write.objects.update(state="done")
    ReviewEntry.objects.filter(pk=entry.pk).update(state="deleted")
    deletion = Write.objects.get()
    for page in (f"/reviews/{entry.pk}/", f"/log/{deletion.pk}/"):
        assert f"/log/{deletion.pk}/put-back/" in text_of(client.get(page))
    assert as_user(people.stranger).post(f"/log/{deletion.pk}/put-back/").status_code == 404
    assert as_user(people.viewer).post(f"/log/{deletion.pk}/put-back/").status_code == 403
    assert client.get(f"/log/{deletion.pk}/put-back/").status_code == 405
    answer = client.post(f"/log/{deletion.pk}/put-back/")
    assert (answer.status_code, answer["Location"]) == (303, f"/reviews/{entry.pk}/")
    assert Write.objects.get(kind="put-back").request_id == entry.text_id
    again = client.post(f"/log/{deletion.pk}/put-back/")
    assert (again.status_code, again["Location"]) == (303, f"/reviews/{entry.pk}/")
    somebody_else = as_user(people.owner).post(f"/log/{deletion.pk}/put-back/")
    assert somebody_else["Location"] == f"/log/{deletion.pk}/"
    assert Write.objects.filter(kind="put-back").count() == 1
