"""Looking back over lists that lie, and over what the regular look will never bring."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine

from banks import connections, jobs
from banks.models import Bank, Job
from reviews.models import ReviewEntry
from reviews.services import look_back
from tests.banks.conftest import NOW
from tests.conftest import People
from tests.reviews.lying import Lists

pytestmark = pytest.mark.django_db(transaction=True)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def lists(clock: time_machine.Traveller, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> Lists:
    monkeypatch.setattr(look_back, "PAGE", 4)
    monkeypatch.setattr(look_back, "STEP_BACK", 2)
    lists = Lists(bank, {f"n{number}": (NOW - 2 * HOUR, f"hash {number}") for number in range(11)})
    monkeypatch.setitem(connections.TRANSPORTS, bank.server.base_url, lists)
    return lists


def run(bank: Bank, people: People) -> Job:
    job = look_back.start(user=people.owner, bank_id=bank.pk, days=None)
    jobs.run(job.pk)
    job.refresh_from_db()
    return job


@pytest.mark.parametrize("wrong", [{}, {"total": 0}, {"total": 1_000}, {"cap": 2}, {"cap": 1}])
def test_whatever_the_total_and_the_pages_are_all_are_met_once(
    bank: Bank, people: People, lists: Lists, wrong: dict[str, int]
) -> None:
    for name, value in wrong.items():
        setattr(lists, name, value)
    assert run(bank, people).result == {"new": 11, "changed": 0}


@pytest.mark.parametrize("wrong", ["ignores_offset", "endless"])
def test_a_list_without_an_end_ends_the_job(
    bank: Bank, people: People, lists: Lists, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setattr(look_back, "MOST", 30)
    lists.total = 1_000_000
    setattr(lists, wrong, True)
    job = run(bank, people)
    assert (job.state, "does not end" in job.error) == (Job.State.FAILED, True)


@pytest.mark.parametrize(
    ("watermark", "polled", "met"),
    [
        (NOW - HOUR, True, False),  # the regular look brings it once it is quiet
        (NOW - MINUTE, True, True),  # written before the first look: nobody else brings it
        (NOW - HOUR, False, True),
        (None, True, True),
    ],
)
def test_what_is_still_being_written_is_left_to_the_regular_look_if_that_will_bring_it(
    bank: Bank, people: People, lists: Lists, watermark: object, polled: bool, met: bool
) -> None:
    Bank.objects.filter(pk=bank.pk).update(watermark=watermark, polled=polled)
    lists.documents["young"] = (NOW - 5 * MINUTE, "a")
    run(bank, people)
    assert ReviewEntry.objects.filter(document_id="young").exists() is met
