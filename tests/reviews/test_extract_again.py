"""“Extract again” on the card: said what it costs, sent once, and decisions about facts stand again after it."""

from functools import partial

import pytest
from django.utils import timezone

from banks import connections
from banks.fact_kinds import seen_hash
from banks.models import Bank, Reapply, Role, Write
from banks.writes import worker
from reviews.models import FactDecision, Reapplication, ReviewEntry
from reviews.selectors.facts import facts_of
from reviews.services import extraction, facts, load
from tests import factories
from tests.banks.conftest import LyingTransport, line
from tests.conftest import People
from tests.known_failures.world import in_bank, loaded, work_off
from tests.racing import at_once, refusals
from tests.reviews.pages import HTMX, NASTY_IDS, assert_harmless, shown, text_of

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "Ann keeps the ledger. Ben reads it."


@pytest.fixture
def entry(bank: Bank, line: LyingTransport) -> ReviewEntry:
    return loaded(bank, "notes/b.md", TEXT)


def form(entry: ReviewEntry) -> dict[str, object]:
    entry.refresh_from_db()
    return {**shown(entry), "facts": entry.facts_id}


def fact(entry: ReviewEntry, text: str) -> str:
    entry.refresh_from_db()
    return next(each.id for each in facts_of(entry) if each.text == text)


def decided(entry: ReviewEntry, people: People) -> None:
    """One fact retired, the other edited."""
    ann, ben = "Ann keeps the ledger.", "Ben reads it."
    facts.retire(user=people.reviewer, entry_id=entry.pk, seen={fact(entry, ann): seen_hash(ann)}, reason="she left")
    edit = partial(facts.edit, user=people.reviewer, entry_id=entry.pk, new_text="Ben audits it.")
    edit(fact_id=fact(entry, ben), text_hash=seen_hash(ben))
    work_off()
    assert FactDecision.objects.count() == 2


def state_of(entry: ReviewEntry) -> dict[str, bool]:
    entry.refresh_from_db()
    return {each.text: each.retired for each in facts_of(entry)}


def test_the_page_says_what_it_costs_before_anything_is_sent(entry, people, as_user, line) -> None:
    decided(entry, people)
    line.calls.clear()
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/extract/"))
    assert "1 retirement and 1 edit of its facts" in page
    assert "Where the same facts are found again, they are applied again" in page
    assert "Every fact gets a new id" in page
    assert "“she left”" in page
    assert "Ben audits it." in page
    assert line.calls == []
    assert not Write.objects.filter(kind="reprocess").exists()


def test_decisions_stand_again_after_it(entry, people, as_user) -> None:
    decided(entry, people)
    before = {each.id for each in facts_of(ReviewEntry.objects.get(pk=entry.pk))}
    answer = as_user(people.reviewer).post(f"/reviews/{entry.pk}/extract/", form(entry))
    assert (answer.status_code, answer["Location"]) == (303, f"/reviews/{entry.pk}/#facts")
    work_off()
    write = Write.objects.get(kind="reprocess")
    assert (write.state, write.actor, write.outcome["retired_before"]) == (Write.State.DONE, people.reviewer, 1)
    entry.refresh_from_db()
    assert state_of(entry) == {"Ann keeps the ledger.": True, "Ben audits it.": False}
    assert not {each.id for each in facts_of(entry)} & before
    assert (entry.state, in_bank(entry.bank, entry.document_id)) == ("pending", TEXT)


def test_what_a_person_undid_does_not_come_back(entry, people, as_user) -> None:
    decided(entry, people)
    ann = "Ann keeps the ledger."
    facts.restore(user=people.reviewer, entry_id=entry.pk, seen={fact(entry, ann): seen_hash(ann)})
    work_off()
    as_user(people.reviewer).post(f"/reviews/{entry.pk}/extract/", form(entry))
    work_off()
    assert state_of(entry) == {ann: False, "Ben audits it.": False}


def test_a_bank_that_asks_is_asked(entry, people, as_user) -> None:
    Bank.objects.update(reapply=Reapply.ASK)
    decided(entry, people)
    assert "asks a person before" in text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/extract/"))
    as_user(people.reviewer).post(f"/reviews/{entry.pk}/extract/", form(entry))
    work_off()
    assert Reapplication.objects.filter(state="asked").count() == 2
    assert state_of(entry) == {"Ann keeps the ledger.": False, "Ben reads it.": False}


def test_what_was_retired_elsewhere_in_the_last_moment_stands_again_too(entry, people, as_user) -> None:
    with connections.client_for(entry.bank.server) as client:
        client.patch_fact(entry.bank.bank_id, fact(entry, "Ben reads it."), state="invalidated", reason="elsewhere")
    as_user(people.reviewer).post(f"/reviews/{entry.pk}/extract/", form(entry))
    work_off()
    decision = FactDecision.objects.get()
    assert (decision.origin, decision.reason) == ("observed", "elsewhere")
    assert state_of(entry) == {"Ann keeps the ledger.": False, "Ben reads it.": True}


