"""Two people, an agent or time on one memory: 409, nothing changed, both texts, who did what, and the ways on."""

import pytest

from banks.models import Bank, Blob, Write
from reviews.models import Decision, ReviewEntry, Seen
from reviews.services import decide
from tests import factories
from tests.conftest import People
from tests.reviews.happenings import CASES, NEW, OLD, form_of, happen, written_again
from tests.reviews.pages import HTMX, XSS, assert_harmless, shown, text_of


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    return factories.make_entry(bank, "notes/a.md", text=OLD)


@pytest.mark.parametrize("headers", [HTMX, {}], ids=["htmx", "no script"])
@pytest.mark.parametrize("tried", ["approve", "delete"])
@pytest.mark.parametrize("happened", list(CASES))
def test_a_decision_on_what_changed_changes_nothing_and_shows_both(
    happened: str, tried: str, headers: dict[str, str], entry: ReviewEntry, people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    form = form_of(client, entry)
    happen(happened, entry, people)
    before = ReviewEntry.objects.values("state", "version", "text", "decided_by").get()
    answer = client.post(f"/reviews/{entry.pk}/{tried}/?q=notes", form, headers=headers)
    page = text_of(answer)
    assert answer.status_code == 409
    assert ("<html" in page) == (not headers)
    assert (answer.get("HX-Retarget") == "#main") == bool(headers)  # never into a row
    sentence, way_on = CASES[happened]
    assert sentence in page
    assert "Nothing was changed by you." in page
    assert way_on in page
    assert "Back to the queue" in page
    assert "Up to 5 times." in page
    if happened in ("edited", "written again"):
        assert "<del>5</del>" in page
        assert "<ins>8</ins>" in page
    assert ReviewEntry.objects.values("state", "version", "text", "decided_by").get() == before
    assert not Decision.objects.filter(user=people.reviewer).exists()


def test_the_way_on_decides_on_the_text_of_the_conflict(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    form = form_of(client, entry)
    written_again(entry)
    page = text_of(client.post(f"/reviews/{entry.pk}/approve/", form, headers=HTMX))
    assert 'name="version" value="2"' in page
    assert client.post(f"/reviews/{entry.pk}/approve/", form_of(client, entry)).status_code == 303
    assert Decision.objects.get().text_hash == Blob.objects.store(NEW).pk
    assert 'data-key="a"' not in page  # a second press of the key would approve what nobody has read


def test_what_was_taken_back_is_the_decision_on_screen(entry: ReviewEntry, people: People, as_user) -> None:
    client, seen = as_user(people.reviewer), {"user": people.owner, "entry_id": entry.pk, "text_hash": entry.text_id}
    decide.approve(version=1, **seen)
    decide.undo(user=people.owner, entry_id=entry.pk)
    decide.delete(version=3, **seen)
    answer = client.post(f"/reviews/{entry.pk}/undo/", {"version": 2, "text_hash": entry.text_id})
    assert answer.status_code == 409
    assert "<bdi>Ann Weber</bdi> deleted this memory" in text_of(answer)
    assert Write.objects.get(kind="delete").state == "queued"
    assert client.post(f"/reviews/{entry.pk}/undo/", {"version": 4}).status_code == 303


def test_a_posted_hash_never_fetches_the_text_of_another_memory(entry: ReviewEntry, people: People, as_user) -> None:
    secret = factories.make_entry(factories.make_bank("theirs"), text="The secret of another team.")
    client = as_user(people.reviewer)
    for proof in ("", "x" * 43, form_of(client, entry)["proof"]):
        form = {"version": 1, "text_hash": secret.text_id, "proof": proof}
        page = text_of(client.post(f"/reviews/{entry.pk}/approve/", form))
        assert "The secret of another team." not in page
        assert "The text you saw is not kept here" in page
        query = f"version=0&text_hash={secret.text_id}&proof={proof}"
        assert "The secret of another team." not in text_of(client.get(f"/reviews/{entry.pk}/changed/?{query}"))


@pytest.mark.parametrize("known", ["seen", "decision", "write", "erased"])
def test_a_text_this_memory_had_is_shown_by_its_hash_alone(
    known: str, entry: ReviewEntry, people: People, as_user
) -> None:
    old, form = entry.text_id, shown(entry)
    if known == "decision":
        Decision.objects.create(entry=entry, verdict="approved", decided_via="expiry", version=0, text_hash=old)
    elif known == "write":
        Write.objects.create(
            kind="edit", bank=entry.bank, via="web", document_id="notes/a.md", document_hash=entry.document_hash,
            before=entry.text, slot="x", state="done",
        )  # fmt: skip
    else:
        Seen.objects.create(user=people.owner, entry=entry, text_hash=old)
    written_again(entry, "Another text.")
    if known == "erased":
        Blob.objects.filter(pk=old).update(data=b"", erased="2026-01-01T00:00Z")
    page = text_of(as_user(people.reviewer).post(f"/reviews/{entry.pk}/approve/", form))
    assert ("Up to 5 times." in page) == (known != "erased")
    assert "Another text." in page


def test_who_may_look_at_what_changed(entry: ReviewEntry, people: People, as_user) -> None:
    path = f"/reviews/{entry.pk}/changed/"
    written_again(entry)
    answer = as_user(people.reviewer).get(path, {**shown(entry), "text_hash": entry.text_id})
    assert answer.status_code == 200
    assert "This memory was written again" in text_of(answer)
    assert as_user(people.stranger).get(path, shown(entry)).status_code == 404
    assert as_user(people.viewer).get(path, shown(entry)).status_code == 403
    assert as_user(people.reviewer).post(path).status_code == 405
    assert "Approve" in text_of(as_user(people.reviewer).get(path))  # nothing said of what was seen: the card


def test_nasty_texts_of_a_conflict_stay_text(bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank, XSS, text=XSS)
    client = as_user(people.reviewer)
    form = form_of(client, entry)
    written_again(entry, f"{XSS} again \u202e")
    for path, more in (("approve", {}), ("edit", {"text": f"{XSS} mine"})):
        answer = client.post(f"/reviews/{entry.pk}/{path}/", {**form, **more})
        assert answer.status_code == 409
        assert_harmless(text_of(answer))


def test_a_new_text_that_is_not_shown_whole_is_not_approved_from_there(
    entry: ReviewEntry, people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    form = form_of(client, entry)
    written_again(entry, "A sentence of it.\n" * 2_000)
    page = text_of(client.post(f"/reviews/{entry.pk}/approve/", form))
    assert "The beginning and the end are." in page
    assert "Look at it again" in page
    assert f'action="/reviews/{entry.pk}/approve/' not in page  # of no form and no button
