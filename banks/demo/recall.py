"""Recall of the demo server: facts and observations that share words with the question, those that share most first."""

import math
import re
from typing import Any

from banks.demo import entities
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
BUDGETS = {"low": 100, "mid": 300, "high": 1_000}
MODES = ("any", "all", "any_strict", "all_strict", "exact")
_NO_WORD = "query must contain at least one word character after normalization"
_SIGNS_OF_A_TOKEN = 4
_OBSERVATION = 0.9  # of the score that a fact would have: with the same words the fact comes first
_WORD = re.compile(r"\w+")
_QUESTIONS = "and are did does for from has have how that the this was what when where which who why with"
_ASKING = frozenset(_QUESTIONS.split())

Found = tuple[float, int, Row]  # final score, shared words, fact


def post_recall(request: Request) -> dict[str, Any]:
    body = request.json(FIELDS)
    query, types = checked(body)
    require_bank(request)
    merged = _merged(request, query, types, body)
    found = _superseded(merged) if _prefers_observations(request, body) else merged
    results, room = list[Found](), int(body.get("max_tokens") or 4_096) * _SIGNS_OF_A_TOKEN
    for each in found:
        if len(each[2]["text"]) <= room:
            room -= len(each[2]["text"])
            results.append(each)
    results = results or found[:1]  # one that has no room alone comes all the same
    told = _source_facts(request, results, body, query)
    unnamed = {} if told is not None else {"source_fact_ids": None}
    return {
        "results": [_row(row, score, shared, query) | unnamed for score, shared, row in results],
        "trace": _trace(body, query, merged, len(results)) if body.get("trace") else None,
        "entities": _entities(request, results, body),
        "chunks": None,
        "source_facts": told,
        "source_facts_truncated": None if told is None else len(told) < len(_sources(results)),
    }


def checked(body: dict[str, Any]) -> tuple[str, list[str]]:
    """(the question, the types) of a body. Raises Problem as the real server refuses."""
    query, types = body.get("query"), body.get("types")
    if not isinstance(query, str):
        raise invalid("missing", ["body", "query"], "Field required", body)
    if not re.search(r"\w", query):
        raise wrong_value(["body", "query"], _NO_WORD, query)
    for name, known in (("budget", tuple(BUDGETS)), ("tags_match", MODES)):
        if (given := body.get(name)) is not None and given not in known:
            said = " or ".join([", ".join(f"'{each}'" for each in known[:-1]), f"'{known[-1]}'"])
            raise invalid("literal_error", ["body", name], f"Input should be {said}", given, {"expected": said})
    if wrong := sorted(set(map(str, types or ())) - set(TYPES)):
        raise Problem(422, f"Invalid fact type(s): {', '.join(wrong)}. Must be one of: {', '.join(TYPES)}")
    return query, list(types or TYPES)


def search(request: Request, query: str, types: list[str], body: dict[str, Any]) -> list[Found]:
    """Valid ones of these types that share a word with the question and fit the tags, the best first."""
    found = _merged(request, query, types, body)
    return _superseded(found) if _prefers_observations(request, body) else found


def _merged(request: Request, query: str, types: list[str], body: dict[str, Any]) -> list[Found]:
    """The same with facts that an observation stands for."""
    rows = request.store.rows(
        f"SELECT * FROM facts WHERE bank_id = ? AND state = 'valid' AND type IN ({marks(types)}) "  # noqa: S608
        "ORDER BY mentioned_at DESC, id",
        request.bank_id,
        *types,
    )
    asked, tags, mode = _words(query), set(body.get("tags") or ()), body.get("tags_match") or "any"
    found = []
    for row in rows:
        shared = len(asked & _words(row["text"]))
        if shared and _fits(set(unpack(row["tags"])), tags, mode):
            weight = _OBSERVATION if row["type"] == "observation" else 1.0
            found.append((weight * shared / len(asked), shared, row))
    return sorted(found, key=lambda each: -each[0])


def _words(said: str) -> set[str]:
    """Without case, the words that questions are made of, and the s at their end."""
    words = (word.lower() for word in _WORD.findall(said))
    return {word.removesuffix("s") for word in words if len(word) > 2 and word not in _ASKING}


def _fits(own: set[str], tags: set[str], mode: str) -> bool:
    if mode == "exact":
        return own == tags
    if not tags:
        return True
    if not own:
        return "strict" not in mode
    return bool(tags & own) if mode.startswith("any") else tags <= own


