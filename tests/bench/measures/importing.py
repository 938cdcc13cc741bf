import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from tests.bench.timing import Result
from tests.bench.world import Profile

ADDS, DONES = 60_000, 40_000
BANKS = 12
URL = "http://memory.example:8888"
TIMES = 3


def imports(profiles: list[Profile]) -> Iterator[Result]:
    """A queue file of 100,000 lines into an empty database, and again; the floor inserts the same rows, ready made."""
    with tempfile.TemporaryDirectory() as folder:
        file, rows = Path(folder) / "review-queue.jsonl", Path(folder) / "rows"
        write_queue_file(file)
        for profile in profiles:
            first, again, floor = [], [], []
            for _ in range(TIMES):
                with profile.inside() as django:
                    django.call("importing:prepare", url=URL, banks=BANKS)
                    first.append(django.call("importing:run", file=str(file)))
                    again.append(django.call("importing:run", file=str(file)))
                    django.call("importing:keep_rows", target=str(rows))
                with profile.inside() as django:
                    django.call("importing:prepare", url=URL, banks=BANKS)
                    floor.append(django.call("importing:floor", file=str(file), rows=str(rows)))
            least = median(floor)
            yield Result("import_first", median(first), least, "s", profile.name, 2.5)
            yield Result("import_again", median(again), least, "s", profile.name, 0.25)


def write_queue_file(path: Path) -> None:
    """Memories of some weeks as the tool writes them: two decisions after every three, on those from a while ago."""
    start, added, decided = datetime(2026, 2, 1, tzinfo=UTC), 0, 0
    with path.open("w", encoding="utf-8") as file:
        for number in range(ADDS + DONES):
            at = (start + timedelta(seconds=30 * number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            if added < ADDS and (number % 5 < 3 or decided + 500 > added):
                event, added = _add(added, at), added + 1
            else:
                event, decided = _done(decided, at), decided + 1
            file.write(json.dumps(event, separators=(",", ":")) + "\n")


def _add(number: int, at: str) -> dict[str, str]:
    return {
        "ev": "add",
        "docId": f"sessions/2026/{number:06d}-a-session-of-an-agent.md",
        "bank": f"bank-{number % BANKS}",
        "baseUrl": URL,
        "namespace": "default",
        "project": f"/home/ann/projects/service-{number % 40}",
        "reason": ("compact", "session-end", "idle")[number % 3],
        "language": "en",
        "ts": at,
    }


def _done(number: int, at: str) -> dict[str, str]:
    return {
        "ev": "done",
        "docId": f"sessions/2026/{number:06d}-a-session-of-an-agent.md",
        "action": "deleted" if number % 9 == 0 else "approved",
        "ts": at,
    }
