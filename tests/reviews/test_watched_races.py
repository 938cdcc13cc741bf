"""The watched file beside other sources, other workers, and imports that fail."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings, settings

from banks import jobs
from banks.models import Bank, Job, Server
from reviews import watching
from reviews.importing import localfile
from reviews.models import ReviewEntry, SourceEvent, SourceFile
from tests import factories
from tests.conftest import People
from tests.reviews.queue_files import add, import_lines
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
    assert list(Path(settings.MEDIA_ROOT).iterdir()) == []


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
