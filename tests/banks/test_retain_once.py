"""Nothing of a batch is lost, sent twice or written over."""

import uuid

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from banks import connections, writes
from banks.models import Bank, Blob, RetainItem, Write
from banks.retain import flush
from banks.writes import worker
from tests import factories
from tests.banks.conftest import LyingTransport, later, store
from tests.banks.retaining import Keeping, flush_now, gives_up, in_bank, put, sent, states, text_of, work_off
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


def test_what_arrived_after_somebody_gave_up_is_not_sent_again(bank: Bank, people: People, wire: Keeping) -> None:
    ann, _ = put(people.reviewer, bank, "Ann came.", "Ben came.")
    write = gives_up(bank)
    store(bank, ann.document_id, "Ann came.")
    wire.posts.clear()
    assert writes.retry(write=write, actor=people.owner)
    work_off(bank)
    assert (wire.texts, states(bank)) == ([["Ben came."]], ["done"] * 2)
    assert sent(bank)[-1].outcome["memories"] == 2


def test_what_was_appended_after_somebody_gave_up_is_not_appended_again(
    bank: Bank, people: People, wire: Keeping, line: LyingTransport
) -> None:
    more = {"content": "Carl came.", "document_id": "notes/a.md", "update_mode": "append"}
    put(people.reviewer, bank, more)
    flush_now(bank)
    (write,) = sent(bank)
    line.cut_after.append("POST")
    worker.run(write.pk)
    RetainItem.objects.update(state="attention")
    Write.objects.filter(pk=write.pk).update(state=State.ATTENTION, operation_id=uuid.uuid4())  # the server forgot it
    write.refresh_from_db()
    assert writes.retry(write=write, actor=people.owner)
    work_off(bank)
    assert (len(wire.posts), states(bank)) == (1, ["done"])
    assert text_of(bank, "notes/a.md") == "Ann keeps the ledger. Ben reads it.\nCarl came."


def test_the_same_text_with_other_tags_is_not_taken_for_stored(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    store(bank, "d", "Ann came.", tags=["old"])
    with time_machine.travel(timezone.now() + later(3600), tick=False):
        put(people.reviewer, bank, {"content": "Ann came.", "document_id": "d", "tags": ["new"]})
        flush_now(bank)
        (write,) = sent(bank)
        Write.objects.update(state=State.UNKNOWN, sent=timezone.now(), attempts=1)  # it never arrived, and nobody knows
        assert worker.run(write.pk) == "retrying"
        work_off(bank)
    assert (states(bank), in_bank(bank)["d"].tags) == (["done"], ["new"])


@pytest.mark.parametrize("kind", ["edit", "put-back"])
def test_an_edit_is_never_written_over_by_an_older_memory(
    bank: Bank, people: People, line: LyingTransport, kind: str
) -> None:
    put(people.reviewer, bank, {"content": "Version 1.", "document_id": "notes/a.md"})
    write = gives_up(bank)
    with transaction.atomic():
        text = Blob.objects.store("Version 2.")
        writes.record(kind=kind, bank=bank, via=Write.Via.WEB, document_id="notes/a.md", request=text)
    assert not writes.retry(write=write, actor=people.owner)
    write.refresh_from_db()
    assert (write.state, states(bank)) == (State.ATTENTION, ["attention"])


def test_a_bank_that_closes_while_a_batch_waits_keeps_all_of_it(bank: Bank, people: People, wire: Keeping) -> None:
    put(people.reviewer, bank, "Ann came.")
    flush_now(bank)
    put(people.reviewer, bank, "Ben came.")
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
        work_off(bank, rounds=5)
        assert (states(bank), wire.posts, client.has_bank(bank.bank_id)) == (["attention", "queued"], [], False)
        client.put_bank(bank.bank_id)
    Bank.objects.update(gone_since=None)
    assert writes.retry(write=sent(bank)[0], actor=people.owner)
    work_off(bank)
    assert sorted(wire.texts) == [["Ann came."], ["Ben came."]]
    assert states(bank) == ["done"] * 2


def test_of_an_erased_text_only_itself_is_lost(bank: Bank, people: People, wire: Keeping) -> None:
    _, erased, _ = put(people.reviewer, bank, "Ann came.", "Ben came.", "Carl came.")
    flush_now(bank)
    Blob.objects.filter(pk=erased.content_id).update(data=b"", erased=timezone.now())
    work_off(bank)
    assert (wire.texts, states(bank)) == ([["Ann came."], ["Carl came."]], ["done", "attention", "done"])


def test_operations_that_wait_for_a_document_hold_up_nobody_else(
    bank: Bank, people: People, wire: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush, "MOST_ITEMS", 3)
    with transaction.atomic():
        writes.record(
            kind="delete", bank=bank, via=Write.Via.WEB, document_id="notes/a.md", not_before=timezone.now() + later(9)
        )
    for number in range(2):
        document = {"content": f"Last of {number}.", "document_id": "notes/a.md"}
        put(people.reviewer, bank, f"a {number}", f"b {number}", document, operation_id=uuid.uuid4())
    put(people.reviewer, bank, "Ann came.")
    assert flush_now(bank) == "1 in 1"
    work_off(bank)
    assert wire.texts[0] == ["Ann came."]
    assert [len(texts) for texts in wire.texts] == [1, 3, 3]


def test_closed_servers_and_banks_take_nobodys_turn(
    bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    monkeypatch.setattr(flush, "nudge", lambda bank_id, delay=0.0: told.append(bank_id) or True)
    gone = factories.make_bank(server=bank.server)
    paused = factories.make_bank(server=factories.make_server())
    for each in (gone, paused, bank):
        put(people.operator, each, "Ann came.")
    gone.gone_since = timezone.now()
    gone.save()
    paused.server.writes_paused = True
    paused.server.save()
    told.clear()
    with time_machine.travel(timezone.now() + later(60), tick=False):
        assert (flush.sweep(limit=1), told) == (1, [bank.pk])
