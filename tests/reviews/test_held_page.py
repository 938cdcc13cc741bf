"""Held memories on pages: card, queue, overview, retain queue and the bank's policy; who may do what."""

import pytest
from django.test import Client
from django.urls import reverse

from banks.models import AdminEvent, Bank, Role, Write
from reviews.models import ReviewEntry
from reviews.services import decide
from reviews.undoing.steps import stack
from tests import factories
from tests.banks.conftest import LyingTransport, line
from tests.banks.retaining import drain, put
from tests.conftest import People
from tests.reviews.holding import act, held, hold, item_of
from tests.reviews.pages import HTMX, XSS, assert_harmless, shown, text_of
from tests.reviews.undoing import undo

__all__ = ["line"]


@pytest.fixture
def entry(bank: Bank, people: People) -> ReviewEntry:
    return held(people.reviewer, bank, {"content": "Ann moved to Lyon.", "document_id": "notes/h.md", "tags": ["x"]})[0]


def test_the_card_says_that_it_is_not_in_the_bank(entry: ReviewEntry, people: People, as_user) -> None:
    page = text_of(as_user(people.owner).get(f"/reviews/{entry.pk}/"))
    for words in ("Ann moved to Lyon.", "Held for review: it is not in the bank.", "Mira Kovač", "held until decided"):
        assert words in page
    assert "Reject" in page
    assert "Delete <" not in page
    assert "loading" not in page.lower()
    assert reverse("banks:retain-detail", args=[entry.item_id]) in page


def test_the_card_of_one_that_replaces_leads_to_the_document(
    entry: ReviewEntry, bank: Bank, people: People, as_user
) -> None:
    known = factories.make_entry(bank, "notes/h.md")
    page = text_of(as_user(people.owner).get(f"/reviews/{entry.pk}/"))
    assert "This takes its place." in page
    assert f'href="/reviews/{known.pk}/"' in page


def test_approve_reject_and_take_back_by_pages(entry: ReviewEntry, people: People, as_user) -> None:
    client: Client = as_user(people.owner)
    answer = client.post(f"/reviews/{entry.pk}/delete/?state=held", shown(entry), follow=True)
    assert "Rejected notes/h.md." in text_of(answer)
    again = client.post(f"/reviews/{entry.pk}/delete/?state=held", shown(entry), follow=True)
    assert "Rejected notes/h.md." in text_of(again)  # a second click is not a second decision
    entry.refresh_from_db()
    page = text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "It was never sent." in page
    assert "rejected by" in page
    answer = client.post(f"/reviews/{entry.pk}/undo/", {"version": entry.version}, follow=True)
    assert "notes/h.md is held again." in text_of(answer)
    entry.refresh_from_db()
    client.post(f"/reviews/{entry.pk}/approve/?state=held", shown(entry))
    assert item_of(entry).state == "queued"
    assert "It is about to be sent." in text_of(client.get(f"/reviews/{entry.pk}/"))


def test_editing_says_that_nothing_is_sent(entry: ReviewEntry, people: People, as_user) -> None:
    client: Client = as_user(people.owner)
    page = text_of(client.get(f"/reviews/{entry.pk}/edit/"))
    assert "It stays held, and nothing is sent by saving." in page
    assert "extracts all facts again" not in page
    client.post(f"/reviews/{entry.pk}/edit/", {**shown(entry), "text": "Ann moved.", "do": "save"})
    entry.refresh_from_db()
    assert (entry.state, entry.preview) == ("held", "Ann moved.")


