"""Batches of ours among the operations of servers: what an operation alone does not tell."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import Bank, OperationSeen, Write
from tests.banks.admin_pages import SignIn
from tests.banks.operations import make_operation
from tests.conftest import People
from tests.reviews.pages import HTMX, text_of

pytestmark = pytest.mark.django_db
HERE = "/operations/"
NOW = "2026-03-16T10:00:00Z"


def batch(bank: Bank, status: str, state: str, **outcome: Any) -> tuple[OperationSeen, Write]:
    seen = make_operation(bank, status, type="batch_retain", over_since=timezone.now(), document_id="", items=3)
    values = {"kind": "retain", "bank": bank, "via": "api", "slot": seen.operation_id, "params": {"memories": 3}}
    return seen, Write.objects.create(**values, operation_id=seen.operation_id, state=state, outcome=outcome)


def page(client: Client, query: str = "") -> str:
    return text_of(client.get(f"{HERE}{query}"))


@time_machine.travel(NOW, tick=False)
def test_a_batch_is_not_done_before_its_documents_are_seen(bank: Bank, people: People, as_user: SignIn) -> None:
    seen, write = batch(bank, "completed", "accepted")
    client = as_user(people.viewer)
    shown = page(client)
    assert "its documents are looked for" in shown
    assert 'hx-trigger="load delay:' in shown  # the page goes on asking
    asked = shown.split('id="operations-asking" hx-get="')[1].split('"')[0].replace("&amp;", "&")
    Write.objects.filter(pk=write.pk).update(state="done")
    answer = client.get(asked, headers=HTMX)
    assert (answer.status_code, f'id="operation-{seen.pk}"' in text_of(answer)) == (286, True)
    assert "looked for" not in page(client)


@time_machine.travel(NOW, tick=False)
def test_the_page_does_not_ask_for_ever(bank: Bank, people: People, as_user: SignIn) -> None:
    seen, _ = batch(bank, "completed", "accepted")
    OperationSeen.objects.filter(pk=seen.pk).update(changed_at=timezone.now() - timedelta(hours=2))
    assert "load delay:" not in page(as_user(people.viewer))


def test_what_is_missing_leads_to_where_it_is_sent_again(bank: Bank, people: People, as_user: SignIn) -> None:
    _, write = batch(bank, "failed", "attention", missing=2)
    assert "2 memories are not in the bank</a>" in page(as_user(people.viewer))
    log = text_of(as_user(people.reviewer).get(f"/log/{write.pk}/"))
    assert "Send again what is missing" in log


def test_one_that_takes_more_than_a_day_is_overdue(bank: Bank, people: People, as_user: SignIn) -> None:
    seen, write = batch(bank, "pending", "accepted", overdue=True)
    make_operation(bank, "processing", parent=seen)
    assert ">overdue</span>" in page(as_user(people.viewer))
    assert "not in the bank" not in page(as_user(people.viewer))
    write.delete()
    assert "overdue" not in page(as_user(people.viewer))


def test_several_batches_cost_no_more_queries(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.viewer)
    batch(bank, "completed", "done")
    page(client)
    with CaptureQueriesContext(connection) as few:
        page(client)
    for state in ("accepted", "attention", "done") * 4:
        batch(bank, "completed", state, missing=1)
    with CaptureQueriesContext(connection) as many:
        page(client)
    assert len(many) == len(few)
