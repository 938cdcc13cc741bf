"""What the write log shows of rows that an agent's own log brought: claims of a file, whatever they say."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from banks.models import Blob, Job, Write
from memadmin.retention import RetainedItems, RetainedText, ends_of, first_of

HITS_SHOWN, FACTS_SHOWN = 100, 200
HIT_BYTES, WORDS_BYTES = 2_000, 4_000
JSON_BYTES = 8 * 1024 * 1024  # of more nothing is read for a page
NUMBERS = ("found", "injected", "skipped", "documents", "lines", "chunks")
WORDS = ("reason", "operation", "filter", "stage")


@dataclass(frozen=True)
class ImportedFact:
    """`text`: None when the line had none; `usable`: whether a fact can be asked for by this id."""

    id: str
    text: RetainedText | None
    quote: RetainedText | None
    clipped: bool
    usable: bool


@dataclass(frozen=True)
class ImportedRow:
    """`main`: the text that the row is about. `prompt`: whether there is one, not what it says."""

    type: str
    known: bool  # the type, to us
    numbers: list[tuple[str, int]]
    words: list[tuple[str, RetainedText]]
    message: RetainedText | None
    query: RetainedText | None
    main: Blob | None
    main_title: str
    hits: RetainedItems[RetainedText]
    facts: RetainedItems[ImportedFact]
    clipped: list[str]
    undated: str  # why, "" when the line has a time
    ts: str
    line: int | None
    job: Job | None
    prompt: Literal["", "there", "erased"]


def summary(write: Write) -> str:
    """One line for lists, as the tool itself draws it; "" for rows of ours. Reads the outcome alone."""
    if write.via != Write.Via.IMPORT:
        return f"of row {write.undo_of_id}" if write.kind == "look" else ""
    told, said = write.outcome, str(write.outcome.get("said", ""))
    number = {name: told.get(name, 0) for name in NUMBERS}
    if write.kind == "recall":
        return f"{number['injected']:,}/{number['found']:,} {said}".rstrip()
    if write.kind == "retain":
        return f"{number['documents']:,} doc · {number['lines']:,} lines {said}".rstrip()
    if write.kind in ("retire", "restore"):
        facts = told.get("facts", 0)
        return f"{facts:,} {'fact' if facts == 1 else 'facts'} {said}".rstrip()
    return f"{told.get('stage', '')} {said}".strip()


def imported_of(write: Write) -> ImportedRow | None:
    """What the page of an imported row shows; None for rows of ours. Never reads what is private."""
    if write.via != Write.Via.IMPORT:
        return None
    recalled = write.kind in ("recall", "reflect")
    stored = list(_stored(write.facts_before))
    params = write.params
    job = params.get("import")
    return ImportedRow(
        type=str(params.get("type", write.kind)),
        known=write.kind != "error" or params.get("type") == "error",
        numbers=[(name, write.outcome[name]) for name in NUMBERS if name in write.outcome],
        words=[(name, _shown(str(params[name]), WORDS_BYTES)) for name in WORDS if params.get(name)],
        message=_shown(write.error_text, WORDS_BYTES) if write.error_text else None,
        query=_shown(write.request.text, WORDS_BYTES)
        if recalled and write.request and not write.request.erased
        else None,
        main=write.after if recalled else write.request,
        main_title="Injected text or answer" if recalled else "Document sent to the bank",
        hits=first_of((_shown(hit, HIT_BYTES) for hit in _texts(stored)) if recalled else (), HITS_SHOWN),
        facts=first_of(map(_fact, () if recalled else _named(stored)), FACTS_SHOWN),
        clipped=[str(name) for name in params.get("clipped", [])],
        undated=str(params.get("undated", "")),
        ts=str(params.get("ts", "")),
        line=params.get("line"),
        job=Job.objects.select_related("owner").filter(pk=job).first() if job else None,
        prompt=_prompt(write),
    )


def _prompt(write: Write) -> Literal["", "there", "erased"]:
    if write.private_id is None:
        return ""
    return "there" if Blob.objects.filter(pk=write.private_id, erased=None).exists() else "erased"


def _stored(blob: Blob | None) -> Iterator[dict[str, Any]]:
    if blob is None or blob.erased or blob.size > JSON_BYTES:
        return
    rows = json.loads(blob.text)
    yield from (row for row in rows if isinstance(row, dict))


def _texts(rows: list[dict[str, Any]]) -> Iterator[str]:
    return (str(row.get("text", "")) for row in rows)


def _named(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (row for row in rows if "id" in row)


def _fact(row: dict[str, Any]) -> ImportedFact:
    return ImportedFact(
        id=str(row["id"]),
        text=_shown(str(row["text"]), HIT_BYTES) if "text" in row else None,
        quote=_shown(str(row["quote"]), HIT_BYTES) if row.get("quote") else None,
        clipped=bool(row.get("clipped")),
        usable=not row.get("unusable"),
    )


def _shown(text: str, most: int) -> RetainedText:
    return ends_of(text, most, most // 4)
