"""Recall of the demo server: facts and observations that share words with the question, those that share most first."""

import re
from typing import Any

from banks.demo import text
from banks.demo.banks import require_bank
from banks.demo.http import Problem, Request, invalid, wrong_value
from banks.demo.store import Row, marks, unpack

FIELDS = frozenset(
    {
        *("query", "types", "prefer_observations", "budget", "max_tokens", "trace", "query_timestamp", "include"),
        *("tags", "tags_match", "tag_groups", "min_scores", "temporal_window"),
    }
)
TYPES = ("experience", "observation", "world")
_NO_WORD = "Value error, query must contain at least one word character after normalization"
_SIGNS_OF_A_TOKEN = 4


def post_recall(request: Request) -> dict[str, Any]:
    body = request.json(FIELDS)
    query, types = body.get("query"), body.get("types") or TYPES
    if not isinstance(query, str):
        raise invalid("missing", ["body", "query"], "Field required", body)
    if not re.search(r"\w", query):
        raise wrong_value(["body", "query"], _NO_WORD, query)
    if wrong := sorted(set(map(str, types)) - set(TYPES)):
        raise Problem(422, f"Invalid fact type(s): {', '.join(wrong)}. Must be one of: {', '.join(TYPES)}")
    require_bank(request)
    found = _found(request, query, types, set(body.get("tags") or ()))
    results: list[dict[str, Any]] = []
    room = int(body.get("max_tokens") or 4_096) * _SIGNS_OF_A_TOKEN
    for score, row in found:
        if len(row["text"]) <= room:
            room -= len(row["text"])
            results.append(_row(row, score))
    return {"results": results, **dict.fromkeys(("trace", "entities", "chunks", "source_facts"))}


def _found(request: Request, query: str, types: Any, tags: set[str]) -> list[tuple[float, Row]]:
    rows = request.store.rows(
        f"SELECT * FROM facts WHERE bank_id = ? AND state = 'valid' AND type IN ({marks(types)}) "  # noqa: S608
        "ORDER BY mentioned_at DESC, id",
        request.bank_id,
        *types,
    )
    asked = text.words(query)
    scored = [(len(asked & text.words(row["text"])) / max(len(asked), 1), row) for row in rows]
    return sorted((each for each in scored if each[0] and _fits(each[1], tags)), key=lambda each: -each[0])


def _fits(row: Row, tags: set[str]) -> bool:
    own = set(unpack(row["tags"]))
    return not tags or not own or bool(tags & own)


def _row(row: Row, score: float) -> dict[str, Any]:
    same = ("id", "text", "type", "context", "occurred_start", "occurred_end", "mentioned_at", "document_id")
    chunk = None if row["chunk"] is None else f"{row['bank_id']}_{row['document_id']}_{row['chunk']}"
    sources = unpack(row["sources"])
    return {name: row[name] for name in same} | {
        "entities": unpack(row["entities"]),
        "metadata": unpack(row["metadata"]),
        "tags": unpack(row["tags"]),
        "chunk_id": chunk,
        "source_fact_ids": sources or None,
        "scores": {"final": score, "reranker": None, "semantic": None, "keyword": score},
        "attachments": None,
    }
