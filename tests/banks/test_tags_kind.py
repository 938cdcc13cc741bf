"""The tags of a document through the door."""

import pytest
from django.db import transaction

from banks import connections
from banks.models import Bank, Blob, Write
from banks.writes import record, run
from tests.banks.conftest import NOW, LyingTransport, store

pytestmark = pytest.mark.django_db(transaction=True)


def tag(bank: Bank, tags: list[str], was: list[str], document_id: str = "notes/a.md") -> Write:
    with transaction.atomic():
        params = {"tags": tags, "was": was}
        write = record(kind="tags", bank=bank, via=Write.Via.WEB, document_id=document_id, params=params)
    for _ in range(3):
        Write.objects.filter(pk=write.pk, state__in=Write.OPEN).update(not_before=NOW)
        run(write.pk)
    write.refresh_from_db()
    return write


def tags_of(bank: Bank, document_id: str = "notes/a.md") -> list[str]:
    with connections.client_for(bank.server) as client:
        found = client.find_document(bank.bank_id, document_id)
    assert found is not None
    return sorted(found.tags)


def test_tags_are_replaced_and_taken_away_and_facts_have_them_too(bank: Bank, line: LyingTransport) -> None:
    write = tag(bank, ["b", "a"], [])
    assert (write.state, write.outcome["said"], tags_of(bank)) == (Write.State.DONE, "b, a", ["a", "b"])
    with connections.client_for(bank.server) as client:
        facts = client.list_facts(bank.bank_id, document_id="notes/a.md").items
    assert [sorted(fact.tags) for fact in facts] == [["a", "b"]] * 2
    write = tag(bank, [], ["a", "b"])
    assert (write.state, write.outcome["said"], tags_of(bank)) == (Write.State.DONE, "none", [])


def test_what_is_so_already_is_not_called(bank: Bank, line: LyingTransport) -> None:
    tag(bank, ["a"], [])
    assert tag(bank, ["a"], ["other"]).state == Write.State.DONE
    assert line.sent("PATCH") == 1


def test_tags_that_somebody_else_changed_are_left_alone(bank: Bank, line: LyingTransport) -> None:
    tag(bank, ["theirs"], [])
    write = tag(bank, ["mine"], [])
    assert (write.state, write.outcome["tags"], tags_of(bank)) == (Write.State.CHANGED, ["theirs"], ["theirs"])
    assert line.sent("PATCH") == 1


def test_a_lost_answer_is_read_back(bank: Bank, line: LyingTransport) -> None:
    line.cut_after.append("PATCH")
    assert (tag(bank, ["a"], []).state, line.sent("PATCH")) == (Write.State.DONE, 1)


def test_a_document_that_is_gone_gets_none(bank: Bank, line: LyingTransport) -> None:
    write = tag(bank, ["a"], [], "never")
    assert (write.state, line.sent("PATCH")) == (Write.State.CHANGED, 0)
    assert "no longer in the bank" in write.error_text


@pytest.mark.parametrize("document_id", ["notes/chunks", "../climb", "журнал/прибор 7.md"])
def test_every_document_that_is_listed_can_be_tagged(bank: Bank, line: LyingTransport, document_id: str) -> None:
    store(bank, document_id, "Carl keeps the archive.")
    assert tag(bank, ["a"], [], document_id).state == Write.State.DONE
    assert (tags_of(bank, document_id), tags_of(bank)) == (["a"], [])


def test_an_edit_that_was_decided_before_keeps_the_new_tags(bank: Bank, line: LyingTransport) -> None:
    text = Blob.objects.store("Ann keeps the books.")
    with transaction.atomic():
        edit = record(
            kind="edit", bank=bank, via=Write.Via.WEB, document_id="notes/a.md", request=text, params={"tags": ["old"]}
        )
        Write.objects.filter(pk=edit.pk).update(state=Write.State.CANCELLED)
    tag(bank, ["new"], [])
    Write.objects.filter(pk=edit.pk).update(state=Write.State.QUEUED, not_before=NOW)
    for _ in range(3):
        Write.objects.filter(pk=edit.pk, state__in=Write.OPEN).update(not_before=NOW)
        run(edit.pk)
    edit.refresh_from_db()
    assert (edit.state, edit.params["tags"], tags_of(bank)) == (Write.State.DONE, ["new"], ["new"])
