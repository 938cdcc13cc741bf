"""Settings of one bank for another: shown first, chosen one by one, and never over what was not shown."""

from typing import Any

import pytest
from django.test import Client

from banks import connections
from banks.models import Bank, Role, Write
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, url
from tests.banks.config_form import Form, on_server, set_past_us
from tests.banks.conftest import LyingTransport
from tests.banks.retaining import work_off
from tests.conftest import People
from tests.reviews.pages import HTMX, text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def other(bank: Bank, people: People, line: LyingTransport) -> Bank:
    other = factories.make_bank("billing", name="Billing", server=bank.server)
    factories.grant(people.owner, other, Role.ADMIN)
    with connections.client_for(bank.server) as client:
        client.put_bank("billing")
    set_past_us(bank, retain_mission="Keep names.", retain_chunk_size=2000, enable_observations=False)
    set_past_us(other, retain_chunk_size=900, enable_observations=False, recall_budget_max=700)
    return other


def preview(client: Client, bank: Bank, to: Bank) -> tuple[str, dict[str, Any]]:
    answer = client.get(url("bank-config-copy", bank.pk), {"to": to.pk}, headers=HTMX)
    page = text_of(answer)
    return page, Form(page, url("bank-config-copy", bank.pk)).values


def test_what_differs_is_shown_and_what_is_ticked_is_copied(
    bank: Bank, other: Bank, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    assert "Billing (billing" in text_of(get(client, "bank-config-copy", bank.pk))
    page, form = preview(client, bank, other)
    assert form["setting"] == ["retain_chunk_size", "retain_mission"]  # what is set here; the rest is offered
    assert "recall_budget_max" in page
    assert "enable_observations" not in page
    assert client.post(url("bank-config-copy", bank.pk), form).status_code == 303
    work_off(other)
    assert on_server(other).overrides == {
        "enable_observations": False,
        "recall_budget_max": 700,
        "retain_chunk_size": 2000,
        "retain_mission": "Keep names.",
    }
    write = Write.objects.get()
    assert (write.bank, write.params["copied_from"]) == (other, bank.bank_id)
    page, form = preview(client, bank, other)
    client.post(url("bank-config-copy", bank.pk), {**form, "setting": ["recall_budget_max"]})
    work_off(other)
    assert "recall_budget_max" not in on_server(other).overrides
    assert "Nothing differs." in preview(client, bank, other)[0]


def test_nothing_chosen_is_nothing_sent(bank: Bank, other: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    _, form = preview(client, bank, other)
    client.post(url("bank-config-copy", bank.pk), {**form, "setting": ["not_there"]})
    assert not Write.objects.exists()


def test_the_target_is_not_written_over_by_what_was_not_shown(
    bank: Bank, other: Bank, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    _, form = preview(client, bank, other)
    set_past_us(other, retain_mission="Theirs.")
    client.post(url("bank-config-copy", bank.pk), form)
    work_off(other)
    assert Write.objects.get().state == Write.State.CHANGED
    assert on_server(other).overrides["retain_mission"] == "Theirs."


def test_one_has_to_be_an_admin_of_both(bank: Bank, other: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    _, form = preview(client, bank, other)
    people.owner.memberships.filter(bank=other).update(role=Role.REVIEWER)
    assert client.post(url("bank-config-copy", bank.pk), form).status_code == 403
    people.owner.memberships.filter(bank=other).delete()
    assert client.post(url("bank-config-copy", bank.pk), form).status_code == 404
    assert post(client, "bank-config-copy", bank.pk, to="x").status_code == 200
    assert not Write.objects.exists()


def test_a_form_of_two_other_banks_is_refused(bank: Bank, other: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    _, form = preview(client, bank, other)
    swapped = {**form, "here": form["there"], "there": form["here"]}
    assert client.post(url("bank-config-copy", bank.pk), swapped).status_code == 409
    assert not Write.objects.exists()
