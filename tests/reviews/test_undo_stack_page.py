"""The button of the next undo on every page, what its post answers, and the page with the last actions."""

import re

import pytest

from banks.models import Bank, Job, Role, Write
from reviews.curation import archive
from reviews.models import FactDecision, ReviewEntry
from reviews.services import decide
from reviews.undoing.steps import stack
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, Reader, assert_harmless, text_of
from tests.reviews.retired import retired
from tests.reviews.undoing import act, end, retire, with_facts

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(bank: Bank) -> list[ReviewEntry]:
    return [factories.make_entry(bank, f"notes/{number}.md", text=f"Text {number}") for number in (1, 2, 3)]


def step_on(page: str) -> str | None:
    found = re.search(r'name="step" value="(\w+)"', page)
    return found[1] if found else None


def keys_of(page: str) -> list[str]:
    buttons = [each for tag, each in Reader(page).elements if tag == "button"]
    return [str(each.get("data-key")) for each in buttons if str(each.get("title")).startswith("Undo")]


def test_every_page_says_what_would_be_taken_back(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    pages = {"/reviews/": "u Control+z", f"/reviews/{queue[1].pk}/": "u Control+z", "/undo/": "u Control+z"}
    pages |= {"/log/": "Control+z", "/facts/retired/": "Control+z"}  # there the letter is of the row
    for path in pages:
        assert step_on(text_of(client.get(path))) is None
    act("approve", people.reviewer, queue[0])
    for path, keys in pages.items():
        page = text_of(client.get(path))
        assert step_on(page) == stack(people.reviewer)[0].name
        assert 'title="Undo: approve of notes/1.md"' in page
        assert keys_of(page) == [keys]


def test_without_script_it_leads_to_the_card_and_names_the_one_before(
    queue: list[ReviewEntry], people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    retire(people.reviewer, with_facts(queue[0].bank), "f1", "f2")
    act("approve", people.reviewer, queue[0])
    answer = client.post("/undo/?q=notes", {"step": step_on(text_of(client.get("/reviews/")))})
    assert (answer.status_code, answer["Location"]) == (303, f"/reviews/{queue[0].pk}/?q=notes")
    page = text_of(client.get(answer["Location"]))
    said = "Taken back: approve of notes/1.md. Before that: retire of 2 facts in notes/f.md (u)."
    assert said in page
    answer = client.post("/undo/", {"step": step_on(page)})
    assert answer["Location"].endswith("/#facts")
    assert "Taken back: retire of 2 facts in notes/f.md." in text_of(client.get(answer["Location"]))
    assert Write.objects.get(kind="restore").fact_ids == ["f1", "f2"]


def test_with_script_the_card_is_in_the_answer(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    act("delete", people.reviewer, queue[0])
    name = step_on(text_of(client.get(f"/reviews/{queue[1].pk}/")))
    for again in (False, True):
        answer = client.post("/undo/", {"step": name}, headers=HTMX)
        assert (answer.status_code, answer["HX-Push-Url"]) == (200, f"/reviews/{queue[0].pk}/")
        page = text_of(answer)
        assert "Text 1" in page
        assert ("It was taken back already; nothing more was done." in page) is again
    assert Write.objects.filter(kind="undo").count() == 1


def test_a_refusal_takes_the_place_of_the_button_and_the_next_undo_is_the_one_before(
    queue: list[ReviewEntry], people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    act("approve", people.reviewer, queue[0])
    act("approve", people.reviewer, queue[1])
    decide.undo(user=people.owner, entry_id=queue[1].pk)
    act("delete", people.owner, queue[1])
    name = step_on(text_of(client.get(f"/reviews/{queue[2].pk}/")))
    answer = client.post("/undo/", {"step": name}, headers=HTMX)
    page = text_of(answer)
    assert answer.status_code == 409
    assert "Not taken back: approve of notes/2.md. Ann Weber took it back already." in page
    before = step_on(page)
    assert before not in (None, name)
    assert step_on(text_of(client.get("/reviews/"))) == before  # it is remembered
    assert client.post("/undo/", {"step": before}, headers=HTMX).status_code == 200
    queue[1].refresh_from_db()
    assert queue[1].state == "deleting"


def test_a_refusal_without_script_shows_the_stack_with_its_reasons(
    queue: list[ReviewEntry], people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    act("approve", people.reviewer, queue[0])
    deletion = act("delete", people.reviewer, queue[1])
    end(deletion)
    answer = client.post("/undo/", {"step": f"w{deletion.pk}"}, follow=True)
    assert answer.redirect_chain == [("/undo/", 303)]
    page = text_of(answer)
    assert "Not taken back: delete of notes/2.md. It is deleted, so it cannot be taken back." in page
    assert f'action="/log/{deletion.pk}/put-back/"' in page
    assert step_on(page) == f"w{Write.objects.get(kind='approve').pk}"
    assert client.post(f"/log/{deletion.pk}/put-back/")["Location"] == f"/reviews/{queue[1].pk}/"
    assert "delete of notes/2.md" not in [step.said for step in stack(people.reviewer)]


def test_the_work_of_a_bulk_undo_is_shown(bank: Bank, people: People, as_user) -> None:
    retired(bank, 1)
    job = archive.start_restore(user=people.reviewer, picks=list(FactDecision.objects.values_list("pk", flat=True)))
    client = as_user(people.reviewer)
    waits = client.post("/undo/", {"step": f"j{job.pk}"}, follow=True)
    assert "press again" in text_of(waits)
    Job.objects.update(state="done")
    Write.objects.create(kind="restore", bank=bank, via="web", state="done", group=job.params["group"], slot="s")
    answer = client.post("/undo/", {"step": f"j{job.pk}"}, headers=HTMX)
    undoing = Job.objects.get(kind=archive.RETIRE)
    assert answer["HX-Redirect"] == f"/facts/retired/jobs/{undoing.pk}/"
    assert client.post("/undo/", {"step": f"j{job.pk}"})["Location"] == f"/facts/retired/jobs/{undoing.pk}/"
    assert Job.objects.filter(kind=archive.RETIRE).count() == 1


def test_who_may_not(queue: list[ReviewEntry], people: People, as_user) -> None:
    act("approve", people.reviewer, queue[0])
    step = {"step": stack(people.reviewer)[0].name}
    for user in (people.owner, people.viewer, people.stranger, people.operator):
        assert as_user(user).post("/undo/", step).status_code == 404
        assert "notes/1.md" not in text_of(as_user(user).get("/undo/"))
    for role, words in ((Role.VIEWER, "Your role on its bank"), (None, "a bank that you can no longer see")):
        people.reviewer.memberships.update(role=role) if role else people.reviewer.memberships.all().delete()
        answer = as_user(people.reviewer).post("/undo/", step, headers=HTMX)
        assert answer.status_code == 409
        assert words in text_of(answer)
    assert "notes/1.md" not in text_of(as_user(people.reviewer).get("/undo/"))
    queue[0].refresh_from_db()
    assert queue[0].state == "approved"


def test_a_post_that_names_nothing(people: People, as_user) -> None:
    client = as_user(people.reviewer)
    assert client.post("/undo/", headers=HTMX).status_code == 422
    assert "There is nothing to take back." in text_of(client.post("/undo/", follow=True))


def test_nasty_names_stay_names(bank: Bank, people: People, as_user) -> None:
    act("approve", people.reviewer, factories.make_entry(bank, XSS))
    client = as_user(people.reviewer)
    for path in ("/undo/", "/reviews/", "/log/"):
        assert_harmless(text_of(client.get(path)))
    answer = client.post("/undo/", {"step": stack(people.reviewer)[0].name}, headers=HTMX)
    assert_harmless(text_of(answer))
