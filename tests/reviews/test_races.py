"""Two people on one memory: exactly one decision, and the log says the same as the queue."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection
from kombu.exceptions import OperationalError

from banks import tasks
from banks.models import Bank, Write
from banks.writes import worker
from reviews.errors import Conflict, NotDecided
from reviews.models import Decision, ReviewEntry
from reviews.services import decide
from tests import factories
from tests.conftest import People

ROUNDS = 10


def at_once(*acts: Callable[[], object]) -> list[object]:
    """Runs the acts in threads released together. Gives back what each returned or was refused with."""
    barrier = threading.Barrier(len(acts))
    results: list[object] = [None] * len(acts)

    def run(number: int, act: Callable[[], object]) -> None:
        try:
            barrier.wait(timeout=20)
            results[number] = act()
        except NotDecided as refused:
            results[number] = refused
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number, act)) for number, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return results


@pytest.mark.django_db(transaction=True)
def test_of_two_people_exactly_one_decides(bank: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(bank)
        shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
        results = at_once(
            lambda shown=shown: decide.approve(user=people.owner, **shown),  # type: ignore[misc]
            lambda shown=shown: decide.delete(user=people.reviewer, **shown),  # type: ignore[misc]
            lambda shown=shown: decide.edit(user=people.operator, new_text="Another text.", **shown),  # type: ignore[misc]
        )
        refused = [result for result in results if isinstance(result, NotDecided)]
        assert len(refused) == 2, results
        assert Decision.objects.filter(entry=entry).count() == 1
        assert Write.objects.filter(document_id=entry.document_id).count() == 1
        verdict = Decision.objects.get(entry=entry).verdict
        entry.refresh_from_db()
        assert {"approved": "approved", "deleted": "deleting", "edited": "pending"}[verdict] == entry.state


@pytest.mark.django_db(transaction=True)
def test_a_double_click_is_one_decision(bank: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(bank)
        shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
        click = lambda shown=shown: decide.delete(user=people.reviewer, **shown)  # type: ignore[misc]  # noqa: E731
        at_once(click, click)
        assert Write.objects.filter(document_id=entry.document_id).count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_loser_learns_who_won_and_what(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank)
    shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    decide.approve(user=people.owner, **shown)  # type: ignore[arg-type]
    with pytest.raises(Conflict) as lost:
        decide.delete(user=people.reviewer, **shown)  # type: ignore[arg-type]
    assert (lost.value.winner, lost.value.action) == ("Ann Weber", "approved")
    assert Write.objects.get().kind == "approve"


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_down_loses_no_decision(bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    def down(*args: object, **kwargs: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(tasks.send_write, "apply_async", down)
    entry = factories.make_entry(bank)
    write = decide.edit(
        user=people.reviewer,
        entry_id=entry.pk,
        version=entry.version,
        text_hash=str(entry.text_id),
        new_text="Kept while the broker is away.",
    )
    assert write is not None
    write.refresh_from_db()
    assert (write.state, write.dispatched_until) == (Write.State.QUEUED, None)
    assert worker.sweep() == 0  # still away
    monkeypatch.setattr(tasks.send_write, "apply_async", lambda args, **options: told.append(args[0]))
    assert worker.sweep() == 1
    assert worker.sweep() == 0  # spoken for: sent on once
    assert told == [write.pk]


@pytest.mark.django_db
def test_what_is_not_loaded_cannot_be_decided_on(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank, load_state=ReviewEntry.Load.UNREACHABLE)
    shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    with pytest.raises(NotDecided, match="not loaded"):
        decide.approve(user=people.reviewer, **shown)  # type: ignore[arg-type]
    assert not Decision.objects.exists()
