"""Several people and the clock on one memory: exactly one decision, and the log says the same as the queue."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.utils import timezone

from banks.models import Bank, Write
from reviews.errors import Conflict, NotDecided
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, expiry
from tests import factories
from tests.conftest import People
from tests.racing import ROUNDS, at_once, refusals

pytestmark = pytest.mark.django_db(transaction=True)
State = ReviewEntry.State
Act = Callable[..., object]

THREADS, DECISIONS = 8, 50
edit = partial(decide.edit, new_text="Another text.")


def shown(entry: ReviewEntry) -> dict[str, object]:
    return {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}


def due(bank: Bank) -> ReviewEntry:
    """An entry whose time is over."""
    return factories.make_entry(bank, expires_at=timezone.now() - timedelta(minutes=1))


def check_one_decision(entry: ReviewEntry) -> Decision:
    """One decision, one row in the log, and the state that belongs to both."""
    decision = Decision.objects.get(entry=entry)
    write = Write.objects.get(document_id=entry.document_id)
    entry.refresh_from_db()
    assert decision.write == write
    assert (write.kind, entry.state) == {
        "approved": ("approve", State.APPROVED),
        "deleted": ("delete", State.DELETING),
        "edited": ("edit", State.PENDING),
    }[decision.verdict]
    assert entry.version == decision.version + 1
    return decision


def test_of_three_people_exactly_one_decides(bank: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(bank)
        results = at_once(
            partial(decide.approve, user=people.owner, **shown(entry)),
            partial(decide.delete, user=people.reviewer, **shown(entry)),
            partial(edit, user=people.operator, **shown(entry)),
        )
        decision = check_one_decision(entry)
        assert len(refusals(results)) == 2, results
        for lost in refusals(results):
            assert not isinstance(lost, Conflict) or lost.winner == decision.user_name


@pytest.mark.parametrize("act", [decide.approve, decide.delete, edit], ids=["approve", "delete", "edit"])
def test_a_double_click_is_one_decision(bank: Bank, people: People, act: Act) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(bank)
        click = partial(act, user=people.reviewer, **shown(entry))
        assert len(refusals(at_once(click, click))) == 1
        check_one_decision(entry)


@pytest.mark.parametrize("act", [decide.approve, decide.delete], ids=["approve", "delete"])
def test_of_two_undos_one_takes_back(bank: Bank, people: People, act: Act) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(bank)
        act(user=people.reviewer, **shown(entry))
        undo = partial(decide.undo, user=people.reviewer, entry_id=entry.pk)
        assert len(refusals(at_once(undo, undo))) == 1
        entry.refresh_from_db()
        assert (entry.state, entry.version) == (State.PENDING, 3)
        assert Decision.objects.filter(entry=entry, verdict="reopened").count() == 1
        assert Write.objects.filter(document_id=entry.document_id, kind="undo").count() == 1


def test_a_document_is_put_back_once(bank: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(bank)
        deletion = decide.delete(user=people.reviewer, **shown(entry))  # type: ignore[arg-type]
        Write.objects.filter(pk=deletion.pk).update(state=Write.State.DONE)
        ReviewEntry.objects.filter(pk=entry.pk).update(state=State.DELETED)
        press = partial(decide.put_back, user=people.reviewer, write_id=deletion.pk)
        assert len(refusals(at_once(press, press))) == 1
        assert Write.objects.filter(document_id=entry.document_id, kind="put-back").count() == 1


@pytest.mark.parametrize("act", [decide.approve, decide.delete, edit], ids=["approve", "delete", "edit"])
def test_person_or_time_decides_never_both(bank: Bank, people: People, act: Act) -> None:
    for _ in range(ROUNDS):
        entry = due(bank)
        (decided, expired) = at_once(partial(act, user=people.reviewer, **shown(entry)), expiry.run)
        decision = check_one_decision(entry)
        by_time = decision.decided_via == Decision.Via.EXPIRY
        assert by_time == isinstance(decided, NotDecided)
        assert by_time == (expired.count == 1)  # type: ignore[attr-defined]
        assert Write.objects.get(document_id=entry.document_id).via == ("expiry" if by_time else "web")


def test_two_sweeps_approve_each_memory_once(bank: Bank) -> None:
    for _ in range(ROUNDS):
        entries = [due(bank) for _ in range(3)]
        both = at_once(expiry.run, expiry.run)
        assert sum(each.count for each in both) == len(entries)  # type: ignore[attr-defined]
        for entry in entries:
            assert check_one_decision(entry).decided_via == Decision.Via.EXPIRY


def test_many_people_at_once_meet_no_error(bank: Bank, people: People) -> None:
    acts = [decide.approve, decide.delete, edit]

    def person(entries: list[ReviewEntry]) -> None:
        for number, entry in enumerate(entries):
            acts[number % len(acts)](user=people.reviewer, **shown(entry))  # type: ignore[operator]
            connection.close()  # as at the end of a request

    work = [[factories.make_entry(bank) for _ in range(DECISIONS)] for _ in range(THREADS)]
    at_once(*(partial(person, entries) for entries in work))
    for entries in work:
        for entry in entries:
            check_one_decision(entry)
