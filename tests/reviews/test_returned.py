"""A decision, and what the bank holds afterwards: come back, vanished, written again, without facts."""

from collections.abc import Callable

import pytest
import time_machine
from django.utils import timezone

from banks.models import Bank, Membership, Server, Write
from banks.writes import run
from reviews.errors import Conflict, TooLate
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, load, vanished
from tests import factories
from tests.banks.conftest import NOW, LyingTransport, later, line, store
from tests.conftest import People

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)
Reopened, Load, State = ReviewEntry.Reopened, ReviewEntry.Load, ReviewEntry.State


@pytest.fixture
def entry(bank: Bank, line: LyingTransport) -> ReviewEntry:
    with time_machine.travel(NOW, tick=False):
        made = factories.make_entry(bank, "notes/a.md", load_state=Load.LOADING, load_after=NOW)
        ReviewEntry.objects.filter(pk=made.pk).update(text=None)
        assert load.load(made.pk) == "loaded"
    made.refresh_from_db()
    return made


def shown(entry: ReviewEntry) -> dict[str, object]:
    entry.refresh_from_db()
    return {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}


def look_again(entry: ReviewEntry) -> str:
    ReviewEntry.objects.filter(pk=entry.pk).update(load_after=timezone.now(), load_claimed_until=None)
    word = load.load(entry.pk)
    entry.refresh_from_db()
    return word


def delete(entry: ReviewEntry, people: People) -> Write:
    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    Write.objects.filter(pk=write.pk).update(not_before=NOW)
    assert run(write.pk) == "done"
    entry.refresh_from_db()
    return write


def test_what_was_deleted_is_looked_for_once_more(bank: Bank, entry: ReviewEntry, people: People) -> None:
    delete(entry, people)
    assert entry.state == State.DELETED
    assert entry.load_after is not None
    assert look_again(entry) == "still deleted"
    assert (entry.state, entry.load_after) == (State.DELETED, None)


