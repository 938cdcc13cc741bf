"""The door with a server that lies: what was decided happens once, or says why not."""

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.utils import timezone

from banks import connections, writes
from banks.hindsight import NotFound
from banks.models import Bank, Write
from banks.writes import worker
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, load
from tests import factories
from tests.banks.conftest import LyingTransport, later, store
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
DOCUMENT = "notes/a.md"
State = Write.State


@pytest.fixture
def entry(bank: Bank, line: LyingTransport) -> ReviewEntry:
    entry = factories.make_entry(
        bank, DOCUMENT, load_state=ReviewEntry.Load.LOADING, load_after=timezone.now(), text=""
    )
    assert load.load(entry.pk) == "loaded"
    entry.refresh_from_db()
    line.calls.clear()
    return entry


def shown(entry: ReviewEntry) -> dict[str, object]:
    entry.refresh_from_db()
    return {"entry_id": entry.pk, "version": entry.version, "text_hash": entry.text_id}


def run_until_quiet(write: Write, *, minutes: int = 30) -> Write:
    """Runs the row whenever it is due, as sweep and worker do, with the clock moved on between."""
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for _ in range(40):
            write.refresh_from_db()
            if write.state not in Write.OPEN:
                break
            clock.move_to(max(write.not_before, timezone.now()) + later(1))
            worker.run(write.pk)
    write.refresh_from_db()
    return write


def load_when_due(entry: ReviewEntry) -> str:
    """What the loading sweep does once the entry asks for it; `run_until_quiet` has moved that into the future."""
    entry.refresh_from_db()
    assert entry.load_after is not None
    with time_machine.travel(entry.load_after + later(1), tick=False):
        word = load.load(entry.pk)
    entry.refresh_from_db()
    return word


def in_bank(bank: Bank, document_id: str = DOCUMENT) -> str | None:
    with connections.client_for(bank.server) as client:
        try:
            return client.get_document(bank.bank_id, document_id).text
        except NotFound:
            return None


