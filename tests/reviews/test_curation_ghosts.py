"""A document of which some chunks change: its server keeps the retired facts of those, and states them anew."""

import pytest

from banks import connections, jobs
from banks.demo import text as demo_text
from banks.hindsight import Fact
from banks.models import Bank, Write
from reviews.curation import elsewhere, reapply
from reviews.models import FactDecision, Reapplication, ReviewEntry
from reviews.services import facts
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.known_failures.world import loaded
from tests.reviews.curating import drain, look, no_pause, retire
from tests.reviews.pages import text_of

__all__ = ["line", "no_pause"]

pytestmark = pytest.mark.django_db(transaction=True)
BEN = "Ben reads it."
FIRST, SECOND = f"Ann keeps the ledger. {BEN}", "Cara pays for it. Dan came."
TEXT = f"{FIRST}\n\n{SECOND}"


@pytest.fixture
def entry(bank: Bank, line: LyingTransport, monkeypatch: pytest.MonkeyPatch) -> ReviewEntry:
    monkeypatch.setattr(demo_text, "CHUNK", 60)
    return loaded(bank, "notes/a.md", TEXT)


def listed(bank: Bank, state: str, text: str = BEN) -> list[Fact]:
    with connections.client_for(bank.server) as client:
        found = client.list_facts(bank.bank_id, document_id="notes/a.md", state=state).items
    return [fact for fact in found if fact.text == text]


def changed(entry: ReviewEntry, first: str = FIRST, second: str = SECOND, **params: object) -> None:
    store(entry.bank, "notes/a.md", f"{first}\n\n{second}", **params)
    look(entry)


def test_the_sentence_is_retired_again_and_the_ghost_is_nobodys(
    bank: Bank, entry: ReviewEntry, people: People, as_user
) -> None:
    retire(entry, people, BEN)
    (ghost,) = listed(bank, "invalidated")
    changed(entry, FIRST + " It rained.")
    (again,) = listed(bank, "valid")
    assert ghost.id in [fact.id for fact in listed(bank, "invalidated")]  # what the server does
    drain(entry)
    assert listed(bank, "valid") == []
    decision = FactDecision.objects.get()
    assert (decision.fact_id, decision.shelf, decision.user) == (again.id, "again", people.reviewer)
    look(entry)
    assert Write.objects.filter(via=Write.Via.REAPPLY).count() == 1
    assert FactDecision.objects.count() == 1
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert (again.id in page, ghost.id in page) == (True, False)


def test_a_restore_brings_it_back_once(bank: Bank, entry: ReviewEntry, people: People) -> None:
    row = retire(entry, people, BEN)
    changed(entry, FIRST + " It rained.")
    drain(entry)
    facts.restore_row(user=people.owner, write_id=row.pk)
    drain(entry)
    assert len(listed(bank, "valid")) == 1
    look(entry)
    drain(entry)
    assert len(listed(bank, "valid")) == 1  # the ghost is no retirement of somebody else
    assert FactDecision.objects.get().shelf == "restored"


def test_what_is_let_go_stays_so_beside_its_ghost(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    Bank.objects.update(reapply="ask")
    changed(entry, FIRST + " It rained.")
    reapply.answer(user=people.owner, reapplication_id=Reapplication.objects.get().pk, apply=False)
    Bank.objects.update(reapply="auto")
    look(entry)
    changed(entry, FIRST + " It snowed.")
    drain(entry)
    assert len(listed(bank, "valid")) == 1
    assert FactDecision.objects.get().shelf == "restored"


@pytest.mark.parametrize("tags", [[], ["other"]])
def test_a_chunk_that_did_not_change_is_left_alone(
    bank: Bank, entry: ReviewEntry, people: People, tags: list[str]
) -> None:
    """Also where it says the sentence twice, of which one is retired, and all its facts were tagged anew."""
    changed(entry, f"{BEN} Ann waits. {BEN}")
    drain(entry)
    retire(entry, people, BEN)
    look(entry)
    changed(entry, f"{BEN} Ann waits. {BEN}", SECOND + " It rained.", tags=tags)
    drain(entry)
    assert (len(listed(bank, "valid")), len(listed(bank, "invalidated"))) == (1, 1)
    assert FactDecision.objects.get().shelf == "retired"


def test_what_was_retired_elsewhere_and_became_a_ghost_before_we_looked(bank: Bank, entry: ReviewEntry) -> None:
    with connections.client_for(bank.server) as client:
        client.patch_fact(bank.bank_id, listed(bank, "valid")[0].id, state="invalidated", reason="he left")
    changed(entry, FIRST + " It rained.")
    drain(entry)
    assert listed(bank, "valid") == []
    decision = FactDecision.objects.get()
    assert (decision.origin, decision.reason, decision.shelf) == ("observed", "he left", "again")


def test_where_nothing_tells_a_person_is_asked(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    FactDecision.objects.update(beside=None)  # as of old
    changed(entry, FIRST + " It rained.", timestamp="2020-01-01T00:00:00+00:00")
    assert [pair.why for pair in Reapplication.objects.all()] == [reapply.ONCE_MORE]
    assert FactDecision.objects.get().shelf == "retired"


def test_a_fact_that_is_alone_in_its_chunk(bank: Bank, entry: ReviewEntry, people: People) -> None:
    changed(entry, FIRST, "Cara pays for it.")
    retire(entry, people, "Cara pays for it.")
    changed(entry, FIRST, "Cara pays for it. It rained.")
    drain(entry)
    assert listed(bank, "valid", "Cara pays for it.") == []
    assert FactDecision.objects.get().shelf == "again"


def test_neighbours_that_are_all_retired_later_make_no_ghost(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    retire(entry, people, "Ann keeps the ledger.")
    look(entry)
    facts.restore_row(user=people.owner, write_id=Write.objects.order_by("-pk")[0].pk)
    drain(entry)
    assert sorted(FactDecision.objects.values_list("shelf", flat=True)) == ["restored", "retired"]


def test_ghosts_are_no_news(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    changed(entry, FIRST + " It rained.")
    drain(entry)
    job = elsewhere.start(bank)
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    assert job.result["documents"] == 0
