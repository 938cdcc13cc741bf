"""Idempotency-Key: what arrives twice is done once."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from banks.models import Bank, IdempotencyKey, Write
from banks.services import idempotency
from banks.tasks import sweep_jobs
from tests.api.asking import Program, issue
from tests.conftest import People
from tests.racing import at_once

QUOTE = "It was removed for good, I am sure."


def body(bank: Bank, fact_id: str = "f1") -> dict[str, Any]:
    verdicts = [{"verdict": "contradicts", "id": fact_id, "quote": QUOTE}]
    return {"bank": bank.bank_id, "transcript": QUOTE, "candidates": [{"id": fact_id}], "verdicts": verdicts}


def post(program: Program, asked: Any, key: str = "k1") -> Any:
    return program.post("/facts/retire", asked, **{"Idempotency-Key": key})


@pytest.mark.django_db
def test_the_same_again_is_answered_the_same_and_done_once(bank: Bank, program: Program) -> None:
    first, second = post(program, body(bank)), post(program, body(bank))
    assert (first.status_code, first.content) == (second.status_code, second.content)  # to the byte, on every database
    assert first["Content-Type"] == second["Content-Type"]
    assert first.status_code == 202
    assert ("Idempotency-Replayed" in first, second["Idempotency-Replayed"]) == (False, "true")
    assert Write.objects.count() == 1
    assert post(program, body(bank), "k2").status_code == 202
    assert Write.objects.count() == 2


@pytest.mark.django_db
def test_a_key_belongs_to_one_request_of_one_token(bank: Bank, people: People, program: Program) -> None:
    post(program, body(bank))
    answer = post(program, body(bank, "f2"))
    assert (answer.status_code, "another request" in answer.json()["detail"]) == (422, True)
    assert post(Program(issue(people.reviewer)), body(bank, "f2")).status_code == 202
    assert Write.objects.count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["x" * 201, "ключ"])
def test_what_is_no_key(bank: Bank, program: Program, key: str) -> None:
    assert post(program, body(bank), key).status_code == 422
    assert not Write.objects.exists()


@pytest.mark.django_db
def test_what_was_refused_may_be_tried_again(bank: Bank, people: People, program: Program) -> None:
    membership = bank.memberships.get(user=people.reviewer)
    bank.memberships.filter(pk=membership.pk).update(role=1)
    assert post(program, body(bank)).status_code == 403
    bank.memberships.filter(pk=membership.pk).update(role=2)
    assert post(program, body(bank)).status_code == 202


@pytest.mark.django_db
def test_a_process_that_dies_before_it_answers_has_done_nothing(
    bank: Bank, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("reviews.api.facts.RetireOut.model_dump", lambda *args, **kwargs: 1 / 0)
        assert post(program, body(bank)).status_code == 500
    assert not Write.objects.exists()
    assert not IdempotencyKey.objects.exists()
    assert post(program, body(bank)).status_code == 202
    assert Write.objects.count() == 1


@pytest.mark.django_db
def test_keys_are_forgotten_after_a_day(bank: Bank, program: Program) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        post(program, body(bank))
        clock.shift(idempotency.KEPT)
        sweep_jobs()
        assert "Idempotency-Replayed" in post(program, body(bank))
        clock.shift(timedelta(seconds=1))
        sweep_jobs()
        assert not IdempotencyKey.objects.exists()
        assert Write.objects.count() == 1  # what was done stays


@pytest.mark.django_db(transaction=True)
def test_two_at_once_are_done_once(bank: Bank, program: Program) -> None:
    for number in range(10):
        answers = at_once(*[partial(post, program, body(bank), f"race {number}")] * 4)
        assert {answer.status_code for answer in answers} == {202}
        assert all(answer.json() == answers[0].json() for answer in answers)
        assert Write.objects.count() == number + 1
