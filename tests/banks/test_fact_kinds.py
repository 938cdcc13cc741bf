"""Retire, restore and edit single facts through the door: read before, read after, say what came of each."""

from uuid import uuid4

import pytest
from django.db import transaction

from banks import connections, fact_kinds
from banks.hindsight import Fact, HindsightClient, RetainItem
from banks.models import Bank, Blob, Write
from banks.writes import record, run
from tests.banks.conftest import NOW, LyingTransport, store

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_kinds, "AWAY_PAUSE", 0.0)


@pytest.fixture
def facts(bank: Bank, line: LyingTransport) -> list[Fact]:
    found = sorted(facts_of(bank), key=lambda fact: fact.text)
    assert [fact.text for fact in found] == ["Ann keeps the ledger.", "Ben reads it."]
    line.calls.clear()
    return found


def facts_of(bank: Bank, state: str = "valid") -> list[Fact]:
    with connections.client_for(bank.server) as client:
        return client.list_facts(bank.bank_id, document_id="notes/a.md", state=state).items


def act(kind: str, bank: Bank, facts: list[Fact], **more: object) -> Write:
    more.setdefault("params", {"seen": {fact.id: fact_kinds.seen_hash(fact.text) for fact in facts}})
    with transaction.atomic():
        write = record(
            kind=kind,
            bank=bank,
            via=Write.Via.WEB,
            document_id="notes/a.md",
            fact_ids=[fact.id for fact in facts],
            **more,
        )  # type: ignore[arg-type]
    for _ in range(3):
        Write.objects.filter(pk=write.pk).update(not_before=NOW)
        run(write.pk)
    write.refresh_from_db()
    return write


def test_facts_are_retired_with_their_reason_and_restored(bank: Bank, facts: list[Fact]) -> None:
    write = act("retire", bank, facts, params={"reason": "left the company"})
    assert (write.state, write.outcome["retired"]) == (Write.State.DONE, [fact.id for fact in facts])
    assert {fact.invalidation_reason for fact in facts_of(bank, "invalidated")} == {"left the company"}
    write = act("restore", bank, facts)
    assert (write.state, write.outcome["restored"]) == (Write.State.DONE, [fact.id for fact in facts])
    assert len(facts_of(bank)) == 2


def test_what_is_in_the_state_already_is_not_called(bank: Bank, facts: list[Fact], line: LyingTransport) -> None:
    act("retire", bank, facts[:1])
    line.calls.clear()
    write = act("retire", bank, facts)
    assert write.outcome["retired"] == [facts[1].id]
    assert write.outcome["not_called"] == [facts[0].id]
    assert line.sent("PATCH") == 1
    assert act("retire", bank, facts).outcome == {
        "retired": [], "not_called": [fact.id for fact in facts], "refused": {}
    }  # fmt: skip
    assert line.sent("PATCH") == 1


def test_a_lost_answer_is_read_back_and_nothing_is_called_twice(
    bank: Bank, facts: list[Fact], line: LyingTransport
) -> None:
    line.cut_after.append("PATCH")
    write = act("retire", bank, facts[:1])
    assert (write.state, line.sent("PATCH")) == (Write.State.DONE, 1)
    assert write.outcome["retired"] == [facts[0].id]


def test_what_an_interrupted_try_did_is_told_as_done_by_the_row(
    bank: Bank, facts: list[Fact], line: LyingTransport
) -> None:
    """Else restoring the row would leave it behind."""
    with connections.client_for(bank.server) as client:
        client.retain(
            bank.bank_id, [RetainItem("Ann reads. Ben writes. Cara sings.", "notes/a.md")], operation_id=uuid4()
        )
        client.get_operation(bank.bank_id, str(NOWHERE))
    first, second, third = facts_of(bank)
    act("retire", bank, [first])
    line.calls.clear()

    def cut_the_next() -> None:
        line.cut_before.append("PATCH")

    line.before_call["PATCH"] = cut_the_next  # the second fact is retired, the third call never arrives
    write = act("retire", bank, [first, second, third])
    assert (write.state, line.sent("PATCH")) == (Write.State.DONE, 2)
    assert (write.outcome["retired"], write.outcome["not_called"]) == ([second.id, third.id], [first.id])


