"""What the log page reads must not grow with the log: each question is a few ranges of indexes, on both databases."""

import re
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import quote
from uuid import uuid4

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from banks.log_filters import LogFilters
from banks.models import Bank, Role, Unindexed, Write, WriteFact
from banks.selectors_log import PAGE_SIZE, write_page
from tests import factories
from tests.banks.log_rows import make_row
from tests.conftest import People
from tests.plans import Plans

TABLES = (Write, WriteFact, Unindexed)
# What these find is fetched by its ids, and sorted.
BY_ID = ("q", "fact", "group", "document")
READ_WHOLE = r"SCAN banks_write(fact)?\b|Seq Scan on banks_write(fact)?\b"
# All that there is, or nearly all: read in the order of the list, as far as the page needs.
IN_ORDER = (LogFilters(), LogFilters(state="done"))


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    """The middle of a day: all rows are of it."""
    with time_machine.travel(timezone.localtime().replace(hour=12), tick=False):
        yield


@pytest.fixture
def desk(bank: Bank, people: People) -> list[Write]:
    """Three banks, one of which the reviewer does not see; every kind of row."""
    now, other, hidden = timezone.now(), factories.make_bank(), factories.make_bank()
    factories.grant(people.reviewer, other, Role.REVIEWER)
    states = ["done", "attention", "queued", "unknown", "cancelled", "retrying", "done", "done"]
    return [
        make_row(
            home,
            f"doc-{number % 7}",
            indexed=number > 110,
            occurred_at=now - timedelta(minutes=number),
            kind=["edit", "retire", "approve"][number % 3],
            via=["web", "expiry", "import"][number % 3],
            actor=[people.reviewer, people.owner, None][number % 3],
            state=states[number % 8],
            slot=str(number),
            fact_ids=[f"f{number % 5}"],
            group=uuid4() if number % 10 == 0 else None,
        )
        for number, home in enumerate([bank, other, hidden] * 40)
    ]


def questions(rows: list[Write], people: People) -> list[LogFilters]:
    day, bank = timezone.localdate().isoformat(), str(rows[0].bank_id)
    alone = [
        *(LogFilters(), LogFilters(bank=bank), LogFilters(kind="edit"), LogFilters(via="expiry")),
        *(LogFilters(who="me"), LogFilters(who=str(people.owner.pk)), LogFilters(since=day, until=day)),
        *(LogFilters(state=state) for state in ("attention", "flight", "unknown", "retrying", "done", "cancelled")),
        *(
            LogFilters(document="doc-1"),
            LogFilters(fact="f1"),
            LogFilters(group=str(rows[0].group)),
            LogFilters(q="doc"),
        ),
    ]
    in_one = [{"kind": "edit"}, {"via": "expiry"}, {"who": "me"}, {"state": "attention"}, {"document": "doc-1"}]
    together = [
        *(LogFilters(kind="edit", state="attention"), LogFilters(kind="edit", state="done")),
        *(
            LogFilters(kind="edit", via="web"),
            LogFilters(kind="retire", since=day),
            LogFilters(state="flight", until=day),
        ),
        *(LogFilters(who="me", kind="edit"), LogFilters(q="doc", fact="f2", kind="edit")),
        *(LogFilters(bank=bank, **more) for more in in_one),
    ]
    return [*alone, *together]


@pytest.mark.parametrize("who", ["reviewer", "operator"])
def test_no_question_reads_the_log_or_sorts_it(desk: list[Write], people: People, as_user, who: str) -> None:
    user = getattr(people, who)
    client, read = as_user(user), 0
    for filters in questions(desk, people):
        later = write_page(filters.listed(user), None, size=2).later
        for page in [filters.query(), *([f"{filters.query() or '?'}&page={quote(later)}"] if later else [])]:
            plans = Plans(TABLES)
            with connection.execute_wrapper(plans):
                assert client.get(f"/log/{page}").status_code == 200
            read += len(plans.found)
            for sql, plan in plans.found:
                assert not re.search(READ_WHOLE, plan) or filters in IN_ORDER, (filters, sql, plan)
                if f"LIMIT {PAGE_SIZE + 1}" in sql and not any(getattr(filters, name) for name in BY_ID):
                    assert not re.search(r"TEMP B-TREE|Sort", plan), (filters, sql, plan)
    assert read > 150


def test_the_number_of_queries_is_the_same_for_every_question(
    desk: list[Write], people: People, as_user, django_assert_max_num_queries
) -> None:
    client = as_user(people.operator)
    for filters in questions(desk, people):
        with django_assert_max_num_queries(20):
            client.get(f"/log/{filters.query()}")
