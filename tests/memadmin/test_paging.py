from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from banks.models import Bank
from memadmin.paging import Cursor, Order, Shared, page_of
from reviews.models import ReviewEntry
from tests import factories

NOON = datetime(2026, 3, 16, 12, tzinfo=UTC)


@pytest.fixture
def entries(bank: Bank) -> list[ReviewEntry]:
    """Eleven rows: equal moments and missing ones among them."""
    moments = [NOON, NOON, NOON, None, NOON + timedelta(hours=1), None, NOON - timedelta(hours=1), None, NOON, None]
    return [factories.make_entry(bank, expires_at=moment) for moment in [*moments, NOON + timedelta(microseconds=1)]]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 10, 11])
def test_forwards_and_backwards_meet_every_row_once(entries: list[ReviewEntry], descending: bool, size: int) -> None:
    order = Order("expires_at", descending)
    pages, cursor = [], None
    while True:
        page = page_of(ReviewEntry.objects.all(), order, cursor, size)
        pages.append([row.pk for row in page.rows])
        if not page.later:
            break
        cursor = Cursor.parse(page.later)
    met = [pk for pks in pages for pk in pks]
    assert len(met) == len(set(met)) == len(entries)
    dates = [ReviewEntry.objects.get(pk=pk).expires_at for pk in met]
    assert dates[-4:] == [None] * 4
    assert dates[:7] == sorted(dates[:7], reverse=descending)
    back = []
    while page.earlier:
        page = page_of(ReviewEntry.objects.all(), order, Cursor.parse(page.earlier), size)
        back.append([row.pk for row in page.rows])
    assert back[::-1] == pages[: len(back)]
    assert len(back) == len(pages) - 1


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("size", [1, 4, 11])
def test_rows_that_are_read_range_by_range_come_in_the_same_order(
    bank: Bank, entries: list[ReviewEntry], descending: bool, size: int
) -> None:
    other = factories.make_bank()
    for state, moment in [("approved", NOON), ("deleted", NOON - timedelta(hours=2)), ("approved", None)]:
        factories.make_entry(other, state=state, expires_at=moment)
    factories.make_entry(factories.make_bank(), expires_at=NOON)
    order = Order("expires_at", descending)
    together = ReviewEntry.objects.filter(bank__in=[bank, other], state__in=["pending", "approved"])
    split = {"bank": [bank.pk, other.pk, 0], "state": ["pending", "approved"]}
    cursor, last = None, Cursor(None, 2**40)
    while True:
        whole = page_of(together, order, cursor, size)
        assert page_of(ReviewEntry.objects.all(), order, cursor, size, split) == whole
        if not whole.later:
            break
        cursor = Cursor.parse(whole.later)
    back = Cursor(last.value, last.pk, backwards=True)
    assert page_of(ReviewEntry.objects.all(), order, back, size, split) == page_of(together, order, back, size)
    assert page_of(ReviewEntry.objects.all(), order, None, size, {"bank": []}).rows == []


def test_a_page_backwards_is_never_short(entries: list[ReviewEntry]) -> None:
    order = Order("expires_at")
    first = page_of(ReviewEntry.objects.all(), order, None, 3)
    second = page_of(ReviewEntry.objects.all(), order, Cursor(first.rows[0].expires_at, first.rows[0].pk), 3)
    again = page_of(ReviewEntry.objects.all(), order, Cursor.parse(second.earlier), 3)
    assert [r.pk for r in again.rows] == [r.pk for r in first.rows]


@pytest.mark.parametrize(
    "text",
    ["", "a", "a~", "a~x~", "c~1~", "a~1~yesterday", "a~1~2026-13-45T00:00:00+00:00", "a~1~2026-03-16T12:00:00",
     "a~" + "9" * 40 + "~", "a~-1~", "a~²~", "'; drop table~1~", "a~1~\x00", "x" * 10_000],
)  # fmt: skip
def test_a_bad_cursor_is_no_cursor(text: str) -> None:
    assert Cursor.parse(text) is None


@pytest.mark.parametrize("cursor", [Cursor(None, 7), Cursor(NOON, 1, backwards=True)])
def test_a_cursor_survives_the_address(cursor: Cursor) -> None:
    assert Cursor.parse(str(cursor)) == cursor


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("size", [1, 2, 4, 9])
@pytest.mark.parametrize("field", ["project", "risk"])
def test_what_many_rows_share_orders_them_and_each_is_met_once(
    bank: Bank, field: str, size: int, descending: bool
) -> None:
    other, values = (
        factories.make_bank(),
        [("b", 2), ("", 0), ("a", 2), ("b", 0), ("Å", 3), ("a", 0), ("", 2), ("B", 3)],
    )
    for number, (project, risk) in enumerate(values):
        factories.make_entry([bank, other][number % 2], project=project, risk=risk)
    order = Shared(field, descending=descending and field == "risk", text=field == "project")
    split, rows, cursor = {"bank": [bank.pk, other.pk]}, ReviewEntry.objects.all(), None
    pages = []
    while True:
        page = page_of(rows, order, cursor, size)
        assert page_of(rows, order, cursor, size, split) == page
        pages.append(page.rows)
        if not page.later:
            break
        cursor = Cursor.parse(page.later)
    met = [row for rows in pages for row in rows]
    assert sorted(row.pk for row in met) == sorted(ReviewEntry.objects.values_list("pk", flat=True))
    if field == "project":
        assert [row.project for row in met[-2:]] == ["", ""]
        together = [row.project for row in met if row.project in "ab" and row.project]
        assert together == ["a", "a", "b", "b"]
    else:
        risks = [row.risk for row in met]
        assert risks == sorted(risks, reverse=order.descending)
        assert all(one.pk < next_.pk for one, next_ in pairwise(met) if one.risk == next_.risk)
    back = []
    while page.earlier:
        page = page_of(rows, order, Cursor.parse(page.earlier), size, split)
        back.append(page.rows)
    assert back[::-1] == pages[: len(back)]
    assert len(back) == len(pages) - 1


def test_a_row_that_is_gone_leads_to_the_beginning(bank: Bank) -> None:
    first = factories.make_entry(bank, project="a")
    page = page_of(ReviewEntry.objects.all(), Shared("project", text=True), Cursor(None, 10**9), 5)
    assert [row.pk for row in page.rows] == [first.pk]
