"""The list of banks: what servers count, how old that is, sorted and paged at a constant cost."""

import html
import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import Bank, BankNumbers, Role
from banks.selectors_banks import SORTS
from tests import factories
from tests.banks.admin_pages import SignIn, get
from tests.banks.operations import make_operation
from tests.conftest import People
from tests.reviews.pages import Reader, assert_harmless, text_of

NOW = datetime(2026, 3, 16, 10, 0, tzinfo=UTC)


def counted(bank: Bank, *, documents: int = 1, **values: object) -> BankNumbers:
    now = timezone.now()
    counts = {"document_count": documents, "fact_count": 10 * documents, "retired_count": documents, "counted_at": now}
    Bank.objects.filter(pk=bank.pk).update(**counts)
    told = {"facts_by_type": {"world": 9 * documents, "observation": documents}, "backlog": documents, **values}
    return BankNumbers.objects.create(bank=bank, read_after=now + timedelta(minutes=5), **told)


def row_of(page: str, bank: Bank) -> str:
    """The row of the table as text, without its markup."""
    rows = [row for row in page.split("<tr")[1:] if bank.bank_id in row]
    assert len(rows) == 1
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", rows[0].split(">", 1)[1])))


def names_of(page: str) -> list[str]:
    return re.findall(r'title="(bank-\d+)"', page)


def next_of(page: str) -> str:
    found = re.search(r'rel="next" href="([^"]+)"', page)
    return html.unescape(found[1]) if found else ""


def test_what_was_never_read_is_unknown_and_not_nothing(bank: Bank, people: People, as_user: SignIn) -> None:
    page = text_of(get(as_user(people.viewer), "bank-list"))
    row = row_of(page, bank)
    assert row.count("unknown") >= 5
    assert "not read yet" in row
    assert "spark" not in page.split("<table")[1]


@time_machine.travel(NOW, tick=False)
def test_a_bank_stands_with_all_of_its_numbers(bank: Bank, people: People, as_user: SignIn) -> None:
    days = [0] * 12 + [3, 1]
    counted(bank, documents=1_234, last_write_at=NOW - timedelta(hours=3), days=days, days_to=NOW.date())
    for hours in (5, 50):
        factories.make_entry(bank, enqueued_at=NOW - timedelta(hours=hours))
    make_operation(bank, "failed")
    make_operation(bank, "processing", still_since=NOW - timedelta(days=1))
    page = text_of(get(as_user(people.viewer), "bank-list"))
    row = row_of(page, bank)
    for said in ("1,234", "12,340", "11,106 world", "1,234 observation", "3 h ago", "oldest 2 d 2 h", "1 stuck"):
        assert said in row, said
    assert "1 failed operation" in row
    assert "read just now" in row
    spark = [attributes for tag, attributes in Reader(page).elements if tag == "svg" and attributes["class"] == "spark"]
    assert [each["aria-label"] for each in spark] == ["New facts per day, 14 days; today 1"]
    assert_harmless(page)


def test_old_numbers_say_how_old_they_are_and_why(bank: Bank, people: People, as_user: SignIn) -> None:
    counted(bank, documents=7, error="Timeout: no answer <b>", days=[1] * 14, days_to=NOW.date())
    Bank.objects.update(counted_at=timezone.now() - timedelta(hours=3))
    page = text_of(get(as_user(people.viewer), "bank-list"))
    row = row_of(page, bank)
    for said in (" 7 ", "read 3 h ago", "could not be read", "Timeout: no answer <b>", "needs a look"):
        assert said in row, said
    assert_harmless(page)


@pytest.mark.parametrize(("days_later", "shown"), [(0, True), (1, True), (2, False), (-1, False)])
def test_a_chart_of_long_ago_is_not_shown_as_todays(
    bank: Bank, people: People, as_user: SignIn, days_later: int, shown: bool
) -> None:
    counted(bank, days=[2] * 14, days_to=NOW.date() - timedelta(days=days_later))
    with time_machine.travel(NOW, tick=False):
        page = text_of(get(as_user(people.viewer), "bank-list"))
    assert ('class="spark"' in page) is shown
    assert ("days unknown" in page) is not shown


