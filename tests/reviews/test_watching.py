"""The watched queue file: a developer's machine as seen by the workers."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings, settings

from banks.models import Bank, Job, JobItem, Server
from reviews import watching
from reviews.models import Decision, ReviewEntry, SourceEvent, SourceFile
from tests.conftest import People
from tests.reviews.queue_files import add
from tests.reviews.watched import LOCAL, Tool, look

NOW = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def tool(settings: LazySettings, tmp_path: Path) -> Tool:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    settings.QUEUE_FILE = str(tmp_path / "pi" / "review-queue.jsonl")
    return Tool(Path(settings.QUEUE_FILE))


@pytest.fixture
def server(bank: Bank, people: People) -> Server:
    bank.server.base_url = LOCAL
    bank.server.save()
    return bank.server


def states() -> dict[str, str]:
    return dict(ReviewEntry.objects.values_list("document_id", "state"))


def test_what_the_tool_appends_arrives_and_its_file_is_not_touched(
    server: Server, people: People, tool: Tool, clock: time_machine.Traveller
) -> None:
    tool.add("a")
    assert look() == "read"
    assert states() == {"a": "pending"}
    source = SourceFile.objects.get()
    assert (source.owner, source.trusts_loopback, source.path) == (people.operator, True, str(tool.path))

    clock.shift(watching.PAUSE)
    tool.add("b")
    tool.done("a", action="deleted")
    before = tool.path.read_bytes(), tool.path.stat().st_mtime_ns
    assert look() == "read"
    assert states() == {"a": "deleted", "b": "pending"}
    decision = Decision.objects.get()
    assert (decision.decided_via, decision.user) == (Decision.Via.FILE, None)
    assert (tool.path.read_bytes(), tool.path.stat().st_mtime_ns) == before
    assert list(tool.path.parent.iterdir()) == [tool.path]


def test_nothing_new_starts_nothing_and_writes_nothing(
    server: Server, tool: Tool, clock: time_machine.Traveller
) -> None:
    tool.add("a")
    look()
    before = SourceFile.objects.values().get()
    clock.shift(3)
    assert look() == "nothing new"
    assert SourceFile.objects.values().get() == before
    clock.shift(watching.NOTED_EVERY)
    assert look() == "nothing new"
    assert SourceFile.objects.get().looked_at == NOW + timedelta(seconds=33)
    os.utime(tool.path)  # touched, and nothing in it is new
    assert look() == "nothing new"
    assert Job.objects.count() == 1
    assert list(Path(settings.MEDIA_ROOT).iterdir()) == []


def test_a_file_that_grows_all_the_time_is_read_now_and_then(
    server: Server, tool: Tool, clock: time_machine.Traveller
) -> None:
    words = []
    for number in range(12):
        tool.add(f"d{number}")
        words.append(look())
        clock.shift(3)
    assert words == ["read", "soon", "soon", "soon"] * 3
    clock.shift(watching.PAUSE)
    look()
    assert len(states()) == 12


def test_the_lines_of_a_day_are_one_row_among_the_imports(
    server: Server, tool: Tool, clock: time_machine.Traveller
) -> None:
    tool.write("not json\n")
    for number in range(5):
        tool.add(f"d{number}")
        look()
        clock.shift(1800)
    job = Job.objects.get()
    assert {name: job.result[name] for name in ("lines", "accepted", "known", "skipped")} == {
        "lines": 6,
        "accepted": 5,
        "known": 0,
        "skipped": 1,
    }
    assert list(JobItem.objects.values_list("number", "reason")) == [(1, "not JSON")]
    clock.shift(watching.ONE_ROW)
    tool.add("next day")
    look()
    assert Job.objects.latest("pk").result["accepted"] == 1
    assert Job.objects.count() == 2


# ── lines that are not finished ────────────────────────────────────────────────────────────────────────────


def test_a_torn_last_line_waits_for_its_end(server: Server, tool: Tool, clock: time_machine.Traveller) -> None:
    tool.add("a")
    torn = add("b", baseUrl=LOCAL)
    tool.write(torn[:40])
    look()
    for _ in range(4):
        clock.shift(14)
        assert look() == "torn"
    tool.write(torn[40:] + "\n")
    assert look() == "read"
    assert states() == {"a": "pending", "b": "pending"}
    assert not JobItem.objects.exists()
    assert Job.objects.get().result["skipped"] == 0


def test_a_torn_line_that_nobody_finishes_is_reported(
    server: Server, tool: Tool, clock: time_machine.Traveller
) -> None:
    tool.add("a")
    torn = add("b", baseUrl=LOCAL)
    tool.write(torn[:40])
    look()
    clock.shift(watching.QUIET)
    assert look() == "read"
    assert JobItem.objects.get().reason.startswith("not JSON: torn")
    assert look() == "nothing new"

    clock.shift(watching.PAUSE)
    tool.write(torn[40:] + "\n")  # finished after all
    assert look() == "read"
    assert states() == {"a": "pending", "b": "pending"}
    assert not JobItem.objects.exists()


def test_a_last_line_without_its_end_counts_when_it_is_whole(
    server: Server, tool: Tool, clock: time_machine.Traveller
) -> None:
    tool.write(add("a", baseUrl=LOCAL))
    assert look() == "nothing new"
    clock.shift(watching.QUIET)
    assert look() == "read"
    clock.shift(watching.PAUSE)
    tool.write("\n")
    look()
    assert states() == {"a": "pending"}
    assert SourceEvent.objects.count() == 1
