"""A form of memories is stored once, however often it is sent, and what became of it is told."""

import uuid
from typing import Any

import pytest

from banks import retain
from banks.models import Bank, Job, RetainItem, Write
from banks.services import retaining
from tests.banks.admin_pages import SignIn
from tests.banks.conftest import LyingTransport
from tests.banks.retain_form import SEND, filled, typed
from tests.banks.retaining import drain, put
from tests.conftest import People
from tests.racing import ROUNDS, at_once
from tests.reviews.pages import text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_form_that_is_sent_twice_is_stored_once(bank: Bank, people: People, as_user: SignIn) -> None:
    client, asked = as_user(people.reviewer), filled(bank, "Ann came.", "Ben came.")
    assert client.post(SEND, asked)["Location"] == client.post(SEND, asked)["Location"]
    assert RetainItem.objects.count() == 2
    answer = client.post(SEND, {**asked, "m1-content": "Ben went."})
    assert answer.status_code == 409
    assert "This form was sent before, with other memories." in text_of(answer)
    assert typed(text_of(answer))["form"] != asked["form"]
    assert RetainItem.objects.count() == 2


def test_twice_at_the_same_moment_too(bank: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        form, items = uuid.uuid4(), retain.parse([{"content": "Ann came."}, {"content": "Ben came."}])

        def send(form: uuid.UUID = form, items: list[retain.Item] = items) -> Any:
            planned = retain.plan(user=people.reviewer, bank=bank, items=items, via=Write.Via.WEB, seed=form)
            return retaining.send(user=people.reviewer, form=form, planned=planned)

        one, other = at_once(send, send)
        assert one.pk == other.pk
        assert len(one.result["items"]) == 2
        assert set(one.result["items"]) == set(other.result["items"])
    assert RetainItem.objects.count() == 2 * ROUNDS


def test_the_same_operation_with_another_body_is_refused(bank: Bank, people: People, as_user: SignIn) -> None:
    operation = uuid.uuid4()
    put(people.reviewer, bank, "Ann came.", operation_id=operation)
    client = as_user(people.reviewer)
    answer = client.post(SEND, filled(bank, "Ben came.", operation_id=str(operation)))
    assert answer.status_code == 409
    assert "Operation id</a>: This operation_id was used for another request." in text_of(answer)
    assert "Ben came.</textarea>" in text_of(answer)
    again = client.post(SEND, filled(bank, "Ann came.", operation_id=str(operation)), follow=True)
    assert "These were sent before, under the same operation id." in text_of(again)
    assert RetainItem.objects.count() == 1


def test_the_next_page_says_what_became_of_each(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport
) -> None:
    client = as_user(people.reviewer)
    sent = client.post(SEND, filled(bank, "Ann came.", {"content": "[[FAIL]]", "strategy": "x"}, wait="wait"))
    page = text_of(client.get(sent["Location"]))
    assert "This page waits until the bank has them." in page
    assert "load delay:" in page
    drain(bank)
    answer = client.get(sent["Location"], headers={"HX-Request": "true"})
    assert answer.status_code == 286
    assert "<b>1</b> of 2 memories in the bank, <b>1</b> needs a person" in text_of(answer)
    assert "load delay:" not in text_of(answer)
    job = Job.objects.get(kind="retain-form")
    assert as_user(people.viewer).get(f"/retain/sent/{job.pk}/").status_code == 404
