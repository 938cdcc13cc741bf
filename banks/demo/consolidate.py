"""Observations: what the demo server concludes from facts that speak of the same thing.

The first name in a fact is its subject; two or more valid facts of one subject and the same tags make an observation,
since what has other tags never mixes. One whose source is edited, retired or deleted goes at once and comes back under
a new id, as on the real server.
"""

from collections.abc import Collection
from typing import Any
from uuid import uuid4

from banks.demo import webhooks
from banks.demo.http import Request
from banks.demo.store import Row, Store, marks, pack, stamp, unpack

_FEWEST_SOURCES = 2
_LONGEST = 900  # characters


def subjects_of(store: Store, bank_id: str, document_id: str) -> set[str]:
    rows = store.rows("SELECT DISTINCT subject FROM facts WHERE bank_id = ? AND document_id = ?", bank_id, document_id)
    return {row["subject"] for row in rows if row["subject"]}


def consolidate(request: Request, subjects: Collection[str], *, edited: Collection[str] = ()) -> None:
    """Bring the observations about these subjects up to date. `edited`: ids of facts whose text changed."""
    touched = [subject for subject in sorted(subjects) if subject and _of_subject(request, subject, set(edited))]
    if touched:
        _note_operation(request)


def _of_subject(request: Request, subject: str, edited: set[str]) -> bool:
    rows = request.store.rows(
        "SELECT * FROM facts WHERE bank_id = ? AND subject = ? AND state = 'valid' ORDER BY created_at, rowid",
        request.bank_id,
        subject,
    )
    alike: dict[frozenset[str], list[Row]] = {}
    for row in rows:
        alike.setdefault(frozenset(unpack(row["tags"])), []).append(row)
    changed = [_one(request, subject, each, edited) for each in alike.values()]
    return any(changed)


def _one(request: Request, subject: str, rows: list[Row], edited: set[str]) -> bool:
    """`rows`: the valid facts of one subject with the same tags."""
    sources = [row for row in rows if row["type"] != "observation"]
    old = next((row for row in rows if row["type"] == "observation"), None)
    wanted = [row["id"] for row in sources]
    had = set(unpack(old["sources"])) if old else set()
    if old and had == set(wanted) and not had & edited:
        return False
    keeps_id = old is not None and had <= set(wanted) and not had & edited and len(wanted) >= _FEWEST_SOURCES
    if old:
        request.store.run("DELETE FROM facts WHERE id = ?", old["id"])
    if len(wanted) >= _FEWEST_SOURCES:
        _insert(request, subject, sources, old["id"] if old and keeps_id else str(uuid4()))
    if wanted:
        sql = f"UPDATE facts SET consolidated_at = ? WHERE id IN ({marks(wanted)})"  # noqa: S608
        request.store.run(sql, stamp(request.now), *wanted)
    return True


def _insert(request: Request, subject: str, sources: list[Row], fact_id: str) -> None:
    now = stamp(request.now)
    request.store.insert(
        "facts",
        {
            "id": fact_id,
            "bank_id": request.bank_id,
            "subject": subject,
            "text": " ".join(dict.fromkeys(row["text"] for row in sources))[:_LONGEST],
            "type": "observation",
            "mentioned_at": max((row["mentioned_at"] for row in sources if row["mentioned_at"]), default=None),
            "occurred_start": min((row["occurred_start"] for row in sources if row["occurred_start"]), default=None),
            "occurred_end": max((row["occurred_end"] for row in sources if row["occurred_end"]), default=None),
            "entities": pack([subject]),
            "tags": pack(sorted(set(unpack(sources[0]["tags"])))),
            "metadata": "{}",
            "created_at": now,
            "updated_at": now,
            "sources": pack([row["id"] for row in sources]),
        },
    )


def _note_operation(request: Request) -> None:
    """The real server shows this work among its operations; here it is over at once."""
    now = stamp(request.now)
    done: dict[str, Any] = {"id": str(uuid4()), "bank_id": request.bank_id, "type": "consolidation", "items_count": 0}
    request.store.insert(
        "operations", done | {"status": "completed", "created_at": now, "updated_at": now, "completed_at": now}
    )
    webhooks.consolidated(request, done["id"])
