"""The watched queue file: a developer's machine as seen by the workers."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings

from banks import jobs
from banks.models import Bank, Job, JobItem, Server
from reviews import watching
from reviews.importing import files, localfile
from reviews.models import Decision, ReviewEntry, SourceEvent, SourceFile
from tests import factories
from tests.conftest import People
from tests.reviews.queue_files import add, import_lines, state_of_things
from tests.reviews.watched import LOCAL, Tool, look, run_jobs

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
    assert list(Path(files._folder()).iterdir()) == []


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


# ── files that become shorter ──────────────────────────────────────────────────────────────────────────────


def test_a_shortened_file_undoes_nothing(server: Server, tool: Tool, clock: time_machine.Traveller) -> None:
    for name in ("a", "b", "c"):
        tool.add(name)
    tool.done("a")
    tool.done("b", action="deleted")
    look()
    before = state_of_things(server)
    clock.shift(watching.PAUSE)
    tool.compact()
    assert tool.path.read_text().count("\n") == 1
    assert look() == "read"
    assert state_of_things(server) == before
    assert Job.objects.count() == 1  # it brought nothing new: no row

    clock.shift(watching.PAUSE)
    tool.add("a", ts="2026-08-20T11:59:00.000Z")
    tool.done("c")
    look()
    assert states() == {"a": "pending", "b": "deleted", "c": "approved"}


def test_shortened_and_appended_to_between_two_looks_nothing_is_missed(
    server: Server, tool: Tool, clock: time_machine.Traveller
) -> None:
    for number in range(30):
        tool.add(f"old{number}")
        tool.done(f"old{number}")
    tool.add("kept")
    look()
    clock.shift(watching.PAUSE)
    tool.compact()
    for number in range(70):  # longer than before, so that its size tells nothing
        tool.add(f"new{number}", ts="2026-08-20T11:00:00.000Z")
    tool.done("kept")
    look()
    found = states()
    assert found.pop("kept") == "approved"
    assert {name[:3] for name, state in found.items() if state == "pending"} == {"new"}
    assert len(found) == 100


def test_cut_off_while_it_is_copied_it_is_read_at_the_next_look(
    server: Server, tool: Tool, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool.add("a")
    tool.add("b")
    original = localfile._read_at
    content = tool.path.read_bytes()

    def cut_off(*arguments: object) -> bytes:
        data = original(*arguments)  # type: ignore[arg-type]
        tool.path.write_bytes(content[: len(content) // 2])
        return data

    monkeypatch.setattr(localfile, "_read_at", cut_off)
    assert look() == "changing"
    monkeypatch.setattr(localfile, "_read_at", original)
    assert list(Path(files._folder()).iterdir()) == []
    tool.path.write_bytes(content)
    assert look() == "read"
    assert states() == {"a": "pending", "b": "pending"}


def test_rewritten_in_place_while_it_is_copied_two_states_are_never_mixed(
    server: Server, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool.add("a")
    original = localfile._keep

    def rewriting(copying: object) -> str:
        name = original(copying)  # type: ignore[arg-type]
        os.utime(tool.path, ns=(1, 1))
        tool.path.write_text(add("z", baseUrl=LOCAL) + "\n")
        return name

    monkeypatch.setattr(localfile, "_keep", rewriting)
    assert look() == "changing"
    monkeypatch.setattr(localfile, "_keep", original)
    look()
    assert states() == {"z": "pending"}


def test_replaced_while_it_is_copied_both_files_are_read(
    server: Server, tool: Tool, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool.add("a")
    tool.done("a")
    tool.add("b")
    original = localfile._keep

    def replacing(copying: object) -> str:
        name = original(copying)  # type: ignore[arg-type]
        tool.compact()
        tool.add("c")
        return name

    monkeypatch.setattr(localfile, "_keep", replacing)
    assert look() == "read"
    monkeypatch.setattr(localfile, "_keep", original)
    assert states() == {"a": "approved", "b": "pending"}  # the old file, with the decision that the new one lacks
    clock.shift(watching.PAUSE)
    look()
    assert states() == {"a": "approved", "b": "pending", "c": "pending"}


def test_appended_to_while_it_is_copied_the_rest_comes_next(
    server: Server, tool: Tool, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool.add("a")
    original = localfile._keep
    monkeypatch.setattr(localfile, "_keep", lambda copying: (original(copying), tool.add("b"))[0])
    assert look() == "read"
    monkeypatch.setattr(localfile, "_keep", original)
    assert states() == {"a": "pending"}
    clock.shift(watching.PAUSE)
    assert look() == "read"
    assert states() == {"a": "pending", "b": "pending"}


# ── other sources, other workers, failures ─────────────────────────────────────────────────────────────────


def test_the_same_document_from_two_sources_is_one_entry(server: Server, people: People, tool: Tool) -> None:
    import_lines([add("a", baseUrl=LOCAL)], people.operator, machine="dana's laptop", localhost=server)
    tool.add("a")
    tool.done("a")
    look()
    entry = ReviewEntry.objects.get()
    assert entry.sources == ["dana's laptop", SourceFile.objects.get(path=str(tool.path)).machine]
    assert (entry.state, entry.decided_via) == ("approved", "file")


def test_the_same_file_from_the_command_line_is_the_same_source(server: Server, people: People, tool: Tool) -> None:
    import socket

    tool.add("a")
    import_lines(tool.path.read_bytes(), people.operator, machine=socket.gethostname(), on_this_machine=True)
    assert look() == "read"
    assert SourceEvent.objects.count() == 1
    assert Job.objects.count() == 1  # the look brought nothing


def test_two_looks_at_once_start_one_import(server: Server, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.add("a")
    words: list[str] = []
    original = localfile.copy

    def meanwhile(*arguments: object, **values: object) -> localfile.Copy:
        if not words:
            words.append("")
            words.append(watching.look())  # another worker, while we copy
        return original(*arguments, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(localfile, "copy", meanwhile)
    assert watching.look() == "read"
    assert words == ["", "being looked at"]
    assert watching.look() == "importing"
    run_jobs()
    assert Job.objects.count() == 1


def test_a_look_that_lost_the_file_stores_nothing(server: Server, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.add("a")
    original = localfile.copy

    def taken(*arguments: object, **values: object) -> localfile.Copy:
        SourceFile.objects.update(looked_at=NOW + timedelta(seconds=1))
        return original(*arguments, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(localfile, "copy", taken)
    assert look() == "overtaken"
    assert not Job.objects.exists()
    assert list(Path(files._folder()).iterdir()) == []


def test_a_worker_that_dies_while_it_copies_delays_and_loses_nothing(
    server: Server, tool: Tool, clock: time_machine.Traveller
) -> None:
    tool.add("a")
    look()
    clock.shift(watching.PAUSE)
    tool.add("b")
    source = SourceFile.objects.get()
    SourceFile.objects.update(seen={**source.seen, "looking": True}, looked_at=NOW)
    assert look() == "being looked at"
    clock.shift(watching.LOOK_LIMIT)
    assert look() == "read"
    assert set(states()) == {"a", "b"}


def test_an_import_that_failed_is_tried_again_from_the_beginning(
    server: Server, tool: Tool, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool.add("a")
    with monkeypatch.context() as broken:
        broken.setattr(jobs, "_handlers", {})
        assert look() == "read"
    assert Job.objects.get().state == "failed"
    assert look() == "failed"
    clock.shift(watching.PAUSE_AFTER_FAILURE)
    assert look() == "read"
    assert states() == {"a": "pending"}
    assert Job.objects.get().state == "done"


def test_parked_lines_find_their_bank_with_the_next_lines(
    server: Server, tool: Tool, clock: time_machine.Traveller
) -> None:
    tool.add("a", baseUrl="http://new.example:8888")
    look()
    assert states() == {}
    factories.make_server(base_url="http://new.example:8888")
    clock.shift(watching.PAUSE)
    tool.add("b")
    look()
    assert states() == {"a": "pending", "b": "pending"}
