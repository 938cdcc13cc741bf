"""`memadmin check` about servers, banks, keys, and what waits."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings

from banks.models import Bank, Job, Server, Write
from banks.services.probe import Told
from memadmin.diagnosis import servers, work
from reviews.models import ReviewEntry
from tests import factories
from tests.conftest import People
from tests.memadmin.checked import FINE, said, telling
from tests.reviews.queue_files import add, import_lines
from tests.reviews.watched import Tool, look

NOW = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)
Load = ReviewEntry.Load


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


# ── servers and banks ────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_server_it_is_told(db: None) -> None:
    assert said(servers.answers) == ["error: No Hindsight server is registered."]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (FINE, []),
        (Told(Server.Health.REFUSED, "The server refuses our key (HTTP 401)."), ["error: Main: The server refuses"]),
        (Told(Server.Health.UNREACHABLE, "Connection refused"), ["error: Main: Connection refused"]),
        (Told(Server.Health.DEGRADED, ""), ["warning: Main: degraded"]),
        (Told(Server.Health.OK, "", clock_ahead=20.0), []),
        (Told(Server.Health.OK, "", clock_ahead=300.0), ["warning: The clock of Main is 5 min ahead of ours"]),
        (Told(Server.Health.OK, "", clock_ahead=-7200.0), ["warning: The clock of Main is 2 h behind ours"]),
    ],
)
def test_what_a_server_says_is_told(db: None, monkeypatch: pytest.MonkeyPatch, told: Told, expected: list[str]) -> None:
    factories.make_server(name="Main")
    monkeypatch.setattr(servers, "probe", telling(told))
    found = said(servers.answers)
    assert [line[: len(start)] for line, start in zip(found, expected, strict=True)] == expected


def test_banks_that_are_gone_or_refuse_are_told(bank: Bank) -> None:
    Server.objects.update(name="Main")
    factories.make_bank("fine", server=bank.server)
    assert said(servers.banks) == []
    factories.make_entry(bank)
    Bank.objects.filter(pk=bank.pk).update(gone_since=NOW)
    factories.make_bank("secret", server=bank.server, poll_error="The server refuses our key.")
    assert said(servers.banks) == [
        "warning: Bank checkout-service on Main is not in the server's list since 2026-08-20 12:00 UTC; "
        "1 pending memory is kept.",
        "warning: Bank secret on Main cannot be looked at for new documents: The server refuses our key.",
    ]


def test_many_banks_in_trouble_are_not_all_named(bank: Bank) -> None:
    for _ in range(servers.NAMED + 5):
        factories.make_bank(server=bank.server, poll_error="no")
    assert len(said(servers.banks)) == servers.NAMED + 1


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_keys_are_told_when_they_open_nothing(
    db: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ENCRYPTION_KEYS = ["old"]
    server = factories.make_server(name="Main")
    server.api_key = "hush-hush"
    server.save()
    assert said(servers.keys) == []
    settings.ENCRYPTION_KEYS = ["new", "spare", "old"]
    assert said(servers.keys) == [
        "warning: 1 secret is stored under an older key than the first.",
        "warning: Encryption key 2 opens nothing.",
    ]
    settings.ENCRYPTION_KEYS = ["other"]
    assert said(servers.keys) == [
        "error: The API key of Main cannot be read: it was stored under a key that is not there."
    ]
    monkeypatch.setattr(servers, "probe", telling(Told(Server.Health.REFUSED, "The stored key cannot be read.")))
    assert said(servers.answers) == []  # it was told already, and the server did nothing


# ── what waits ───────────────────────────────────────────────────────────────────────────────────────────────


def make_write(bank: Bank, state: str, **values: object) -> Write:
    return Write.objects.create(kind="delete", bank=bank, via="web", state=state, **values)  # type: ignore[misc]


def test_writes_that_are_stuck_are_told(bank: Bank, clock: time_machine.Traveller) -> None:
    make_write(bank, "attention")
    make_write(bank, "changed")
    make_write(bank, "unknown", sent=NOW, slot="a")
    make_write(bank, "accepted", sent=NOW, slot="b")
    make_write(bank, "queued")
    make_write(bank, "queued", not_before=NOW + timedelta(days=3))
    first = "warning: 2 writes need a person."
    assert said(work.writes) == [first]
    clock.shift(work.WAITS_LONG + timedelta(seconds=1))
    waits = "error: 1 write waits for over 10 min to be sent."
    assert said(work.writes) == [first, waits]
    clock.shift(work.UNKNOWN_LONG)
    unknown = "warning: Of 1 write nobody knows for over 15 min whether the server did it."
    assert said(work.writes) == [first, unknown, waits]
    clock.shift(work.ACCEPTED_LONG)
    accepted = "warning: 1 write is accepted for over a day, and the server is not done."
    assert said(work.writes) == [first, unknown, accepted, waits]
    Server.objects.update(writes_paused=True)  # then it is meant to wait
    assert waits not in said(work.writes)


def test_texts_that_do_not_load_are_told(bank: Bank, clock: time_machine.Traveller) -> None:
    Server.objects.update(name="Main")
    for state in (Load.UNREACHABLE, Load.UNREACHABLE, Load.REFUSED, Load.LOADED):
        factories.make_entry(bank, load_state=state)
    factories.make_entry(bank, load_state=Load.UNREACHABLE, state="approved")  # nobody has to decide it
    factories.make_entry(bank, load_state=Load.LOADING, load_after=NOW)
    failed = [
        "warning: 2 memories of Main cannot be decided: could not load.",
        "warning: 1 memory of Main cannot be decided: refused.",
    ]
    assert said(work.loads) == failed
    clock.shift(work.WAITS_LONG + timedelta(seconds=1))
    assert said(work.loads) == [*failed, "error: 1 memory waits for over 10 min to be loaded."]


def test_jobs_that_nobody_works_on_are_told(db: None, clock: time_machine.Traveller) -> None:
    Job.objects.create(kind="import-queue", title="Queue file of ann")
    Job.objects.create(kind="import-queue", state="done")
    assert said(work.jobs) == []
    clock.shift(work.WAITS_LONG + timedelta(seconds=1))
    assert said(work.jobs) == ["error: 1 job waits for a worker: Queue file of ann, …"]
    Job.objects.update(claimed_until=NOW + timedelta(hours=1))  # somebody does
    assert said(work.jobs) == []


def test_parked_lines_are_told(bank: Bank, people: People, settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    assert said(work.parked) == []
    import_lines([add("a", baseUrl="http://nowhere.example")], people.operator)
    assert said(work.parked) == ["warning: 1 line of queue files found no bank."]


def test_trouble_with_the_watched_file_is_told(
    people: People, settings: LazySettings, tmp_path: Path, clock: time_machine.Traveller
) -> None:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    settings.QUEUE_FILE = str(tmp_path / "review-queue.jsonl")
    assert said(work.queue_file) == []
    look()
    (found,) = said(work.queue_file)
    assert found.startswith(f"warning: {settings.QUEUE_FILE}: It is not there.")
    Tool(Path(settings.QUEUE_FILE)).add("a")
    look()
    assert said(work.queue_file) == []
    Job.objects.update(state="failed", error="It failed by a fault of ours (KeyError).")
    clock.shift(work.NOT_LOOKED + timedelta(seconds=1))
    failed, unseen = said(work.queue_file)
    assert failed.endswith("its import failed. It failed by a fault of ours (KeyError).")
    assert unseen.startswith(f"error: {settings.QUEUE_FILE}: ")
    assert unseen.endswith("nobody has looked since 2026-08-20 12:00 UTC.")
    settings.QUEUE_FILE = "off"
    assert said(work.queue_file) == []