def test_what_comes_back_waits_for_a_person_and_never_for_time(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    write = delete(entry, people)
    store(bank, "notes/a.md", "Ann keeps the ledger. Ben reads it.")
    assert look_again(entry) == "loaded"
    assert (entry.state, entry.reopened_because, entry.expires_at) == (State.PENDING, Reopened.CAME_BACK, None)
    row = Write.objects.get(kind="reopen")
    assert (row.via, row.undo_of, row.actor) == (Write.Via.OBSERVED, write, None)
    decision = entry.decisions.first()
    assert decision is not None
    assert (decision.verdict, decision.decided_via, decision.write) == ("reopened", "housekeeping", row)
    assert look_again(entry) == "loaded"  # looked at twice, reopened once
    assert Write.objects.filter(kind="reopen").count() == 1
    decide.approve(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    entry.refresh_from_db()
    assert entry.reopened_because == ""


def test_as_long_as_the_bank_works_the_look_is_not_the_last(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete(entry, people)
    from banks.hindsight import HindsightClient

    stats = HindsightClient.stats

    def busy(self: HindsightClient, bank_id: str) -> object:
        from dataclasses import replace

        return replace(stats(self, bank_id), pending_operations=1)

    monkeypatch.setattr(HindsightClient, "stats", busy)
    assert look_again(entry) == "the bank is working"
    assert entry.load_after is not None


def test_an_approved_memory_that_is_written_again_opens_with_both_texts(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    before = entry.text_id
    decide.approve(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    store(bank, "notes/a.md", "Ann keeps no ledger any more.")
    look_again(entry)
    assert (entry.state, entry.reopened_because) == (State.PENDING, Reopened.CHANGED)
    approved = entry.decisions.get(verdict=Decision.Verdict.APPROVED)
    assert approved.text_hash == before != entry.text_id


def test_a_bank_may_say_that_what_changes_stays_decided(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    Bank.objects.filter(pk=bank.pk).update(reopen_on_change=False)
    decide.approve(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    store(bank, "notes/a.md", "Ann keeps no ledger any more.")
    look_again(entry)
    assert (entry.state, entry.reopened_because) == (State.APPROVED, "")


@pytest.fixture
def vanish(bank: Bank, entry: ReviewEntry, line: LyingTransport) -> Callable[[], None]:
    def now() -> None:
        from banks import connections

        with connections.client_for(bank.server) as client:
            client.delete_document(bank.bank_id, "notes/a.md")
        for attempt in range(load.LOOKS_BEFORE_MISSING):
            look_again(entry)
            assert (entry.load_state == Load.MISSING) == (attempt == load.LOOKS_BEFORE_MISSING - 1)

    return now


def test_what_vanished_keeps_its_text_and_can_be_put_back(
    bank: Bank, entry: ReviewEntry, people: People, vanish: Callable[[], None], line: LyingTransport
) -> None:
    vanish()
    assert entry.text is not None
    write = vanished.put_back_vanished(user=people.reviewer, entry_id=entry.pk, version=entry.version)
    assert run(write.pk) in ("accepted", "done")
    Write.objects.filter(pk=write.pk).update(not_before=NOW)
    run(write.pk)
    write.refresh_from_db()
    assert write.state == Write.State.DONE
    assert look_again(entry) == "loaded"
    assert entry.load_state == Load.LOADED


def test_what_vanished_can_be_closed_by_a_person_and_opened_again(
    entry: ReviewEntry, people: People, vanish: Callable[[], None]
) -> None:
    vanish()
    decision = vanished.close(user=people.reviewer, entry_id=entry.pk, version=entry.version)
    entry.refresh_from_db()
    assert (entry.state, decision.verdict, decision.decided_via) == (State.DELETED, "gone", "person")
    assert decision.write is not None
    assert decision.write.kind == "gone"
    decide.undo(user=people.reviewer, entry_id=entry.pk)
    entry.refresh_from_db()
    assert entry.state == State.PENDING


def test_what_the_bank_has_is_not_closed_as_gone(entry: ReviewEntry, people: People) -> None:
    with pytest.raises(TooLate, match="has this document"):
        vanished.close(user=people.reviewer, entry_id=entry.pk, version=entry.version)
    with pytest.raises(Conflict):
        vanished.close(user=people.reviewer, entry_id=entry.pk, version=entry.version - 1)


def test_a_bank_that_is_gone_says_so_and_is_not_made_again(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    from banks import connections

    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    look_again(entry)
    assert (entry.load_state, entry.load_error) == (Load.MISSING, "There is no such bank on this server.")
    bank.refresh_from_db()
    assert bank.gone_since is not None
    write = vanished.put_back_vanished(user=people.reviewer, entry_id=entry.pk, version=entry.version)
    assert run(write.pk) == "attention"
    write.refresh_from_db()
    assert "no longer on its server" in write.error_text
    with connections.client_for(bank.server) as client:
        assert not client.has_bank(bank.bank_id)


def test_a_key_that_is_refused_lets_writes_wait_until_it_is_taken(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    from banks.hindsight import HindsightClient, Refused
    from banks.services.probe import probe

    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    Write.objects.filter(pk=write.pk).update(not_before=NOW)
    with monkeypatch.context() as patch:

        def refuse(*args: object, **kwargs: object) -> None:
            raise Refused("Invalid key", method="GET", path="/v1", status=401)

        patch.setattr(HindsightClient, "get_document", refuse)
        assert run(write.pk) == "retrying"
    server = Server.objects.get(pk=bank.server_id)
    assert server.health == Server.Health.REFUSED
    Write.objects.filter(pk=write.pk).update(not_before=NOW)
    assert run(write.pk) == "server closed"  # nobody knocks again with the same key
    assert line.sent("DELETE") == 0
    probe(server)
    Write.objects.filter(pk=write.pk).update(not_before=NOW)
    assert run(write.pk) == "done"


def test_an_edit_without_facts_can_be_taken_back_by_another_edit(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    before = entry.text
    assert before is not None
    write = decide.edit(user=people.reviewer, new_text="[[NOFACTS]] Nothing to see.", **shown(entry))  # type: ignore[arg-type]
    assert write is not None
    finish(write)
    look_again(entry)
    assert (entry.fact_count, entry.text_by) == (0, people.reviewer)
    back = vanished.revert_edit(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    finish(back)
    look_again(entry)
    assert entry.text == before
    ReviewEntry.objects.filter(pk=entry.pk).update(text=factories.make_entry(bank, "other", text="Other.").text)
    with pytest.raises(TooLate):
        vanished.revert_edit(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]


def finish(write: Write) -> None:
    for _ in range(3):
        Write.objects.filter(pk=write.pk).update(not_before=NOW)
        run(write.pk)
    write.refresh_from_db()
    assert write.state == Write.State.DONE, write.error_text


def test_a_session_that_is_replaced_again_and_again_is_live(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    assert entry.live_until is None
    with time_machine.travel(timezone.now() + later(3600), tick=False):
        store(bank, "notes/a.md", "Ann keeps the ledger. Ben reads it. Cara too.")
        look_again(entry)
        assert entry.live_until is not None
        assert entry.live_until > timezone.now()


def test_members_of_other_banks_close_nothing(entry: ReviewEntry, people: People, vanish: Callable[[], None]) -> None:
    vanish()
    from django.core.exceptions import PermissionDenied
    from django.http import Http404

    assert Membership.objects.count() == 3
    with pytest.raises(Http404):
        vanished.close(user=people.stranger, entry_id=entry.pk, version=entry.version)
    with pytest.raises(PermissionDenied):
        vanished.close(user=people.viewer, entry_id=entry.pk, version=entry.version)
