"""POST /api/v1/retain/transcript: a session by a program."""

import json
from typing import Any

import pytest

from banks.models import Bank, RetainItem
from tests.api.asking import Program
from tests.banks.transcripts import as_file, header, pi, plain, talk
from tests.conftest import People

PATH = "/retain/transcript"


def body(bank: Bank, *records: Any, **values: Any) -> dict[str, Any]:
    given = records or (header(), pi("a", None, "user", "Move Ann to Lyon."), pi("b", "a", "toolResult", "ok"))
    return {"bank": bank.bank_id, "transcript": as_file(*given).decode(), **values}


def test_a_session_is_queued_as_one_document(program: Program, bank: Bank) -> None:
    answer = program.post(PATH, body(bank, tags=["team"]))
    assert answer.status_code == 202
    said = json.loads(answer.content)
    assert (said["count"], said["message"], said["format"]) == (1, "1 memory queued.", "pi")
    assert said["documents"] == [{"id": "s-1", "turns": 1, "repeated": 0, "bytes": said["documents"][0]["bytes"]}]
    assert said["skipped"] == [{"what": "toolResult messages", "count": 1}]
    item = RetainItem.objects.get()
    assert (item.document_id, item.tags, item.metadata) == ("s-1", ["team"], {"session_id": "s-1"})


def test_windows_and_the_project_of_a_session(program: Program, bank: Bank) -> None:
    asked = body(bank, *talk(4), mode="last-turn", every=2, scope="per-project-tagged", project="/home/ann/Shop")
    assert program.post(PATH, asked).status_code == 202
    assert [item.tags for item in RetainItem.objects.all()] == [["project:shop"]] * 2


def test_the_same_key_queues_once(program: Program, bank: Bank) -> None:
    first, again = (program.post(PATH, body(bank), **{"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.content, first.status_code) == (again.content, again.status_code)
    assert RetainItem.objects.count() == 1


@pytest.mark.parametrize(
    ("records", "values", "said"),
    [
        ([{"a": 1}], {}, "Neither a pi session"),
        ([plain("user", "Move Ann.")], {}, "does not name its session"),
        ([header(), pi("a", None, "user", "…")], {}, "Nothing was said"),
        ([header("x/chunks"), pi("a", None, "user", "Move")], {}, "items[0].document_id"),
        (talk(1), {"mode": "all"}, "body.mode"),
        (talk(1), {"every": 0}, "body.every"),
        (talk(1), {"tags": [""]}, "items[0].tags"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(
    program: Program, bank: Bank, records: list[Any], values: dict[str, Any], said: str
) -> None:
    answer = program.post(PATH, body(bank, *records, **values))
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not RetainItem.objects.exists()


def test_a_persons_bank_takes_no_session(program: Program, bank: Bank, people: People) -> None:
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.reviewer)
    answer = program.post(PATH, body(bank))
    assert answer.status_code == 422
    assert "no session of an agent goes there" in answer.content.decode()
    assert not RetainItem.objects.exists()
