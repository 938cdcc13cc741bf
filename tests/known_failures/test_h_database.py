"""Many writers at once: nobody sees a locked database, and no lock is what keeps them apart."""

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from banks.models import Bank, Role, Write
from reviews.models import Decision, ReviewEntry
from reviews.services import decide
from tests import factories
from tests.conftest import People
from tests.known_failures.source import product_files
from tests.racing import at_once, refusals
from tests.reviews.pages import shown

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE, EACH = 8, 12


def test_row_083_eight_people_decide_at_once_and_nobody_sees_an_error_page(bank: Bank, monkeypatch: Any) -> None:
    def triage(number: int) -> Callable[[], list[int]]:
        user = factories.make_user(f"person-{number}")
        factories.grant(user, bank, Role.REVIEWER)
        client = Client(raise_request_exception=False)
        client.force_login(user)
        entries = [factories.make_entry(bank, f"{number}/{each}") for each in range(EACH)]

        def work() -> list[int]:
            answers = []
            for each, entry in enumerate(entries):
                act = ("approve", "delete", "edit")[each % 3]
                answer = client.post(f"/reviews/{entry.pk}/{act}/", {**shown(entry), "text": f"New {each}."})
                answers.append(answer.status_code)
                connection.close()  # as at the end of each request
            return answers

        return work

    results = at_once(*[triage(number) for number in range(PEOPLE)])
    assert results == [[303] * EACH] * PEOPLE
    assert Decision.objects.count() == Write.objects.count() == PEOPLE * EACH
    assert set(ReviewEntry.objects.values_list("version", flat=True)) == {2}


def test_row_083_reading_first_and_then_writing_waits_its_turn(bank: Bank) -> None:
    """What SQLite refuses at once in its default mode, whatever its timeout, when another writer commits between."""

    def read_and_write() -> None:
        for _ in range(25):
            with transaction.atomic():
                before = Bank.objects.get(pk=bank.pk).fact_count or 0
                Bank.objects.filter(pk=bank.pk).update(fact_count=before + 1)

    assert at_once(*[read_and_write] * 4) == [None] * 4


def test_row_083_the_modes_are_set_by_the_product_and_not_by_its_documents(bank: Bank) -> None:
    if connection.vendor != "sqlite":
        return  # PostgreSQL has no such lock
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert cursor.execute("PRAGMA busy_timeout").fetchone()[0] >= 5_000
    other = sqlite3.connect(str(connection.settings_dict["NAME"]), timeout=0, isolation_level=None)
    with transaction.atomic(), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")  # our transaction has the lock from its beginning
    other.close()


def test_row_084_nothing_rests_on_row_locks(bank: Bank, people: People) -> None:
    """Row locks do nothing on SQLite; the races of these tests run on a file, as people have it."""
    assert not [path for path, source in product_files() if "select_for_update" in source]
    assert connection.vendor != "sqlite" or "memory" not in str(connection.settings_dict["NAME"])


def test_row_084_of_twenty_at_once_one_decides_by_a_conditional_update(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank)
    seen = {"entry_id": entry.pk, **shown(entry)}
    results = at_once(*[lambda: decide.approve(user=people.owner, **seen) for _ in range(20)])  # type: ignore[arg-type]
    assert len(refusals(results)) == 19
    assert Decision.objects.count() == Write.objects.count() == 1
