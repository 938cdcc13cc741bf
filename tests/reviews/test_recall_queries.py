"""The pages of the recall desk ask the database a constant number of times, and no server."""

from typing import Any

import pytest

from banks.models import Bank, RecallCheck
from banks.recall import saving
from tests.banks.conftest import LyingTransport, line, store
from tests.banks.recalling import recall
from tests.conftest import People

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("count", [1, 20])
def test_the_number_of_queries_does_not_grow(
    bank: Bank, people: People, as_user: Any, line: LyingTransport, django_assert_max_num_queries: Any, count: int
) -> None:
    text = " ".join(f"Zoe{number} keeps ledger {number}." for number in range(count - 1))
    store(bank, "more", text or "Nobody.")
    client, job = as_user(people.reviewer), recall(people.reviewer, bank, lines=5, types=("world",))
    for number in range(count):
        saving.save(user=people.reviewer, job=job, name=f"Query {number}", picks=range(1, count + 1))
    check = RecallCheck.objects.latest("pk")
    assert check.expected.count() == count
    check.expected.update(place=None)
    line.calls.clear()
    limits = {
        f"/banks/{bank.pk}/recall/": 11,
        f"/recall/queries/{job.pk}/": 18,
        f"/recall/checks/{check.pk}/": 12,
        "/recall/checks/": 9,
    }
    for address, limit in limits.items():
        with django_assert_max_num_queries(limit):
            assert client.get(address).status_code == 200
    assert line.calls == []