def test_the_first_refusal_stops_and_says_how_far_it_came(bank: Bank, facts: list[Fact], line: LyingTransport) -> None:
    act("retire", bank, facts)
    gone = next(iter(facts_of(bank, "invalidated")))
    missing = Fact(**{**{name: getattr(gone, name) for name in Fact.__dataclass_fields__}, "id": str(NOWHERE)})
    write = act("restore", bank, [facts[0], missing, facts[1]])
    assert write.state == Write.State.ATTENTION
    assert write.outcome["restored"] == [facts[0].id]
    assert write.outcome["refused"] == {str(NOWHERE): fact_kinds.GONE}
    assert "Restored 1 of 3. It is no longer in the bank." in write.error_text
    assert [fact.id for fact in facts_of(bank, "invalidated")] == [facts[1].id]  # not tried


def test_a_fact_that_is_away_for_a_moment_is_asked_for_again(
    bank: Bank, facts: list[Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    act("retire", bank, facts[:1])
    from banks.hindsight import NotFound

    real, away = HindsightClient.get_fact, [1]

    def sometimes(self: HindsightClient, bank_id: str, fact_id: str) -> Fact:
        if away:
            away.pop()
            raise NotFound("Memory unit not found", what="fact", method="GET", path="/x")
        return real(self, bank_id, fact_id)

    monkeypatch.setattr(HindsightClient, "get_fact", sometimes)
    assert act("restore", bank, facts[:1]).outcome["restored"] == [facts[0].id]


def test_an_observation_is_never_called(bank: Bank, facts: list[Fact], line: LyingTransport) -> None:
    store(bank, "notes/b.md", "Ann keeps the keys. Ann left the office.")
    line.server.settle()
    with connections.client_for(bank.server) as client:
        seen = client.list_facts(bank.bank_id).items
    observations = [fact for fact in seen if fact.is_observation]
    assert observations
    line.calls.clear()
    for kind in ("retire", "edit-fact"):
        write = act(kind, bank, observations[:1], request=Blob.objects.store("Another."))
        assert (write.state, line.sent("PATCH")) == (Write.State.ATTENTION, 0)
        assert "observation" in write.error_text


def test_a_fact_that_says_something_else_than_on_screen_is_left_alone(
    bank: Bank, facts: list[Fact], line: LyingTransport
) -> None:
    params = {"seen": {facts[0].id: fact_kinds.seen_hash("Something older.")}}
    for kind in ("retire", "edit-fact"):
        write = act(kind, bank, facts[:1], params=params, request=Blob.objects.store("Another."))
        assert (write.state, line.sent("PATCH")) == (Write.State.CHANGED, 0)


def test_the_text_of_a_fact_is_changed_and_confirmed(bank: Bank, facts: list[Fact], line: LyingTransport) -> None:
    text = "Ann keeps the ledger since May.\n\tAnd the keys."
    line.cut_after.append("PATCH")
    write = act("edit-fact", bank, facts[:1], request=Blob.objects.store(text))
    assert (write.state, write.outcome["edited"], line.sent("PATCH")) == (Write.State.DONE, [facts[0].id], 1)
    assert text in {fact.text for fact in facts_of(bank)}
    again = act("edit-fact", bank, facts[:1], request=Blob.objects.store(text))
    assert (again.state, line.sent("PATCH")) == (Write.State.DONE, 1)


def test_a_retired_fact_is_not_edited(bank: Bank, facts: list[Fact], line: LyingTransport) -> None:
    act("retire", bank, facts[:1])
    write = act("edit-fact", bank, facts[:1], request=Blob.objects.store("Another."))
    assert (write.state, line.sent("PATCH")) == (Write.State.ATTENTION, 1)
    assert "Restore it first" in write.error_text


def test_facts_share_the_slot_of_their_document(bank: Bank, facts: list[Fact]) -> None:
    from banks.writes.kind import document_slot, fact_slot

    write = act("retire", bank, facts[:1])
    assert write.slot == document_slot(bank, "notes/a.md")
    with transaction.atomic():
        lone = record(kind="restore", bank=bank, via=Write.Via.WEB, fact_ids=[facts[0].id])
    assert lone.slot == fact_slot(bank, facts[0].id)


NOWHERE = "00000000-0000-4000-8000-00000000dead"
