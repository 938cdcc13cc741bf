from datetime import timedelta

import pytest
from django.utils import timezone

from banks.models import Bank, Role, Write
from reviews.models import Decision
from tests import factories
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of


def failed(bank: Bank, **values: object) -> Write:
    return Write.objects.create(
        **{"kind": "delete", "bank": bank, "via": "web", "state": "attention", "document_id": "a.md", **values}
    )


def test_it_says_what_is_waiting(bank: Bank, people: People, as_user) -> None:
    now = timezone.now()
    factories.make_entry(bank, "soon.md", expires_at=now + timedelta(hours=2, minutes=10, seconds=30))
    factories.make_entry(bank, "later.md", expires_at=now + timedelta(days=3), enqueued_at=now - timedelta(days=6))
    done = factories.make_entry(bank, state="approved", decided_via="expiry", decided_at=now)
    for user in (people.reviewer, people.owner):
        entry = factories.make_entry(bank, state="approved", decided_via="person", decided_at=now)
        Decision.objects.create(entry=entry, verdict="approved", decided_via="person", user=user, version=1)
    Decision.objects.create(entry=done, verdict="approved", decided_via="expiry", version=1)
    failed(bank, error_text="the server said no")
    page = text_of(as_user(people.reviewer).get("/"))
    assert "<b>2</b>" in page
    assert "oldest waits 6 d" in page
    assert "in 2 h 10 min" in page
    assert "soon.md" in page
    assert "the server said no" in page
    assert "1 by you, 1 by others, 1 by time" in page
    assert "unknown" in page  # facts nobody has counted are not zero


def test_nothing_of_other_peoples_banks_is_counted(bank: Bank, people: People, as_user) -> None:
    factories.make_entry(bank, "secret.md", expires_at=timezone.now())
    failed(bank)
    page = text_of(as_user(people.stranger).get("/"))
    assert "secret.md" not in page
    assert "checkout-service" not in page
    assert "No bank is shown to you yet" in page


def test_a_reader_sees_failed_writes_without_buttons(bank: Bank, people: People, as_user) -> None:
    failed(bank)
    page = text_of(as_user(people.viewer).get("/"))
    assert "in <bdi>Checkout service</bdi>" in page
    assert "/retry/" not in page
    assert "/retry/" in text_of(as_user(people.reviewer).get("/"))


@pytest.mark.parametrize("count", [1, 12])
def test_the_number_of_queries_does_not_grow(
    count: int, people: People, as_user, django_assert_max_num_queries
) -> None:
    for _ in range(count):
        bank = factories.make_bank()
        factories.grant(people.reviewer, bank, Role.REVIEWER)
        factories.make_entry(bank, expires_at=timezone.now())
        failed(bank)
    client = as_user(people.reviewer)
    with django_assert_max_num_queries(24):
        assert client.get("/").status_code == 200


def test_foreign_values_stay_values(people: People, as_user) -> None:
    bank = factories.make_bank(XSS, name=XSS, server=factories.make_server(name=XSS[:90], health="ok"))
    factories.grant(people.reviewer, bank, Role.REVIEWER)
    factories.make_entry(bank, XSS, text=XSS, expires_at=timezone.now())
    failed(bank, document_id=XSS, error_text=XSS)
    assert_harmless(text_of(as_user(people.reviewer).get("/")))