def test_a_delete_waits_for_its_undo_window_and_then_happens_once(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    assert worker.run(write.pk) == "not due"
    assert line.sent("DELETE") == 0
    write = run_until_quiet(write)
    assert (write.state, line.sent("DELETE")) == (State.DONE, 1)
    assert write.outcome["units_deleted"] == 2
    entry.refresh_from_db()
    assert entry.state == ReviewEntry.State.DELETED
    assert in_bank(entry.bank) is None
    assert worker.run(write.pk) == "ended"


def test_a_delete_can_be_undone_before_it_is_sent(entry: ReviewEntry, people: People, line: LyingTransport) -> None:
    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    decide.undo(user=people.reviewer, entry_id=entry.pk)
    assert run_until_quiet(write).state == State.CANCELLED
    entry.refresh_from_db()
    assert entry.state == ReviewEntry.State.PENDING
    assert line.sent("DELETE") == 0
    assert list(entry.decisions.values_list("verdict", flat=True)) == ["reopened", "deleted"]


def test_an_answer_that_is_lost_is_unknown_and_read_back_not_repeated(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    line.cut_after.append("DELETE")
    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    with time_machine.travel(write.not_before + later(1), tick=False):
        assert worker.run(write.pk) == "unknown"
    write = run_until_quiet(write)
    assert (write.state, line.sent("DELETE")) == (State.DONE, 1)
    assert write.outcome["confirmed_by"] == "list"


def test_an_unreachable_server_is_never_recorded_as_deleted(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    line.cut_before += ["GET"] * 1000
    write = run_until_quiet(decide.delete(user=people.reviewer, **shown(entry)))  # type: ignore[arg-type]
    entry.refresh_from_db()
    assert write.state == State.ATTENTION
    assert entry.state == ReviewEntry.State.PENDING
    assert "Unreachable" in write.error_text
    line.cut_before.clear()
    assert in_bank(entry.bank) is not None


def test_a_document_replaced_between_click_and_send_is_not_deleted(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    store(entry.bank, DOCUMENT, "Carl keeps the ledger now.")
    write = run_until_quiet(write)
    assert (write.state, line.sent("DELETE")) == (State.CHANGED, 0)
    entry.refresh_from_db()
    assert entry.state == ReviewEntry.State.PENDING
    assert load_when_due(entry) == "loaded"
    assert entry.text is not None
    assert entry.text.text == "Carl keeps the ledger now."


def test_a_document_that_is_gone_already_counts_only_when_the_list_confirms_it(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    with connections.client_for(entry.bank.server) as client:
        client.delete_document(entry.bank.bank_id, DOCUMENT)
    assert run_until_quiet(write).outcome == {"already_gone": True}


def test_a_bank_that_is_gone_is_not_a_deleted_document(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    with connections.client_for(entry.bank.server) as client:
        client.delete_bank(entry.bank.bank_id)
    assert run_until_quiet(write).state == State.ATTENTION
    entry.refresh_from_db()
    assert entry.state == ReviewEntry.State.PENDING


def test_a_worker_killed_in_mid_delete_loses_and_repeats_nothing(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    class Killed(BaseException):
        pass

    def die() -> None:
        raise Killed

    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    line.before_call["DELETE"] = die
    with time_machine.travel(write.not_before + later(1), tick=False), pytest.raises(Killed):
        worker.run(write.pk)
    write.refresh_from_db()
    assert write.state == State.SENDING
    assert write.claimed_until is not None
    with time_machine.travel(write.claimed_until - later(1), tick=False):
        assert worker.run(write.pk) == "not due"  # perhaps it still lives
    with time_machine.travel(write.claimed_until + later(1), tick=False):
        assert worker.run(write.pk) == "retrying"  # read back: the document is still there
    assert run_until_quiet(write).state == State.DONE
    assert line.sent("DELETE") == 1


def test_an_edit_keeps_the_retain_parameters_and_stays_pending(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    store(
        bank, "b", "Old text.", tags=["team:core"], context="notes", metadata={"session": "s1"}, timestamp="2026-02-01"
    )
    entry = factories.make_entry(bank, "b", load_state=ReviewEntry.Load.LOADING, load_after=timezone.now(), text="")
    load.load(entry.pk)
    write = decide.edit(user=people.reviewer, new_text="New text.", **shown(entry))  # type: ignore[arg-type]
    assert write is not None
    assert run_until_quiet(write).state == State.DONE
    assert load_when_due(entry) == "loaded"
    assert (entry.state, entry.text.text) == ("pending", "New text.")  # type: ignore[union-attr]
    with connections.client_for(bank.server) as client:
        document = client.get_document(bank.bank_id, "b")
    assert (document.tags, document.metadata, document.retain_params["context"]) == (
        ["team:core"],
        {"session": "s1"},
        "notes",
    )
    assert document.retain_params["event_date"].startswith("2026-02-01")


def test_an_edit_whose_answer_was_lost_is_not_extracted_twice(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    line.cut_after.append("POST")
    write = decide.edit(user=people.reviewer, new_text="Once only.", **shown(entry))  # type: ignore[arg-type]
    assert write is not None
    assert run_until_quiet(write).state == State.DONE
    assert line.sent("POST") == 1
    assert in_bank(entry.bank) == "Once only."


def test_an_edit_that_the_server_fails_to_extract_leaves_the_old_text(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    write = decide.edit(user=people.reviewer, new_text="Broken [[FAIL]] text.", **shown(entry))  # type: ignore[arg-type]
    assert write is not None
    write = run_until_quiet(write)
    assert write.state == State.ATTENTION
    assert "your text is in this row" in write.error_text
    assert in_bank(entry.bank) == "Ann keeps the ledger. Ben reads it."


def test_unchanged_text_is_no_call(entry: ReviewEntry, people: People, line: LyingTransport) -> None:
    same = "Ann keeps the ledger. Ben reads it."
    assert decide.edit(user=people.reviewer, new_text=same, **shown(entry)) is None  # type: ignore[arg-type]
    assert not Write.objects.exists()
    assert line.calls == []


def test_a_deleted_document_is_put_back_from_our_text(entry: ReviewEntry, people: People, line: LyingTransport) -> None:
    deletion = run_until_quiet(decide.delete(user=people.reviewer, **shown(entry)))  # type: ignore[arg-type]
    back = decide.put_back(user=people.reviewer, write_id=deletion.pk)
    assert run_until_quiet(back).state == State.DONE
    assert in_bank(entry.bank) == "Ann keeps the ledger. Ben reads it."
    assert load_when_due(entry) == "loaded"
    assert (entry.state, entry.load_state) == ("pending", "loaded")


def test_one_write_in_flight_per_slot_is_the_databases_law(entry: ReviewEntry, people: People) -> None:
    first = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    Write.objects.filter(pk=first.pk).update(state=State.SENDING)
    with transaction.atomic():
        second = writes.record(kind="delete", bank=entry.bank, via=Write.Via.WEB, document_id=DOCUMENT)
    assert worker.run(second.pk) == "not due"  # an earlier write of the slot is open
    with pytest.raises(IntegrityError):
        Write.objects.filter(pk=second.pk).update(state=State.SENDING)


def test_a_rolled_back_decision_leaves_no_row(entry: ReviewEntry, people: People) -> None:
    with transaction.atomic():
        decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
        transaction.set_rollback(True)
    entry.refresh_from_db()
    assert entry.state == ReviewEntry.State.PENDING
    assert not Write.objects.exists()
    assert not Decision.objects.exists()


def test_paused_writes_wait(entry: ReviewEntry, people: People, line: LyingTransport) -> None:
    write = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
    entry.bank.server.writes_paused = True
    entry.bank.server.save()
    with time_machine.travel(write.not_before + later(1), tick=False):
        assert worker.run(write.pk) == "server closed"
    write.refresh_from_db()
    assert (write.state, line.calls) == (State.QUEUED, [])


def test_a_refused_write_is_retried_or_discarded_by_a_person(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    line.cut_before += ["GET"] * 1000
    write = run_until_quiet(decide.delete(user=people.reviewer, **shown(entry)))  # type: ignore[arg-type]
    line.cut_before.clear()
    assert writes.retry(write=write, actor=people.reviewer)
    entry.refresh_from_db()
    assert entry.state == ReviewEntry.State.DELETING
    assert run_until_quiet(write).state == State.DONE
    assert not writes.discard(write=write, actor=people.reviewer)
