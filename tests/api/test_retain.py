"""POST /api/v1/retain: memories by a program, and what became of each."""

import json
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import Bank, RetainItem, Role
from tests import factories
from tests.api.asking import Program
from tests.banks.conftest import LyingTransport
from tests.banks.retaining import drain
from tests.conftest import People

PATH = "/retain"


def body(bank: Bank, *items: Any, **values: Any) -> dict[str, Any]:
    return {"bank": bank.bank_id, "items": list(items) or [{"content": "Ann moved to Lyon."}], **values}


def said(answer: Any) -> Any:
    return json.loads(answer.content)


def test_memories_are_queued_and_nothing_waits_for_the_bank(program: Program, bank: Bank, line: LyingTransport) -> None:
    items = [{"content": "Ann moved.", "context": "talk"}, {"content": "Ben stayed.", "document_id": "b"}]
    answer = program.post(PATH, body(bank, *items, session_id="s1"))
    assert answer.status_code == 202
    told = said(answer)
    assert (told["count"], told["message"], told["notes"]) == (2, "2 memories queued.", [])
    assert told["items"][1] == {"id": RetainItem.objects.order_by("pk")[1].pk, "document_id": "b"}
    assert line.calls == []
    assert said(program.post(PATH, body(bank)))["message"] == "1 memory queued."
    item = RetainItem.objects.order_by("pk")[0]
    assert (item.via, item.token.name, item.metadata) == ("api", "agent", {"session_id": "s1"})  # type: ignore[union-attr]


def test_of_the_database_as_much_is_asked_for_many_as_for_one(program: Program, bank: Bank) -> None:
    asked = []
    program.post(PATH, body(bank))  # notes down that the token is in use
    for count in (1, 40):
        with CaptureQueriesContext(connection) as queries:
            program.post(PATH, body(bank, *({"content": f"Ann has {uuid.uuid4()}."} for _ in range(count))))
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 9  # with the marks of a transaction


@pytest.mark.django_db(transaction=True)
def test_a_program_asks_what_became_of_a_memory(program: Program, bank: Bank, line: LyingTransport) -> None:
    (item,) = said(program.post(PATH, body(bank)))["items"]
    told = said(program.get(f"/retain/{item['id']}"))
    assert (told["state"], told["write"], told["document_id"]) == ("queued", None, item["document_id"])
    drain(bank)
    told = said(program.get(f"/retain/{item['id']}"))
    assert (told["state"], told["write_state"], told["facts"], told["error"]) == ("done", "done", 1, "")
    assert program.get("/retain/0").status_code == 404
    assert program.get(f"/retain/{10**30}").status_code == 404


def test_everything_that_a_retain_takes_is_taken(program: Program, bank: Bank) -> None:
    everything = {
        "content": "Ann moved.",
        "timestamp": "unset",
        "context": "",
        "metadata": {"author": "Zed", "gone": None},
        "document_id": "d",
        "update_mode": "append",
        "entities": [{"text": "Ann"}, {"text": "Lyon", "type": "PLACE"}],
        "resolve_entities": False,
        "tags": ["a"],
        "observation_scopes": [["a"], []],
        "strategy": "careful",
    }
    operation = str(uuid.uuid4())
    more = {
        "scope": "per-project-tagged",
        "project": "/home/ann/Shop",
        "document_tags": ["t"],
        "operation_id": operation,
    }
    assert program.post(PATH, body(bank, everything, **more)).status_code == 202
    item = RetainItem.objects.get()
    assert (item.timestamp, item.context, item.metadata) == ("unset", "", {"author": "Zed"})
    assert (item.tags, item.document_tags, item.update_mode) == (["a", "project:shop"], ["t"], "append")
    assert (item.resolve_entities, item.observation_scopes, item.strategy) == (False, [["a"], []], "careful")
    assert item.entities == [{"text": "Ann"}, {"text": "Lyon", "type": "PLACE"}]
    assert (str(item.operation_id), item.project) == (operation, "/home/ann/Shop")


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ({"content": " "}, "body.items.1.content"),
        ({"content": "x", "timestamp": "yesterday"}, "body.items.1.timestamp"),
        ({"content": "x", "metadata": {"a": 1}}, "body.items.1.metadata.a"),
        ({"content": "x", "update_mode": "append"}, "body.items.1.update_mode"),
        ({"content": "x", "document_id": ".."}, "body.items.1.document_id"),
        ({"content": "x", "colour": "red"}, "body.items.1.colour"),
        ({"content": "x", "resolve_entities": "yes"}, "body.items.1.resolve_entities"),
    ],
)
def test_a_wrong_field_is_named_with_its_item(program: Program, bank: Bank, item: dict[str, Any], path: str) -> None:
    answer = program.post(PATH, body(bank, {"content": "fine"}, item))
    assert answer.status_code == 422
    assert [field["path"] for field in said(answer)["fields"]] == [path]
    assert not RetainItem.objects.exists()


