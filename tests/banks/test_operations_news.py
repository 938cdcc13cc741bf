"""The page asks again by itself: what changed in its place, later and later, and then no more."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from banks.models import Bank, OperationLook, OperationSeen
from tests import factories
from tests.banks.operations import make_operation
from tests.conftest import People
from tests.reviews.pages import HTMX, text_of

pytestmark = pytest.mark.django_db
HERE = "/operations/"
NOW = "2026-03-16T10:00:00Z"


def asked(page: str) -> str:
    """Where the page asks again; "" when it does not."""
    found = re.search(r'id="operations-asking"[^>]*hx-(?:get|post)="([^"]*)"', page)
    return found[1].replace("&amp;", "&") if found else ""


def delay(page: str) -> int:
    found = re.search(r'hx-trigger="load delay:(\d+)s"', page)
    return int(found[1]) if found else 0


def news(client: Client, page: str) -> tuple[int, str]:
    answer = client.get(asked(page), headers=HTMX)
    return answer.status_code, text_of(answer)


@time_machine.travel(NOW, tick=False)
def test_only_what_changed_is_sent_and_in_its_place(bank: Bank, people: People, as_user) -> None:
    one, two = make_operation(bank), make_operation(bank)
    client = as_user(people.viewer)
    page = text_of(client.get(HERE))
    status, again = news(client, page)
    assert (status, f'id="operation-{one.pk}"' in again) == (200, False)
    OperationSeen.objects.filter(pk=two.pk).update(
        status="processing", changed_at=timezone.now() + timedelta(seconds=1)
    )
    status, again = news(client, page)
    assert f'id="operation-{two.pk}" hx-swap-oob="true"' in again
    assert f'id="operation-{one.pk}"' not in again
    assert "<li" not in again.split("operations-asking")[0]
    assert 'id="operation-views"' in again
    assert news(client, again)[1].count("operation-now") == 0  # it was told already


@time_machine.travel(NOW, tick=False)
def test_new_ones_are_announced_and_not_put_in(bank: Bank, people: People, as_user) -> None:
    make_operation(bank)
    client = as_user(people.viewer)
    page = text_of(client.get(f"{HERE}?show=open"))
    make_operation(bank, document_id="doc-9")
    make_operation(bank, "failed")
    _, again = news(client, page)
    assert f'<a href="{HERE}?show=open">1 newer. Show</a>' in again
    assert "doc-9" not in again


def test_it_backs_off_while_nothing_changes_and_then_ends(bank: Bank, people: People, as_user) -> None:
    client = as_user(people.viewer)
    with time_machine.travel(NOW, tick=False) as clock:
        make_operation(bank)
        delays = []
        for seconds in (0, 60, 600):
            clock.shift(seconds)
            OperationLook.objects.update(look_after=timezone.now() + timedelta(minutes=1))
            delays.append(delay(text_of(client.get(HERE))))
        assert delays == [5, 15, 60]
        page = text_of(client.get(HERE))
        clock.shift(3_600)
        status, again = news(client, page)
        assert (status, asked(again)) == (286, "")
        assert "asks no more by itself" in again


def test_it_ends_when_nothing_is_open(bank: Bank, people: People, as_user) -> None:
    row = make_operation(bank)
    client = as_user(people.viewer)
    page = text_of(client.get(HERE))
    OperationSeen.objects.filter(pk=row.pk).update(phase="ended", status="completed", changed_at=timezone.now())
    status, again = news(client, page)
    assert (status, asked(again)) == (286, "")
    assert "completed" in again
    assert asked(text_of(client.get(HERE))) == ""


def test_what_is_no_longer_kept_is_said_in_its_place(bank: Bank, people: People, as_user) -> None:
    row = make_operation(bank)
    client = as_user(people.viewer)
    page = text_of(client.get(HERE))
    row.delete()
    assert "It is no longer kept here." in news(client, page)[1]


def test_the_page_of_a_bank_has_it_read_at_once(bank: Bank, people: People, as_user) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        make_operation(bank)
        OperationLook.objects.update(look_after=timezone.now() + timedelta(minutes=5))
        clock.shift(30)
        client = as_user(people.viewer)
        page = text_of(client.get(f"{HERE}?bank={bank.pk}"))
        assert asked(page).startswith(f"{HERE}look/?bank={bank.pk}&rows=")
        answer = client.post(asked(page), headers=HTMX)
        assert (answer.status_code, "Reading …" in text_of(answer)) == (200, True)
        assert OperationLook.objects.get().look_after == timezone.now()
        assert asked(text_of(answer)).startswith(f"{HERE}?bank=")


def test_read_now_without_a_script(bank: Bank, people: People, as_user) -> None:
    other = factories.make_bank()
    long_ago = timezone.now() - timedelta(minutes=5)
    for each in (bank, other):
        make_operation(each)
    OperationLook.objects.update(looked_at=long_ago, look_after=timezone.now() + timedelta(minutes=5))
    answer = as_user(people.viewer).post(f"{HERE}look/?show=open")
    assert (answer.status_code, answer["Location"]) == (303, f"{HERE}?show=open")
    due = OperationLook.objects.filter(look_after__lte=timezone.now())
    assert [look.bank_id for look in due] == [bank.pk]  # only what this person may see
    assert as_user(people.viewer).get(f"{HERE}look/").status_code == 405


@pytest.mark.parametrize("query", ["rows=x-y.1.-..99999999999999999999-1&last=x", "rows=&last=-1", "rows=1&page=zzz"])
def test_nonsense_in_the_address_is_passed_over(query: str, bank: Bank, people: People, as_user) -> None:
    make_operation(bank)
    assert as_user(people.viewer).get(f"{HERE}?{query}", headers=HTMX).status_code == 200


def test_another_persons_rows_are_not_told(bank: Bank, people: People, as_user) -> None:
    row = make_operation(bank, document_id="secret-plan")
    answer = as_user(people.stranger).get(f"{HERE}?rows={row.pk}-0&last=0", headers=HTMX)
    assert "secret-plan" not in text_of(answer)
