"""Decisions that do not count, and decisions while something is away."""

import pytest
from kombu.exceptions import OperationalError

from banks import tasks
from banks.models import Bank, Write
from banks.writes import worker
from reviews.errors import Conflict, NotDecided
from reviews.models import Decision, ReviewEntry
from reviews.services import decide
from tests import factories
from tests.conftest import People


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
