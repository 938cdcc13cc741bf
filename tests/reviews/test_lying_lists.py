"""Lists of documents that do not say what they should: nothing is lost, and nobody looks for ever."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import time_machine

from banks import connections
from banks.models import Bank
from reviews.models import ReviewEntry
from reviews.services import poll
from tests import factories
from tests.banks.conftest import NOW
from tests.reviews.lying import Lists

pytestmark = pytest.mark.django_db(transaction=True)
State, Load = ReviewEntry.State, ReviewEntry.Load
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def lists(clock: time_machine.Traveller, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> Lists:
    """Looked at for the first time an hour ago, when it held one document."""
    monkeypatch.setattr(poll, "PAGE", 2)
    Bank.objects.filter(pk=bank.pk).update(watermark=NOW - HOUR, walked_at=NOW, polled_at=NOW)
    lists = Lists(bank, {"old": (NOW - HOUR - poll.OVERLAP, "hash of old")})
    monkeypatch.setitem(connections.TRANSPORTS, bank.server.base_url, lists)
    return lists


def look(bank: Bank) -> str:
    Bank.objects.filter(pk=bank.pk).update(poll_after=NOW - timedelta(days=1))
    word = poll.poll(bank.pk)
    bank.refresh_from_db()
    return word


def opened() -> set[str]:
    return set(ReviewEntry.objects.values_list("document_id", flat=True))


def five(at: datetime) -> dict[str, tuple[datetime, str]]:
    return {f"n{number}": (at, f"hash {number}") for number in range(5)}


def test_a_total_that_is_too_small_hides_nothing(bank: Bank, lists: Lists) -> None:
    lists.documents |= five(NOW - 40 * MINUTE)
    lists.total = 1
    assert look(bank) == "5 new, 0 changed"


@pytest.mark.parametrize("wrong", [{"ignores_offset": True}, {"endless": True}])
def test_a_list_without_an_end_is_said_and_keeps_the_watermark(
    bank: Bank, lists: Lists, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, bool]
) -> None:
    monkeypatch.setattr(poll, "MOST_PAGES", 20)
    lists.documents |= five(NOW - 40 * MINUTE)
    for name in wrong:
        setattr(lists, name, True)
    assert look(bank) == "failed"
    assert bank.watermark == NOW - HOUR
    assert "list of documents" in bank.poll_error
    assert len(lists.claims) <= 20


def test_a_server_whose_clock_is_ahead_settles_by_its_own_clock(bank: Bank, lists: Lists) -> None:
    lists.ahead = 3 * HOUR
    lists.documents |= {"young": (NOW + 3 * HOUR - MINUTE, "a"), "quiet": (NOW + 3 * HOUR - 31 * MINUTE, "b")}
    look(bank)
    assert opened() == {"quiet"}
    assert bank.watermark == NOW + 3 * HOUR - 31 * MINUTE


def test_a_server_whose_clock_was_put_back_is_heard_again(
    bank: Bank, lists: Lists, clock: time_machine.Traveller
) -> None:
    Bank.objects.filter(pk=bank.pk).update(watermark=NOW + 5 * HOUR)
    look(bank)
    lists.documents["now"] = (NOW + MINUTE, "a")
    clock.shift(32 * MINUTE)
    look(bank)
    assert opened() == {"now"}


def test_a_time_that_cannot_be_hides_neither_its_document_nor_others(
    bank: Bank, lists: Lists, clock: time_machine.Traveller
) -> None:
    lists.documents["absurd"] = (datetime(9998, 12, 31, tzinfo=NOW.tzinfo), "a")
    assert look(bank) == "1 new, 0 changed"
    lists.documents["new"] = (NOW, "b")
    clock.shift(31 * MINUTE)
    assert look(bank) == "1 new, 0 changed"
    assert bank.watermark == NOW


def test_a_bank_that_begins_with_a_time_that_cannot_be(bank: Bank, lists: Lists, clock: time_machine.Traveller) -> None:
    lists.documents["absurd"] = (datetime(9998, 12, 31, tzinfo=NOW.tzinfo), "a")
    Bank.objects.filter(pk=bank.pk).update(watermark=None)
    assert look(bank) == "watermark set"
    lists.documents["new"] = (NOW + 10 * MINUTE, "b")
    clock.shift(41 * MINUTE)
    look(bank)
    assert "new" in opened()


def test_the_walk_finds_texts_that_changed_past_the_watermark(bank: Bank, lists: Lists) -> None:
    changed = factories.make_entry(bank, "old", content_hash="another hash", state=State.APPROVED)
    same = factories.make_entry(bank, "same", content_hash="hash of same", state=State.APPROVED)
    live = factories.make_entry(bank, "live", content_hash="another hash")
    lists.documents |= {"same": (NOW - 2 * HOUR, "hash of same"), "live": (NOW - MINUTE, "hash of live")}
    _walk(bank)
    assert _wanted() == {changed.pk}
    assert {same.pk, live.pk}.isdisjoint(_wanted())


@pytest.mark.parametrize("state", [State.PENDING, State.APPROVED])
def test_what_was_missing_and_is_listed_again_is_looked_at(bank: Bank, lists: Lists, state: State) -> None:
    entry = factories.make_entry(bank, "old", load_state=Load.MISSING, state=state)
    _walk(bank)
    assert _wanted() == {entry.pk}


def test_a_walk_that_fails_says_so_and_takes_nothing_back(bank: Bank, lists: Lists) -> None:
    lists.documents |= {
        "new": (NOW - 40 * MINUTE, "a"),
        "older": (NOW - 3 * HOUR, "b"),
        "oldest": (NOW - 4 * HOUR, "c"),
    }
    lists.fails_from = 2
    _walk(bank)
    assert (bank.watermark, opened()) == (NOW - 40 * MINUTE, {"new"})
    assert "boom" in bank.poll_error or "500" in bank.poll_error
    assert all(lists.claims)  # nobody else looks meanwhile
    assert bank.poll_claimed_until is None


def _walk(bank: Bank) -> None:
    Bank.objects.filter(pk=bank.pk).update(walked_at=NOW - 2 * HOUR)
    ReviewEntry.objects.update(created=NOW - HOUR)
    look(bank)


def _wanted() -> set[int]:
    return set(ReviewEntry.objects.exclude(load_after=None).values_list("pk", flat=True))


@pytest.mark.parametrize(("minutes", "met"), [(1e300, set()), (-5, {"new"}), (0, {"new"})])
def test_any_settle_time_can_be_looked_with(
    bank: Bank, lists: Lists, monkeypatch: pytest.MonkeyPatch, minutes: float, met: set[str]
) -> None:
    monkeypatch.setattr("django.conf.settings.SETTLE_MINUTES", minutes)
    lists.documents["new"] = (NOW, "a")
    look(bank)
    assert (opened(), bank.poll_error) == (met, "")