def test_what_is_too_large_is_named_with_its_item(program: Program, bank: Bank, settings: Any) -> None:
    settings.RETAIN_ITEM_BYTES = 10
    answer = program.post(PATH, body(bank, {"content": "fine"}, {"content": "x" * 11}))
    assert (answer.status_code, said(answer)["detail"]) == (413, "items[1].content: 11 bytes; at most 10 in one item.")
    assert program.post(PATH, body(bank, *[{"content": "x"}] * 65)).status_code == 413
    assert not RetainItem.objects.exists()


def test_the_same_operation_with_another_body_is_refused(program: Program, bank: Bank) -> None:
    operation = str(uuid.uuid4())
    first = program.post(PATH, body(bank, operation_id=operation))
    again = program.post(PATH, body(bank, operation_id=operation))
    assert (said(again)["items"], RetainItem.objects.count()) == (said(first)["items"], 1)
    other = program.post(PATH, body(bank, {"content": "Other."}, operation_id=operation))
    assert other.status_code == 409
    assert "used for another request" in said(other)["detail"]


def test_the_same_key_queues_once(program: Program, bank: Bank) -> None:
    first, again = (program.post(PATH, body(bank), **{"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.content, first.status_code) == (again.content, again.status_code)
    assert RetainItem.objects.count() == 1


def test_a_bank_that_is_gone_is_closed(program: Program, bank: Bank) -> None:
    Bank.objects.update(gone_since=timezone.now())
    answer = program.post(PATH, body(bank))
    assert answer.status_code == 409
    assert "not on its server any more" in said(answer)["detail"]


def test_the_server_is_said_where_two_have_the_bank(program: Program, bank: Bank, people: People) -> None:
    twin = factories.make_bank(bank.bank_id)
    factories.grant(people.reviewer, twin, Role.REVIEWER)
    answer = program.post(PATH, body(bank))
    assert (answer.status_code, len(said(answer)["servers"])) == (409, 2)
    assert program.post(PATH, body(bank, server=twin.server.name)).status_code == 202
    assert RetainItem.objects.get().bank == twin


def test_what_is_held_is_said_and_told(program: Program, bank: Bank) -> None:
    Bank.objects.filter(pk=bank.pk).update(hold=True)
    told = said(program.post(PATH, body(bank, {"content": "Ann moved."}, {"content": "Ben stayed."})))
    assert (told["count"], told["message"]) == (2, "2 memories held for review.")
    assert said(program.get(f"/retain/{told['items'][0]['id']}"))["state"] == "held"
    assert said(program.post(PATH, body(bank)))["message"] == "1 memory held for review."


def test_a_persons_bank_is_written_to_by_who_says_so(program: Program, bank: Bank, people: People) -> None:
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.reviewer)
    answer = program.post(PATH, body(bank))
    assert answer.status_code == 422
    assert said(answer)["fields"][0]["path"] == "body.user_bank"
    assert program.post(PATH, body(bank, user_bank=True, project="/home/ann/api")).status_code == 422
    assert not RetainItem.objects.exists()
    assert program.post(PATH, body(bank, user_bank=True)).status_code == 202
    Bank.objects.filter(pk=bank.pk).update(person=people.owner)  # whose it is decides
    assert program.post(PATH, body(bank, user_bank=True)).status_code == 404
