"""Two people at the same instant, where two have to approve: neither approval is lost, and one person is never two."""

from functools import partial

import pytest

from banks.models import Bank, RetainItem, Write
from reviews.errors import Conflict
from reviews.models import Decision, ReviewEntry
from reviews.services import decide
from tests import factories
from tests.conftest import People
from tests.racing import ROUNDS, at_once, refusals
from tests.reviews.holding import held, item_of
from tests.reviews.undoing import act

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two(bank: Bank) -> Bank:
    Bank.objects.update(two_reviewers=True)
    bank.refresh_from_db()
    return bank


def shown(entry: ReviewEntry) -> dict[str, object]:
    return {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}


def verdicts(entry: ReviewEntry) -> list[str]:
    return list(entry.decisions.order_by("pk").values_list("verdict", flat=True))


def test_of_two_at_once_one_is_the_first_and_one_the_second(two: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(two)
        results = at_once(
            partial(decide.approve, user=people.owner, **shown(entry)),
            partial(decide.approve, user=people.reviewer, **shown(entry)),
        )
        assert refusals(results) == []
        entry.refresh_from_db()
        assert (entry.state, verdicts(entry)) == ("approved", ["vouched", "approved"])


def test_one_person_in_two_tabs_stays_one(two: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(two)
        results = at_once(*[partial(decide.approve, user=people.owner, **shown(entry)) for _ in range(2)])
        assert len(refusals(results)) == 1
        entry.refresh_from_db()
        assert (entry.state, verdicts(entry)) == ("pending", ["vouched"])


def test_taking_back_and_completing_exclude_each_other(two: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(two)
        act("approve", people.owner, entry)
        taken_back, second = at_once(
            partial(decide.undo, user=people.owner, entry_id=entry.pk, version=entry.version),
            partial(decide.approve, user=people.reviewer, **shown(entry)),
        )
        entry.refresh_from_db()
        if isinstance(second, Conflict):
            assert (entry.state, verdicts(entry)) == ("pending", ["vouched", "withdrawn"])
        else:
            assert (entry.state, verdicts(entry)) == ("approved", ["vouched", "approved"])
            assert isinstance(taken_back, Conflict)


def test_what_is_held_is_released_once(two: Bank, people: People) -> None:
    for number in range(ROUNDS):
        (entry,) = held(people.owner, two, f"Memory {number}.")
        everybody = (people.owner, people.reviewer, people.operator)
        results = at_once(*[partial(decide.approve, user=each, **shown(entry)) for each in everybody])
        assert len(refusals(results)) == 1
        entry.refresh_from_db()
        assert (entry.state, item_of(entry).state) == ("approved", RetainItem.State.QUEUED)
        assert Decision.objects.filter(entry=entry, verdict="approved").count() == 1
        assert Write.objects.filter(document_id=entry.document_id, kind="approve").count() == 1
