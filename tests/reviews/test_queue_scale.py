"""What a page reads must not grow with the queue: ranges of indexes, and counts that stop."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from banks.models import Bank, Role, Write
from reviews.models import Decision, ReviewEntry
from reviews.selectors import overview, queue
from reviews.selectors.filters import STATES
from tests import factories
from tests.conftest import People
from tests.plans import Plans
from tests.reviews.pages import text_of

TABLES = (ReviewEntry, Write, Decision)
ADDRESSES = [
    "/",
    "/reviews/?order=oldest",
    "/reviews/?order=newest",
    *[f"/reviews/?order={order}" for order in ("risk", "bank", "project", "session")],
    *[f"/reviews/?state={state}" for state in STATES],
]


@pytest.fixture(autouse=True)
def noon() -> Iterator[datetime]:
    """The middle of a day."""
    now = timezone.localtime().replace(hour=12)
    with time_machine.travel(now, tick=False):
        yield now


@pytest.fixture
def desk(bank: Bank, people: People) -> list[ReviewEntry]:
    """Three banks, one of which the reviewer does not see; every kind of row, some of it long ago."""
    now = timezone.now()
    other, hidden = factories.make_bank(), factories.make_bank()
    factories.grant(people.reviewer, other, Role.REVIEWER)
    made = []
    for number, home in enumerate([bank, other, hidden] * 10):
        at = now - timedelta(minutes=number)
        decided = {"state": ["approved", "deleted"][number % 2], "decided_at": at, "decided_via": "person"}
        special = [{"danger": True}, {"load_state": "missing"}, {"reopened_because": "changed"}, {"fact_count": 0}, {}]
        values = decided if number % 4 == 0 else special[number % 5]
        made.append(factories.make_entry(home, expires_at=at + timedelta(days=1), enqueued_at=at, **values))
        if values is decided:
            Decision.objects.create(
                entry=made[-1], verdict="approved", decided_via="person", user=people.reviewer, version=1, at=at
            )
    return made


@pytest.mark.parametrize("who", ["reviewer", "operator"])
def test_no_page_reads_a_table_or_sorts_a_list(desk: list[ReviewEntry], people: People, as_user, who: str) -> None:
    client, plans = as_user(getattr(people, who)), Plans(TABLES)
    later = queue.entry_page(getattr(people, who), queue.Filters(), None, size=3).later
    for address in [*ADDRESSES, f"/reviews/?page={later}", f"/reviews/{desk[1].pk}/"]:
        with connection.execute_wrapper(plans):
            assert client.get(address).status_code == 200, address
    assert len(plans.found) > 100
    names = "|".join(model._meta.db_table for model in TABLES)
    for sql, plan in plans.found:
        if "WHERE" in sql:  # the newest number of all is found without one
            assert not re.search(rf"SCAN ({names})\b|Seq Scan on ({names})\b", plan), (sql, plan)
        if f"LIMIT {queue.PAGE_SIZE + 1}" in sql:
            assert not re.search(r"TEMP B-TREE|Sort  \(", plan), (sql, plan)


@pytest.fixture
def small_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in [(queue, "CAP"), (queue, "TAB_CAP"), (overview, "TAB_CAP"), (overview, "BANK_CAP")]:
        monkeypatch.setattr(module, name, 3)


def test_counts_stop_and_say_so(desk: list[ReviewEntry], people: People, as_user, small_caps: None) -> None:
    client = as_user(people.operator)
    assert "3+ pending" in text_of(client.get("/reviews/"))
    page = text_of(client.get("/"))
    assert page.count('data-label="Pending">3+') == 3
    assert "<b>3+</b><span>auto-approved in 24 h" in page
    seen = queue.today(people.operator)
    assert seen.capped
    assert "+</b> team" in text_of(client.get("/reviews/"))


def test_what_was_decided_today_is_counted_once_and_by_whom(bank: Bank, people: People, noon: datetime) -> None:
    for via, user in [("person", people.reviewer), ("person", people.owner), ("expiry", None), ("file", None)]:
        entry = factories.make_entry(bank, state="approved", decided_via=via, decided_at=noon)
        for _ in range(2):
            Decision.objects.create(entry=entry, verdict="approved", decided_via=via, user=user, version=1, at=noon)
    yesterday = noon - timedelta(days=1)
    old = factories.make_entry(bank, state="approved", decided_via="person", decided_at=yesterday)
    taken_back = factories.make_entry(bank)
    for entry, at in [(old, yesterday), (taken_back, noon)]:
        Decision.objects.create(
            entry=entry, verdict="approved", decided_via="person", user=people.reviewer, version=1, at=at
        )
    assert queue.today(people.reviewer) == queue.Today(mine=1, others=1, by_time=1, claimed=1)
    assert queue.today(people.stranger).total == 0


def test_the_chart_counts_memories_by_day(bank: Bank, people: People, noon: datetime) -> None:
    for days in (0, 0, 1, 13, 14):
        factories.make_entry(bank, enqueued_at=noon - timedelta(days=days), state="approved")
    factories.make_entry(bank, enqueued_at=None)
    (row,) = overview.overview(people.reviewer).banks
    assert row.days == [1, *[0] * 11, 1, 2]
    factories.make_entry(bank, enqueued_at=noon)
    assert overview.overview(people.reviewer).banks[0].days[-1] == 2  # as it was at most five minutes ago
    cache.clear()
    assert overview.overview(people.reviewer).banks[0].days[-1] == 3


def test_the_selects_offer_what_the_newest_memories_of_each_bank_have(bank: Bank, people: People) -> None:
    other = factories.make_bank()
    factories.grant(people.reviewer, other, Role.VIEWER)
    factories.make_entry(bank, project="b", reason="idle")
    factories.make_entry(other, project="a", reason="")
    factories.make_entry(bank, project="done", state="approved")
    factories.make_entry(factories.make_bank(), project="hidden")
    offered = queue.options(people.reviewer)
    assert (offered.projects, offered.reasons) == (["a", "b"], ["idle"])
    assert queue.options(people.stranger).projects == []
    assert "hidden" in queue.options(people.operator).projects
