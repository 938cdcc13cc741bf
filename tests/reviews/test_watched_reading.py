"""Of a file that grew only the documents with new lines are stored again: the outcome is that of storing all."""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings

from banks.models import Bank, Job, Server
from reviews import watching
from reviews.importing import apply
from reviews.importing import job as importing
from reviews.importing.plan import Group
from reviews.models import Decision, Parked, ReviewEntry, SourceEvent, SourceFile
from tests.conftest import People
from tests.reviews.queue_files import state_of_things
from tests.reviews.watched import LOCAL, Tool, look

NOW = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)
DOCUMENTS = ["a", "b", "c", "d"]
BANKS = ["checkout-service", "checkout-service", "second", ""]


@pytest.fixture
def tool(settings: LazySettings, tmp_path: Path) -> Tool:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    settings.QUEUE_FILE = str(tmp_path / "review-queue.jsonl")
    return Tool(Path(settings.QUEUE_FILE))


@pytest.fixture
def server(bank: Bank, people: People) -> Server:
    bank.server.base_url = LOCAL
    bank.server.save()
    return bank.server


def a_life(seed: int) -> list[list[Callable[[Tool], None]]]:
    """What the tool does between the looks: adds, dones, the same line twice, bad lines, compactions."""
    dice = random.Random(seed)

    def event() -> Callable[[Tool], None]:
        name, when = dice.choice(DOCUMENTS), f"2026-08-{dice.randint(17, 19)}T10:00:0{dice.randint(0, 3)}.000Z"
        bank, action = dice.choice(BANKS), dice.choice(["approved", "deleted", "expiry"])
        kind = dice.choices(["add", "done", "bad", "compact"], [6, 5, 1, 0.4])[0]
        if kind == "add":
            return lambda tool: tool.add(name, ts=when, bank=bank)
        if kind == "done":
            by = {"action": "approved", "by": "expiry"} if action == "expiry" else {"action": action}
            return lambda tool: tool.done(name, ts=when, **by)
        return (lambda tool: tool.write("{ torn\n")) if kind == "bad" else Tool.compact

    return [[event() for _ in range(dice.randint(1, 6))] for _ in range(8)]


def lived(server: Server, tool: Tool, life: list[list[Callable[[Tool], None]]]) -> object:
    for model in (Decision, Parked, SourceEvent, ReviewEntry, Job, SourceFile):
        model.objects.all().delete()
    tool.path.unlink(missing_ok=True)
    tool.path.touch()
    with time_machine.travel(NOW, tick=False) as clock:
        for events in life:
            for event in events:
                event(tool)
            look()
            clock.shift(watching.PAUSE)
    lines = sorted(SourceEvent.objects.values_list("identity", "state", "reason_text"))
    return state_of_things(server), lines, Parked.objects.filter(assigned_at=None).count()


@pytest.mark.parametrize("seed", range(12))
def test_reading_what_is_new_ends_as_reading_everything(
    server: Server, tool: Tool, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    life = a_life(seed)
    found = lived(server, tool, life)

    def everything(groups: list[Group], **values: object) -> list[Group]:
        return groups

    monkeypatch.setattr(importing, "_with_something_new", everything)
    assert lived(server, tool, life) == found


def test_only_what_is_new_is_stored(server: Server, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[int] = []
    original = apply.Applier.apply

    def counting(self: apply.Applier, groups: list[Group]) -> None:
        applied.append(len(groups))
        original(self, groups)

    monkeypatch.setattr(apply.Applier, "apply", counting)
    with time_machine.travel(NOW, tick=False) as clock:
        for number in range(50):
            tool.add(f"d{number}")
        look()
        clock.shift(watching.PAUSE)
        tool.done("d7")
        look()
    assert applied == [50, 1]
    job = Job.objects.get()
    assert (job.total, job.done, job.result["lines"], job.result["accepted"]) == (51, 51, 51, 51)
