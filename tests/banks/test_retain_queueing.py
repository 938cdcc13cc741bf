"""Memories are taken in as rows, all or none, and a worker is told after the commit."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from django.utils import timezone

from banks import retain, tasks
from banks.models import Bank, RetainItem, RetainLabel, Role, Write
from banks.retain import BankClosed, OtherRequest, Refused
from tests import factories
from tests.banks.retaining import put
from tests.conftest import People
from tests.racing import ROUNDS, at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """(bank, in how many seconds) of each message."""
    messages: list[tuple[int, float]] = []
    monkeypatch.setattr(
        tasks.flush_retains, "apply_async", lambda args, countdown: messages.append((args[0], countdown))
    )
    return messages


def test_memories_are_rows_before_anything_is_answered(bank: Bank, people: People, told: list[Any]) -> None:
    items = retain.parse([{"content": "Ann.", "context": "talk"}, {"content": "Ben.", "document_id": "b"}])
    queued = retain.enqueue(user=people.reviewer, bank=bank, items=items, via=Write.Via.API, session_id="s1")
    assert (queued.count, queued.message, queued.notes) == (2, "2 memories queued.", [])
    first, second = RetainItem.objects.order_by("pk")
    assert (first.content.text, first.size, first.context, first.metadata) == ("Ann.", 4, "talk", {"session_id": "s1"})
    assert (first.actor, first.actor_name, first.via) == (people.reviewer, "Mira Kovač", "api")
    assert first.timestamp == first.queued_at.isoformat()
    assert (first.named, second.named, second.document_id) == (False, True, "b")
    assert first.document_id.startswith("memadmin-")
    assert told == [(bank.pk, 5.0)]


def test_one_memory_is_one_memory(bank: Bank, people: People) -> None:
    queued = retain.enqueue(user=people.reviewer, bank=bank, items=retain.parse([{"content": "x"}]), via=Write.Via.API)
    assert queued.message == "1 memory queued."


def test_sixteen_go_at_once_and_fewer_wait_for_more(bank: Bank, people: People, told: list[Any]) -> None:
    put(people.reviewer, bank, "one")
    put(people.reviewer, bank, "two")  # the first one's message is on its way
    put(people.reviewer, bank, *[f"text {number}" for number in range(13)])
    put(people.reviewer, bank, "the sixteenth", "and one more")
    put(people.reviewer, bank, "another")  # a worker was told already
    assert told == [(bank.pk, 5.0), (bank.pk, 0.0)]


def test_what_is_rolled_back_is_told_to_nobody(bank: Bank, people: People, told: list[Any]) -> None:
    with transaction.atomic():
        put(people.reviewer, bank, "one")
        transaction.set_rollback(True)
    assert (told, RetainItem.objects.count()) == ([], 0)


def test_the_context_of_the_bank_is_for_those_without_one(bank: Bank, people: People) -> None:
    bank.retain_context = "pair programming"
    one, other, none = put(
        people.reviewer, bank, "a", {"content": "b", "context": "mail"}, {"content": "c", "context": ""}
    )
    assert (one.context, other.context, none.context) == ("pair programming", "mail", "")


def test_the_session_of_an_item_counts_more(bank: Bank, people: People) -> None:
    item = {"content": "a", "metadata": {"session_id": "own"}}
    (row,) = put(people.reviewer, bank, item, session_id="s1")
    assert row.metadata == {"session_id": "own"}


@pytest.mark.parametrize(("who", "error"), [("stranger", Http404), ("viewer", PermissionDenied)])
def test_who_may_not_write_stores_nothing(bank: Bank, people: People, who: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        put(getattr(people, who), bank, "one")
    assert not RetainItem.objects.exists()


@pytest.mark.parametrize("how", ["gone", "slash"])
def test_a_closed_bank_refuses_and_says_why(bank: Bank, people: People, how: str) -> None:
    if how == "gone":
        bank.gone_since = timezone.now()
    else:
        bank.bank_id = "org/user"
    with pytest.raises(BankClosed, match="Nothing was stored"):
        put(people.reviewer, bank, "one")
    assert not RetainItem.objects.exists()


def test_a_paused_server_keeps_them_waiting_and_says_so(bank: Bank, people: People) -> None:
    bank.server.writes_paused = True
    items = retain.parse([{"content": "x"}])
    queued = retain.enqueue(user=people.reviewer, bank=bank, items=items, via=Write.Via.WEB)
    assert queued.notes == ["Writes to this server are paused: they wait, and are sent when it goes on."]


def test_the_same_operation_is_one_request(bank: Bank, people: People, told: list[Any]) -> None:
    operation = uuid.uuid4()
    first = put(people.reviewer, bank, "one", "two", operation_id=operation)
    again = put(people.reviewer, bank, "one", "two", operation_id=operation)
    assert [row.pk for row in again] == [row.pk for row in first]
    assert (RetainItem.objects.count(), len(told)) == (2, 1)


@pytest.mark.parametrize("changed", [{"session_id": "s"}, {"items": ["one"]}, {"items": ["one", "Two"]}])
def test_the_same_operation_for_something_else_is_refused(bank: Bank, people: People, changed: dict[str, Any]) -> None:
    operation = uuid.uuid4()
    put(people.reviewer, bank, "one", "two", operation_id=operation)
    items = changed.pop("items", ["one", "two"])
    with pytest.raises(OtherRequest):
        put(people.reviewer, bank, *items, operation_id=operation, **changed)
    assert RetainItem.objects.count() == 2


def test_an_operation_of_the_log_is_nobodys_to_give(bank: Bank, people: People) -> None:
    write = Write.objects.create(kind="edit", bank=bank, via="web", state="done")
    with pytest.raises(OtherRequest):
        put(people.reviewer, bank, "one", operation_id=write.operation_id)


@pytest.mark.parametrize(
    "items",
    [
        [{"content": "a", "document_id": "d"}, {"content": "b", "document_id": "d"}],
        [{"content": "a", "strategy": "x"}, {"content": "b"}],
        [{"content": "a", "document_id": "d", "update_mode": "append"}, {"content": "b"}],
    ],
)
def test_what_needs_several_requests_has_no_operation_id(bank: Bank, people: People, items: list[Any]) -> None:
    with pytest.raises(Refused, match="operation_id: "):
        put(people.reviewer, bank, *items, operation_id=uuid.uuid4())
    assert len(put(people.reviewer, bank, *items)) == 2


def test_the_same_request_twice_at_the_same_moment_is_stored_once(bank: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        operation = uuid.uuid4()

        def ask(operation: uuid.UUID = operation) -> list[int]:
            return [row.pk for row in put(people.reviewer, bank, "one", "two", operation_id=operation)]

        one, other = at_once(ask, ask)
        assert one == other
        assert RetainItem.objects.filter(operation_id=operation).count() == 2


def test_a_project_has_its_tag_and_shared_labels_are_said(bank: Bank, people: People) -> None:
    def ask(project: str) -> retain.Queued:
        items = retain.parse([{"content": "x", "tags": ["own"]}])
        return retain.enqueue(
            user=people.reviewer, bank=bank, items=items, via=Write.Via.API, mode="per-project-tagged", project=project
        )

    assert ask("/home/ann/API/").items[0].tags == ["own", "project:api"]
    assert ask("/home/ann/API").notes == []
    assert ask("/home/ben/api").notes == ["“api” is also the label of /home/ann/API: they share these memories."]
    assert RetainLabel.objects.count() == 2


def test_a_projects_own_bank_has_to_exist(bank: Bank, people: People) -> None:
    with pytest.raises(Http404, match="no bank checkout-service-api"):
        put(people.reviewer, bank, "x", mode="per-project", project="/home/ann/api")
    own = factories.make_bank("checkout-service-api", server=bank.server)
    with pytest.raises(Http404):  # nobody learns that it exists
        put(people.reviewer, bank, "x", mode="per-project", project="/home/ann/api")
    factories.grant(people.reviewer, own, Role.REVIEWER)
    (row,) = put(people.reviewer, bank, "x", mode="per-project", project="/home/ann/api")
    assert (row.bank, row.tags) == (own, [])


@pytest.mark.parametrize("mode", ["per-project", "per-project-tagged", "everywhere"])
def test_no_project_writes_into_a_persons_bank(bank: Bank, people: People, mode: str) -> None:
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.reviewer)
    bank.refresh_from_db()
    with pytest.raises(Refused):
        put(people.reviewer, bank, "x", mode=mode, project="api", user_bank=True)
    assert put(people.reviewer, bank, "x", user_bank=True)


def test_rows_wait_for_company_but_not_for_ever(bank: Bank, people: People) -> None:
    (row,) = put(people.reviewer, bank, "x")
    assert row.not_before - row.queued_at == timedelta(seconds=5)
