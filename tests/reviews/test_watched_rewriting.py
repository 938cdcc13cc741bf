"""The watched file becomes shorter, is replaced or rewritten, also while it is copied: nothing is undone or lost."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings, settings

from banks.models import Bank, Job, Server
from reviews import watching
from reviews.importing import localfile
from reviews.models import ReviewEntry
from tests.conftest import People
from tests.reviews.queue_files import add, state_of_things
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
    assert list(Path(settings.MEDIA_ROOT).iterdir()) == []
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


def test_emptied_while_it_is_copied_nothing_is_left_behind(
    server: Server, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool.add("a")
    original = localfile._keep
    monkeypatch.setattr(localfile, "_keep", lambda copying: (original(copying), tool.path.write_text(""))[0])
    assert look() == "changing"
    assert list(Path(settings.MEDIA_ROOT).iterdir()) == []
    monkeypatch.setattr(localfile, "_keep", original)
    assert look() == "nothing new"
    assert not Job.objects.exists()


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