def test_held_memories_are_counted_apart(entry: ReviewEntry, bank: Bank, people: People, as_user) -> None:
    factories.make_entry(bank, "notes/p.md")
    client: Client = as_user(people.owner)
    queue = text_of(client.get("/reviews/"))
    assert "1 pending, 0 of them within 24 h; 1 held" in queue
    assert "notes/h.md" not in queue
    assert "notes/h.md" in text_of(client.get("/reviews/?state=held"))
    overview = text_of(client.get("/"))
    assert "Held: not sent before somebody approves" in overview
    assert f'href="/reviews/?state=held&amp;bank={bank.pk}">1 held</a>' in overview
    banks = text_of(client.get("/banks/"))
    assert ">1 held</a>" in banks
    assert ">holds</span>" in banks
    ReviewEntry.objects.filter(state="pending").update(state="approved")
    done = text_of(client.get("/reviews/"))
    assert "Nothing is pending." in done
    assert "Review what is held" in done


def test_lists_of_what_was_decided_have_it(entry: ReviewEntry, people: People, as_user) -> None:
    act("delete", people.owner, entry)
    client: Client = as_user(people.viewer)
    for state in ("rejected", "decided"):
        assert "notes/h.md" in text_of(client.get(f"/reviews/?state={state}"))
    assert "notes/h.md" not in text_of(client.get("/reviews/?state=deleted"))


def test_who_has_it_open_hears_that_it_was_decided(entry: ReviewEntry, people: People, as_user) -> None:
    client: Client = as_user(people.owner)
    client.post(f"/reviews/{entry.pk}/open/", shown(entry), headers=HTMX)
    entry.refresh_from_db()
    assert entry.lease_user == people.owner
    before = shown(entry)
    act("delete", people.reviewer, entry)
    answer = client.post(f"/reviews/{entry.pk}/open/", before, headers=HTMX)
    assert "rejected" in text_of(answer)
    lost = client.post(f"/reviews/{entry.pk}/approve/", before)
    assert lost.status_code == 409
    assert "Take the rejection back" in text_of(lost)


def test_the_retain_queue_leads_to_the_review(entry: ReviewEntry, people: People, as_user) -> None:
    client: Client = as_user(people.reviewer)
    assert "notes/h.md" in text_of(client.get("/retain/?view=held"))
    page = text_of(client.get(f"/retain/{entry.item_id}/"))
    assert "It is held for review." in page
    assert f'href="/reviews/{entry.pk}/"' in page
    assert "Discard" not in page  # a decision drops it
    client.post(f"/retain/{entry.item_id}/discard/")
    assert item_of(entry).state == "held"


def test_readers_and_strangers_decide_nothing(entry: ReviewEntry, bank: Bank, people: People, as_user) -> None:
    elsewhere = factories.make_user("elsewhere")
    factories.grant(elsewhere, factories.make_bank(server=bank.server), Role.ADMIN)
    for person, status in ((people.viewer, 403), (people.stranger, 404), (elsewhere, 404)):
        client: Client = as_user(person)
        for what in ("approve", "delete", "edit", "undo"):
            posted = {**shown(entry), "text": "Other.", "do": "save"}
            assert client.post(f"/reviews/{entry.pk}/{what}/", posted).status_code == status, (person, what)
    assert as_user(people.stranger).get(f"/reviews/{entry.pk}/").status_code == 404
    assert "Ann moved to Lyon." in text_of(as_user(people.viewer).get(f"/reviews/{entry.pk}/"))
    entry.refresh_from_db()
    assert (entry.state, item_of(entry).state) == ("held", "held")


def test_the_policy_page_says_what_is_outside_it(bank: Bank, people: People, as_user) -> None:
    client: Client = as_user(people.owner)
    page = text_of(client.get(f"/banks/{bank.pk}/policy/"))
    assert "Agents that write to Hindsight directly are outside it" in page
    from tests.banks.test_policy_page import save

    save(client, bank, hold="on")
    assert bank.hold
    event = AdminEvent.objects.get()
    assert (event.before, event.after) == ({"hold": False}, {"hold": True})
    save(client, bank, hold="off")
    assert not bank.hold