def _prefers_observations(request: Request, body: dict[str, Any]) -> bool:
    """What the body does not say, the bank is set to."""
    if (given := body.get("prefer_observations")) is not None:
        return bool(given)
    sql = "SELECT value FROM config WHERE bank_id = ? AND name = 'recall_prefer_observations'"
    row = request.store.row(sql, request.bank_id)
    return bool(row is not None and unpack(row["value"]))


def _superseded(found: list[Found]) -> list[Found]:
    """Without the facts that an observation among them is made from."""
    covered = {fact for _, _, row in found if row["type"] == "observation" for fact in unpack(row["sources"])}
    return [each for each in found if each[2]["id"] not in covered]


def _row(row: Row, score: float, shared: int, query: str) -> dict[str, Any]:
    same = ("id", "text", "type", "context", "occurred_start", "occurred_end", "mentioned_at", "document_id")
    chunk = None if row["chunk"] is None else f"{row['bank_id']}_{row['document_id']}_{row['chunk']}"
    sources = unpack(row["sources"])
    return {name: row[name] for name in same} | {
        "entities": unpack(row["entities"]),
        "metadata": unpack(row["metadata"]),
        "tags": unpack(row["tags"]),
        "chunk_id": chunk,
        "source_fact_ids": sources or None,
        "scores": {"final": score, "reranker": None, "semantic": _likeness(row, query), "keyword": shared / 10},
        "attachments": None,
    }


def _sources(results: list[Found]) -> list[str]:
    """Ids of the facts that the observations among them are made from."""
    return list(dict.fromkeys(fact for _, _, row in results for fact in unpack(row["sources"])))


def _source_facts(request: Request, results: list[Found], body: dict[str, Any], query: str) -> dict[str, Any] | None:
    """Those of them that have room; None where they are not wanted, and then observations do not name them."""
    include = body.get("include")
    wanted = include.get("source_facts") if isinstance(include, dict) else None
    if wanted is None:
        return None
    room, told, names = int(wanted.get("max_tokens", 4_096)) * _SIGNS_OF_A_TOKEN, dict[str, Any](), _sources(results)
    sql = f"SELECT * FROM facts WHERE bank_id = ? AND id IN ({marks(names)})"  # noqa: S608
    for row in sorted(request.store.rows(sql, request.bank_id, *names), key=lambda row: names.index(row["id"])):
        if len(row["text"]) <= room:
            room -= len(row["text"])
            told[row["id"]] = _row(row, 0.0, 0, query) | {"scores": None, "source_fact_ids": None}
    return told


def _likeness(row: Row, query: str) -> float:
    asked, said = _words(query), _words(row["text"])
    return len(asked & said) / math.sqrt(len(asked) * len(said))


def _entities(request: Request, results: list[Found], body: dict[str, Any]) -> dict[str, Any] | None:
    """Those that the facts speak of; they come unless they are not wanted."""
    include = body.get("include")
    if isinstance(include, dict) and "entities" in include and include["entities"] is None:
        return None
    names = sorted({name for _, _, row in results for name in unpack(row["entities"])})
    told = {
        name: {"entity_id": entities.id_of(request, name), "canonical_name": name, "observations": []} for name in names
    }
    return told or None


def _trace(body: dict[str, Any], query: str, found: list[Found], returned: int) -> dict[str, Any]:
    """How it was found: one search by words for each type, and the places of what was found in it."""
    budget = BUDGETS[body.get("budget") or "mid"]
    tokens, tags, mode = body.get("max_tokens") or 4_096, body.get("tags"), body.get("tags_match") or "any"
    asked: dict[str, Any] = {"query_text": query, "query_embedding": [], "budget": budget, "max_tokens": tokens}
    return {
        "query": asked | {"tags": tags, "tags_match": mode, "temporal_constraint": None},
        "retrieval_results": [
            {
                "method_name": "bm25",
                "fact_type": kind,
                "results": [
                    {"rank": rank, "node_id": row["id"], "text": row["text"]} for rank, row in enumerate(rows, 1)
                ],
                "duration_seconds": 0.001,
                "metadata": {"limit": budget},
            }
            for kind in TYPES
            if (rows := [row for _, _, row in found if row["type"] == kind])
        ],
        "rrf_merged": [
            {
                "node_id": row["id"],
                "text": row["text"],
                "rrf_score": score,
                "source_ranks": {"bm25_rank": rank},
                "final_rrf_rank": rank,
            }
            for rank, (score, _, row) in enumerate(found, 1)
        ],
        "summary": {
            "total_nodes_visited": len(found),
            "total_duration_seconds": 0.002,
            "results_returned": returned,
            "phase_metrics": [{"phase_name": "parallel_retrieval", "duration_seconds": 0.001, "details": {}}],
        },
    }
