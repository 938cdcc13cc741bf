"""Where memories come from, and the choice to review what a bank held before."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import Bank, Job
from tests import factories
from tests.conftest import People
from tests.reviews.pages import text_of

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Client]


def test_each_bank_says_when_it_was_looked_at(bank: Bank, people: People, as_user: SignIn) -> None:
    Bank.objects.filter(pk=bank.pk).update(polled_at=timezone.now(), watermark=timezone.now())
    other = factories.make_bank("hidden-from-mira", poll_error="Refused <script>")
    page = text_of(as_user(people.reviewer).get("/sources/"))
    assert "just now" in page
    assert "30 min" in page
    assert other.bank_id not in page
    page = text_of(as_user(people.operator).get("/sources/"))
    assert "Refused &lt;script&gt;" in page


def test_an_admin_has_the_last_days_reviewed(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    assert 'value="7" selected' in text_of(client.get("/sources/"))
    assert client.post(f"/sources/{bank.pk}/look-back/", {"span": "7"}).status_code == 303
    job = Job.objects.get()
    assert (job.kind, job.owner, job.params["bank"]) == ("look-back", people.owner, bank.pk)
    assert "waiting for a worker" in text_of(client.get("/sources/"))
    client.post(f"/sources/{bank.pk}/look-back/", {"span": "all"})
    assert Job.objects.count() == 1  # one at a time


def test_the_progress_is_asked_for_until_it_has_ended(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    client.post(f"/sources/{bank.pk}/look-back/", {"span": "all"})
    poll = client.get("/sources/", headers={"HX-Request": "true"})
    assert poll.status_code == 200
    assert 'hx-trigger="every 2s"' in text_of(poll)
    Job.objects.update(state="done", finished=timezone.now(), result={"new": 1234, "changed": 0})
    last = client.get("/sources/", headers={"HX-Request": "true"})
    assert last.status_code == 286
    assert "hx-trigger" not in text_of(last)
    assert "1,234 new" in text_of(last)


@pytest.mark.parametrize("span", ["", "8", "-1", "all; drop"])
def test_a_span_nobody_offered_starts_nothing(span: str, bank: Bank, people: People, as_user: SignIn) -> None:
    assert as_user(people.owner).post(f"/sources/{bank.pk}/look-back/", {"span": span}).status_code == 303
    assert not Job.objects.exists()


def test_who_is_no_admin_starts_nothing(bank: Bank, people: People, as_user: SignIn) -> None:
    url = f"/sources/{bank.pk}/look-back/"
    assert as_user(people.reviewer).post(url, {"span": "7"}).status_code == 403
    assert as_user(people.stranger).post(url, {"span": "7"}).status_code == 404
    assert as_user(people.owner).get(url).status_code == 405
    assert not Job.objects.exists()


def test_a_bank_nobody_can_address_and_one_that_is_gone_offer_nothing(people: People, as_user: SignIn) -> None:
    factories.make_bank("org/user")
    factories.make_bank("left", gone_since=timezone.now())
    page = text_of(as_user(people.operator).get("/sources/"))
    assert "cannot be addressed" in page
    assert "bank gone" in page
    assert page.count('name="span"') == 1  # the bank of the fixture


def test_the_page_asks_as_often_for_many_banks(people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get("/sources/")
        return len(queries)

    asked()  # the first request of a process asks for more
    few = asked()
    for _ in range(30):
        factories.make_bank()
    assert asked() == few