def test_while_it_is_under_way_the_card_says_so_and_single_facts_wait(entry, people, as_user) -> None:
    client = as_user(people.reviewer)
    answer = client.post(f"/reviews/{entry.pk}/extract/", form(entry), headers=HTMX)
    assert "The bank extracts the facts again." in text_of(answer)
    page = text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "The facts are being extracted again." in page
    assert "Retire this fact" not in page
    data = {"fact": fact(entry, "Ben reads it."), "seen": seen_hash("Ben reads it."), "reason": "no"}
    assert client.post(f"/reviews/{entry.pk}/facts/retire/", data).status_code == 409
    assert client.post(f"/reviews/{entry.pk}/extract/", form(entry)).status_code == 409
    assert Write.objects.count() == 1


def test_two_clicks_extract_once(entry, people) -> None:
    values = {"version": entry.version, "text_hash": entry.text_id, "facts_hash": entry.facts_id}
    act = partial(extraction.extract_again, entry_id=entry.pk, **values)
    results = at_once(partial(act, user=people.reviewer), partial(act, user=people.owner))
    assert len(refusals(results)) == 1
    work_off()
    assert len(refusals(at_once(partial(act, user=people.owner)))) == 1  # the facts it was about are others now
    assert Write.objects.filter(kind="reprocess").count() == 1


def test_a_click_on_an_older_state_changes_nothing(entry, people, as_user) -> None:
    old = form(entry)
    ReviewEntry.objects.update(version=entry.version + 1)
    client = as_user(people.reviewer)
    assert client.post(f"/reviews/{entry.pk}/extract/", old).status_code == 409
    assert client.post(f"/reviews/{entry.pk}/extract/", {"facts": entry.facts_id}).status_code == 422
    ReviewEntry.objects.update(load_after=timezone.now())
    assert client.post(f"/reviews/{entry.pk}/extract/", form(entry)).status_code == 409
    assert not Write.objects.exists()


@pytest.mark.parametrize("values", [{"state": "deleted"}, {"state": "deleting"}, {"load_state": "missing"}])
def test_what_is_not_there_cannot_be_extracted(entry, people, as_user, values) -> None:
    ReviewEntry.objects.update(**values)
    client = as_user(people.reviewer)
    assert client.get(f"/reviews/{entry.pk}/extract/").status_code == 409
    assert client.post(f"/reviews/{entry.pk}/extract/", form(entry)).status_code == 409
    assert "Extract again…" not in text_of(client.get(f"/reviews/{entry.pk}/"))
    assert not Write.objects.exists()


def test_an_approval_is_about_the_text_and_stays(entry, people, as_user) -> None:
    ReviewEntry.objects.update(state="approved")
    client = as_user(people.reviewer)
    assert "The approval stays" in text_of(client.get(f"/reviews/{entry.pk}/extract/"))
    client.post(f"/reviews/{entry.pk}/extract/", form(entry))
    work_off()
    entry.refresh_from_db()
    assert (entry.state, entry.reopened_because) == ("approved", "")


def test_what_did_not_work_stands_on_the_card(entry, people, as_user, line) -> None:
    as_user(people.reviewer).post(f"/reviews/{entry.pk}/extract/", form(entry))
    Write.objects.update(state="attention", error_text="The server ended it as failed: <b>no</b>.")
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert "Extracting again did not work." in page
    assert "&lt;b&gt;no&lt;/b&gt;" in page
    assert "Retire this fact" in page


def test_an_old_server_is_warned_of(entry, people, as_user) -> None:
    client = as_user(people.reviewer)
    entry.bank.server.__class__.objects.update(api_version="0.9.2")
    assert "may leave the facts as they are" in text_of(client.get(f"/reviews/{entry.pk}/extract/"))
    entry.bank.server.__class__.objects.update(api_version="1.1.0")
    assert "may leave the facts as they are" not in text_of(client.get(f"/reviews/{entry.pk}/extract/"))


def test_only_who_decides_may(entry, people, as_user) -> None:
    for user, status in ((people.viewer, 403), (people.stranger, 404)):
        client = as_user(user)
        assert client.get(f"/reviews/{entry.pk}/extract/").status_code == status
        assert client.post(f"/reviews/{entry.pk}/extract/", form(entry)).status_code == status
    assert "Extract again…" not in text_of(as_user(people.viewer).get(f"/reviews/{entry.pk}/"))
    elsewhere = factories.make_user()
    factories.grant(elsewhere, factories.make_bank(), Role.ADMIN)
    assert as_user(elsewhere).post(f"/reviews/{entry.pk}/extract/", form(entry)).status_code == 404
    assert not Write.objects.exists()


@pytest.mark.parametrize("document_id", NASTY_IDS[1:])
def test_nasty_ids_stay_out_of_paths_and_markup(bank, line, people, as_user, document_id) -> None:
    entry = factories.make_entry(bank, document_id)
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/extract/"))
    assert_harmless(page)
    assert f'action="/reviews/{entry.pk}/extract/"' in page


def test_a_killed_worker_does_not_extract_twice(entry, people, line) -> None:
    values = {"version": entry.version, "text_hash": entry.text_id, "facts_hash": entry.facts_id}
    write = extraction.extract_again(user=people.reviewer, entry_id=entry.pk, **values)
    line.calls.clear()
    assert worker.run(write.pk) == "accepted"
    Write.objects.update(state="sending", outcome={}, claimed_until=None)  # died before it stored the answer
    work_off()
    write.refresh_from_db()
    assert (write.state, line.sent("POST")) == (Write.State.DONE, 1)
    assert load.load(entry.pk) == "not due"
