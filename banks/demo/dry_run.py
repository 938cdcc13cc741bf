"""Extraction without storing, as the real server does it: also for a bank that does not exist, which stays so."""

from typing import Any

from banks.demo import retain, text
from banks.demo.http import Problem, Request, invalid, parse_time, wrong_value

FIELDS = frozenset({"content", "context", "timestamp", "strategy"})


def post_dry_run(request: Request) -> dict[str, Any]:
    body = request.json(FIELDS)
    content = body.get("content")
    if not isinstance(content, str):
        raise invalid("missing", ["body", "content"], "Field required", body)
    if when := body.get("timestamp"):
        parse_time(str(when), wrong_value(["body", "timestamp"], "Input should be a valid datetime", when))
    chunks = text.chunks(content)
    for chunk in chunks:
        if text.always_fails(chunk):
            raise Problem(500, retain.FAILED)
    found = [(number, fact) for number, chunk in enumerate(chunks) for fact in text.facts(chunk)]
    return {
        "facts": [_fact(number, fact) for number, fact in found],
        "chunks": [{"text": chunk, "fact_count": len(text.facts(chunk))} for chunk in chunks],
        "usage": retain.USAGE,
    }


def _fact(chunk: int, fact: text.Found) -> dict[str, Any]:
    return {
        "text": fact.text,
        "fact_type": fact.type,
        "occurred_start": f"{fact.date}T00:00:00+00:00" if fact.date else None,
        "occurred_end": f"{fact.date}T23:59:59+00:00" if fact.date else None,
        "entities": fact.entities,
        "chunk_index": chunk,
        "attachments": [],
    }