@pytest.mark.parametrize("sort", ["documents", "facts", "retired", "backlog"])
def test_most_first_and_what_is_unknown_last(people: People, as_user: SignIn, sort: str) -> None:
    client, server = as_user(people.operator), factories.make_server()
    for number, documents in enumerate((5, None, 70, 5)):
        bank = factories.make_bank(f"bank-{number}", server=server)
        if documents is not None:
            counted(bank, documents=documents)
    page = text_of(get(client, "bank-list", sort=sort, q="bank-"))
    assert names_of(page) == ["bank-2", "bank-0", "bank-3", "bank-1"]
    assert 'aria-sort="descending"' in page


def test_sorted_by_what_waits_by_trouble_and_by_the_last_write(people: People, as_user: SignIn) -> None:
    client, server = as_user(people.operator), factories.make_server()
    banks = [factories.make_bank(f"bank-{number}", server=server) for number in range(3)]
    factories.make_entry(banks[1])
    make_operation(banks[2], "failed")
    counted(banks[0], last_write_at=NOW)
    counted(banks[1], last_write_at=NOW + timedelta(hours=1))
    for sort, first in (("pending", "bank-1"), ("troubled", "bank-2"), ("written", "bank-1")):
        assert names_of(text_of(get(client, "bank-list", sort=sort, q="bank-")))[0] == first, sort
    assert names_of(text_of(get(client, "bank-list", sort="x", q="bank-"))) == ["bank-0", "bank-1", "bank-2"]


def test_500_banks_cost_what_one_does_whatever_they_are_sorted_by(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    factories.grant(people.owner, bank.server, Role.VIEWER)
    counted(bank)
    get(client, "bank-list")
    queries = {}
    for sort in ("", *SORTS):
        with CaptureQueriesContext(connection) as few:
            get(client, "bank-list", sort=sort)
        queries[sort] = len(few)
    many = [
        Bank(server=bank.server, bank_id=f"bank-{number:03}", bank_hash=Bank.hash_of(f"bank-{number:03}"))
        for number in range(500)
    ]
    for each in Bank.objects.bulk_create(many)[::2]:
        counted(each)
        make_operation(each, "failed")
    for sort in ("", *SORTS):
        with CaptureQueriesContext(connection) as found:
            page = text_of(get(client, "bank-list", sort=sort))
        assert len(found) == queries[sort], sort
        assert "501" in page


@pytest.mark.parametrize("sort", ["", "documents", "written"])
def test_pages_have_each_bank_once_also_when_numbers_change_in_between(
    people: People, as_user: SignIn, sort: str
) -> None:
    client, server = as_user(people.operator), factories.make_server()
    for number in range(120):
        bank = factories.make_bank(f"bank-{number:03}", server=server)
        if number % 3:
            counted(bank, documents=number % 7, last_write_at=NOW + timedelta(days=number % 5))
    page = text_of(get(client, "bank-list", sort=sort, q="bank-"))
    seen, last = names_of(page), names_of(page)[-1]
    assert len(seen) == 50
    Bank.objects.filter(bank_id=last).update(document_count=10_000)  # where the page ended is no longer there
    while address := next_of(page):
        page = text_of(client.get(address))
        seen += names_of(page)
    assert sorted(seen) == [f"bank-{number:03}" for number in range(120)]


def test_what_no_page_leads_to_is_the_first_page(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    for after in ("x", "-1~3", "1~-5", "9" * 40, "٣~1", "1~x", "~", "\x00"):
        for sort in ("", "documents", "pending"):
            assert "Checkout service" in text_of(get(client, "bank-list", after=after, sort=sort)), (after, sort)