def test_hostile_text_stays_text(bank: Bank, people: People, as_user) -> None:
    (entry,) = held(people.reviewer, bank, {"content": XSS, "document_id": XSS}, project=XSS)
    client: Client = as_user(people.owner)
    for url in (f"/reviews/{entry.pk}/", f"/reviews/{entry.pk}/edit/", "/reviews/?state=held", "/retain/?view=held"):
        assert_harmless(text_of(client.get(url)))


def test_hidden_text_is_marked_before_anything_is_sent(bank: Bank, people: People, as_user) -> None:
    (entry,) = held(people.reviewer, bank, "Ann \u202emoved.")
    assert entry.marks
    assert "flag" in text_of(as_user(people.owner).get("/reviews/?state=held"))


def test_what_is_held_is_found_by_its_words(entry: ReviewEntry, people: People, as_user) -> None:
    client: Client = as_user(people.owner)
    assert "notes/h.md" in text_of(client.get("/reviews/?state=held&q=lyon"))
    act("edit", people.owner, entry, new_text="Ann moved to Nantes.")
    assert "notes/h.md" in text_of(client.get("/reviews/?state=held&q=nantes"))
    assert "No memory matches" in text_of(client.get("/reviews/?state=held&q=lyon"))


def test_the_stack_of_last_actions_knows_them(entry: ReviewEntry, people: People) -> None:
    act("edit", people.owner, entry, new_text="Ann moved to Nantes.")
    act("delete", people.owner, entry)
    assert [step.kind for step in stack(people.owner)] == ["reject", "edit-held"]
    assert undo(people.owner).entry == entry.pk
    entry.refresh_from_db()
    assert (entry.state, entry.preview) == ("held", "Ann moved to Nantes.")
    undo(people.owner)
    entry.refresh_from_db()
    assert (entry.state, entry.preview, entry.text_by) == ("held", "Ann moved to Lyon.", None)
    assert stack(people.owner) == []
    act("approve", people.owner, entry)
    name = stack(people.owner)[0].name
    assert undo(people.owner).entry == entry.pk
    assert undo(people.owner, name).again
    assert item_of(entry).state == "held"


@pytest.mark.django_db(transaction=True)
def test_an_approval_waits_on_the_stack_until_it_has_arrived(
    bank: Bank, people: People, line: LyingTransport, as_user
) -> None:
    (entry,) = held(people.reviewer, bank, "Ann moved.")
    act("approve", people.owner, entry)
    item = item_of(entry)
    item.__class__.objects.update(state="sent")
    page = text_of(as_user(people.owner).get("/undo/"))
    assert "It is on its way to the bank already." in page
    item.__class__.objects.update(state="queued")
    drain(bank)
    assert undo(people.owner).entry == entry.pk
    entry.refresh_from_db()
    assert (entry.state, entry.item) == ("pending", None)


def test_each_step_is_a_row_of_the_log(entry: ReviewEntry, bank: Bank, people: People, as_user) -> None:
    act("edit", people.owner, entry, new_text="Ann moved.")
    act("delete", people.owner, entry)
    decide.undo(user=people.owner, entry_id=entry.pk)
    act("approve", people.owner, entry)
    client: Client = as_user(people.viewer)
    log = text_of(client.get(f"/log/?bank={bank.pk}"))
    for verb in ("Hold", "Edit before sending", "Reject", "Undo", "Approve"):
        assert f">{verb}</a>" in log, verb
    for write in Write.objects.all():
        assert client.get(f"/log/{write.pk}/").status_code == 200
    card = text_of(client.get(f"/reviews/{entry.pk}/"))
    for words in ("edited", "rejected", "took back: rejected", "approved"):
        assert words in card


def test_the_number_of_queries_does_not_grow(
    bank: Bank, people: People, as_user, django_assert_max_num_queries
) -> None:
    hold(bank)
    put(people.reviewer, bank, *[f"Memory {number}." for number in range(12)])
    client: Client = as_user(people.owner)
    client.get("/reviews/?state=held")
    with django_assert_max_num_queries(23):
        client.get("/reviews/?state=held")
