"""The archive by a program."""

from typing import Any

import pytest
from django.utils import timezone

from banks.models import Bank, Blob, Write
from reviews.models import FactDecision
from tests import factories
from tests.api.asking import Program

pytestmark = pytest.mark.django_db


def retired(bank: Bank, number: int, **values: Any) -> FactDecision:
    text = f"The exporter {number} runs."
    return FactDecision.objects.create(
        **{
            "bank": bank,
            "document_id": "d",
            "document_hash": Write.hash_of("d"),
            "fact_id": f"f{number}-{bank.pk}",
            "extracted": Blob.objects.store(text),
            "preview": text,
            "verdict": "retired",
            "reason": "removed",
            "user_name": "Ann",
            **values,
        }
    )


def test_page_by_page_and_only_what_the_token_may_see(bank: Bank, program: Program) -> None:
    made = [retired(bank, number).pk for number in range(5)]
    retired(factories.make_bank(), 1)
    retired(bank, 9, verdict="restored", restored_at=timezone.now())
    found: list[int] = []
    cursor = ""
    while cursor is not None:
        page = program.get("/facts/retired", order="oldest", limit=2, cursor=cursor).json()
        found += [each["id"] for each in page["facts"]]
        cursor = page["next"]
    assert found == made
    (back,) = program.get("/facts/retired", list="restored", bank=bank.bank_id).json()["facts"]
    assert (back["fact_id"], back["list"], back["who"]) == (f"f9-{bank.pk}", "restored", "Ann")


def test_what_is_asked_for_wrongly_is_refused(bank: Bank, program: Program) -> None:
    for wrong in ({"list": "questions"}, {"since": "yesterday"}, {"server": "s"}, {"cursor": "x"}, {"limit": 201}):
        assert program.get("/facts/retired", **wrong).status_code == 422
    assert program.get("/facts/retired", bank="none").status_code == 404


def test_a_page_costs_the_same_however_long(bank: Bank, program: Program, django_assert_max_num_queries: Any) -> None:
    for number in range(30):
        retired(bank, number)
    with django_assert_max_num_queries(12):
        assert len(program.get("/facts/retired", limit=30).json()["facts"]) == 30
