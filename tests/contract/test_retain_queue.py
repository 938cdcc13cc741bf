"""The retain queue with each server, by a line that lies: each memory is in the bank once, by one operation a batch."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from banks import writes
from banks.models import Bank as BankRow
from banks.models import RetainItem, Write
from banks.retain import flush
from memadmin.accounts.models import User
from tests import factories
from tests.banks.retaining import put, sent, states
from tests.contract.conftest import Bank, Target, registered, until

pytestmark = pytest.mark.django_db(transaction=True)


class Killed(BaseException):
    """What a worker sees of its own death."""


@dataclass
class Line(httpx.BaseTransport):
    """Passes on; `fates` say what happens to the next retains."""

    under: httpx.BaseTransport
    fates: list[str] = field(default_factory=list)
    posts: int = 0  # that reached the server

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "POST" or not request.url.path.endswith("/memories"):
            return self.under.handle_request(request)
        fate = self.fates.pop(0) if self.fates else "pass"
        if fate == "refused":
            raise httpx.ConnectError("refused", request=request)
        if fate == "busy":
            return httpx.Response(503, json={"detail": "busy"}, headers={"retry-after": "0"})
        if fate == "killed before":
            raise Killed
        self.posts += 1
        answer = self.under.handle_request(request)
        if fate == "killed after":
            raise Killed
        if fate == "lost":
            raise httpx.ReadTimeout("no answer", request=request)
        return httpx.Response(500, json={"detail": "broken"}) if fate == "broken" else answer


@pytest.fixture
def line(target: Target) -> Line:
    return Line(target.transport or httpx.HTTPTransport())


@pytest.fixture
def row(target: Target, bank: Bank, line: Line) -> Iterator[BankRow]:
    with registered(target, bank, transport=line) as row:
        yield row


@pytest.fixture
def user(db: None) -> User:
    return factories.make_user(is_superuser=True)


def work(row: BankRow) -> None:
    """Until nothing is under way; a worker that dies is followed by another one."""

    def step() -> bool:
        RetainItem.objects.filter(bank=row).update(not_before=timezone.now())
        flush.flush(row.pk)
        for write in Write.objects.filter(bank=row, state__in=Write.OPEN).order_by("pk"):
            past = timezone.now()
            Write.objects.filter(pk=write.pk).update(not_before=past, claimed_until=None)
            if write.state == Write.State.SENDING:  # its worker is dead
                Write.objects.filter(pk=write.pk).update(claimed_until=past)
            try:
                writes.run(write.pk)
            except Killed:
                continue
        waiting = RetainItem.objects.filter(bank=row, state=RetainItem.State.QUEUED).exists()
        return not waiting and not Write.objects.filter(bank=row, state__in=Write.OPEN).exists()

    until(step, bool)


def in_bank(bank: Bank) -> dict[str, str]:
    rows = bank.client.list_documents(bank.id, limit=1_000).items
    return {each.id: bank.client.get_document(bank.id, each.id).text for each in rows}


def retains(bank: Bank) -> int:
    """Operations that were begun by a retain."""
    page = bank.client.list_operations(bank.id, type="batch_retain", exclude_parents=False)
    return page.total


def texts(count: int) -> list[str]:
    return [f"Person{chr(65 + number)} moved to Lyon." for number in range(count)]


@pytest.mark.parametrize("fate", ["pass", "lost", "refused", "busy", "broken", "killed before", "killed after"])
def test_every_memory_is_there_once_by_one_operation(
    row: BankRow, bank: Bank, user: User, line: Line, fate: str
) -> None:
    line.fates = [fate]
    items = put(user, row, *texts(5))
    work(row)
    assert states(row) == ["done"] * 5
    assert in_bank(bank) == {item.document_id: item.content.text for item in items}
    (batch,) = sent(row)
    assert (batch.outcome["memories"], batch.outcome["facts"]) == (5, 5)
    assert retains(bank) == 1
    assert bank.client.get_operation(bank.id, str(batch.operation_id)).status == "completed"


def test_everything_that_a_retain_takes_arrives(row: BankRow, bank: Bank, user: User) -> None:
    given = {
        "content": "Ann moved to Lyon.",
        "document_id": "notes/a",
        "timestamp": "2026-02-01T10:00:00+02:00",
        "context": "a talk",
        "metadata": {"author": "Zed"},
        "tags": ["b"],
        "entities": [{"text": "Globex Corp", "type": "ORG"}],
        "resolve_entities": False,
        "observation_scopes": [["b"], []],
        "strategy": "careful",
    }
    put(user, row, given, session_id="s-1", document_tags=["whole"], mode="per-project-tagged", project="/x/Shop")
    work(row)
    assert states(row) == ["done"]
    document = bank.client.get_document(bank.id, "notes/a")
    assert sorted(document.tags) == ["b", "project:shop", "whole"]
    assert document.metadata == {"author": "Zed", "session_id": "s-1"}
    kept = document.retain_params
    assert (kept["context"], kept["strategy"], kept["event_date"]) == ("a talk", "careful", given["timestamp"])
    assert (kept["resolve_entities"], kept["entities"][0]["text"]) == (False, "Globex Corp")


def test_one_after_the_other_for_one_document(row: BankRow, bank: Bank, user: User) -> None:
    for number in range(4):
        put(user, row, {"content": f"Ann has {number} cats.", "document_id": "d"})
    put(user, row, {"content": "Ben has none.", "document_id": "d", "update_mode": "append"})
    work(row)
    assert states(row) == ["done"] * 5
    assert in_bank(bank) == {"d": "Ann has 3 cats.\nBen has none."}
    assert retains(bank) == 5


@pytest.mark.parametrize("arrived", [True, False])
def test_an_append_without_an_answer_is_told_from_one_that_never_came(
    row: BankRow, bank: Bank, user: User, line: Line, arrived: bool
) -> None:
    bank.store("d", "Ann came.")
    put(user, row, {"content": "Ben came.", "document_id": "d", "update_mode": "append"})
    line.fates = ["lost" if arrived else "killed before"]
    if arrived:
        work(row)
        assert states(row) == ["done"]
    else:
        RetainItem.objects.update(not_before=timezone.now())
        flush.flush(row.pk)
        (batch,) = sent(row)
        with pytest.raises(Killed):
            writes.run(batch.pk)
        long_ago = timezone.now() - timedelta(minutes=5)
        Write.objects.filter(pk=batch.pk).update(sent=long_ago, claimed_until=long_ago)
        assert writes.run(batch.pk) == "attention"
        assert bank.client.get_document(bank.id, "d").text == "Ann came."
        batch.refresh_from_db()
        assert writes.retry(write=batch, actor=user)
        work(row)
    assert bank.client.get_document(bank.id, "d").text == "Ann came.\nBen came."


def test_of_a_failed_batch_the_missing_are_sent_again_and_no_others(
    row: BankRow, bank: Bank, user: User, target: Target
) -> None:
    times = {"demo": 4, "real": 8}[target.name]  # the real server asks its model twice in each of the four attempts
    put(user, row, "Ann came.", f"[[FAILN:{times}:{uuid.uuid4().hex[:8]}]] Ben came.", "Carl came.")
    work(row)
    (batch,) = sent(row)
    assert batch.state == Write.State.ATTENTION
    assert "forced failure" in batch.error_text
    there = set(in_bank(bank).values())
    assert "Ann came." in there
    missing = RetainItem.objects.filter(bank=row, state="attention").count()
    assert missing == 3 - len(there)
    assert writes.retry(write=batch, actor=user)
    for _ in range(3):  # the marker fails a fixed number of extractions, whoever asks for them
        work(row)
        if last := Write.objects.filter(bank=row, state=Write.State.ATTENTION).first():
            writes.retry(write=last, actor=user)
    assert states(row) == ["done"] * 3
    assert len(in_bank(bank)) == 3


def test_a_bank_that_is_gone_is_not_made_anew(row: BankRow, bank: Bank, user: User) -> None:
    put(user, row, "Ann came.")
    bank.client.delete_bank(bank.id)
    work(row)
    assert states(row) == ["attention"]
    assert not bank.client.has_bank(bank.id)


def test_missions_are_set_where_there_are_none(row: BankRow, bank: Bank, user: User) -> None:
    bank.client.patch_config(bank.id, {"reflect_mission": "Theirs."})
    BankRow.objects.filter(pk=row.pk).update(retain_mission="Keep decisions.", reflect_mission="Ours.")
    put(user, row, "Ann came.")
    work(row)
    values = bank.client.bank_config(bank.id).values
    assert (values["retain_mission"], values["reflect_mission"]) == ("Keep decisions.", "Theirs.")
    assert Write.objects.get(kind="mission").outcome["set"] == ["retain_mission"]
    assert states(row) == ["done"]


@pytest.mark.parametrize("bank_id", ["a\\b", "100%", "under_score", "ж 7"])
def test_a_bank_is_found_by_its_exact_id(client, bank_id: str) -> None:
    name = f"{bank_id} {uuid.uuid4().hex[:6]}"
    client.put_bank(name)
    assert client.has_bank(name)
    assert not client.has_bank(name[:-1])
    client.delete_bank(name)
    assert not client.has_bank(name)


def test_a_bank_says_how_it_is_set(bank: Bank) -> None:
    before = bank.client.bank_config(bank.id)
    assert (before.values["retain_mission"], before.overrides) == (None, {})
    after = bank.client.patch_config(bank.id, {"retain_mission": "Keep decisions."})
    assert after.values["retain_mission"] == "Keep decisions."
    assert after.overrides == {"retain_mission": "Keep decisions."} == bank.client.bank_config(bank.id).overrides
