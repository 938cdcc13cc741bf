"""What a list of the demo server's facts is narrowed by, as conditions of its database."""

from typing import Any

from banks.demo import entities
from banks.demo.banks import require_bank
from banks.demo.http import Problem, Request, parse_time, wrong_value
from banks.demo.store import stamp

_MODES = ("any", "all", "any_strict", "all_strict", "exact")
_TIMES = ("created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end")

Clause = tuple[str, list[Any]]


def narrowed(request: Request) -> Clause:
    """The condition with its values. Raises Problem as the real server refuses."""
    state = request.text("state", "valid")
    if state not in {"valid", "invalidated"}:
        raise Problem(400, f"Invalid state '{state}': expected 'valid' or 'invalidated'.")
    windows = _window(request)
    require_bank(request)
    clauses: list[Clause] = [("bank_id = ? AND state = ?", [request.bank_id, state])]
    for name in ("document_id", "type"):
        if given := request.text(name):
            clauses.append((f"{name} = ?", [given]))
    clauses += [*_entity(request), *_text(request), *_tags(request), *windows]
    return " AND ".join(f"({sql})" for sql, _ in clauses), [value for _, values in clauses for value in values]


def _entity(request: Request) -> list[Clause]:
    if not (entity := request.text("entity_id")):
        return []
    named = "EXISTS (SELECT 1 FROM json_each(facts.entities) WHERE lower(value) = lower(?))"
    # Others have no entities on the real server.
    return [(f"{named} AND state = 'valid' AND type <> 'observation'", [entities.name_of(request, entity)])]


def _text(request: Request) -> list[Clause]:
    if not (q := request.text("q")):
        return []
    if "\0" in q:
        raise Problem(500, 'invalid byte sequence for encoding "UTF8": 0x00')
    pattern = f"%{q}%"  # the real server leaves wildcards working, and what takes their meaning from them
    return [("text LIKE ? ESCAPE '\\' OR context LIKE ? ESCAPE '\\'", [pattern, pattern])]


def _tags(request: Request) -> list[Clause]:
    """All but the strict modes bring what has no tags, too."""
    mode = request.text("tags_match", "any")
    if mode not in _MODES:
        raise wrong_value(["query", "tags_match"], f"Input should be one of {', '.join(_MODES)}", mode)
    untagged = "json_array_length(facts.tags) = 0"
    tags = request.query.get("tags", [])
    if not tags:
        return [(untagged, [])] if mode == "exact" else []
    having = "EXISTS (SELECT 1 FROM json_each(facts.tags) WHERE value = ?)"
    sql = (" OR " if mode.startswith("any") else " AND ").join([having] * len(tags))
    if mode == "exact":
        sql += f" AND json_array_length(facts.tags) = {len(set(tags))}"
    return [(sql if "_" in mode or mode == "exact" else f"({sql}) OR {untagged}", tags)]


def _window(request: Request) -> list[Clause]:
    """From its first moment, and before its last; what has no such time is in no window."""
    axis, bounds = request.text("time_field"), ("start_date", "end_date")
    given = [request.text(name) for name in bounds]
    if axis and axis not in _TIMES:
        raise wrong_value(["query", "time_field"], f"Input should be one of {', '.join(_TIMES)}", axis)
    if not axis and not any(given):
        return []
    moments = [
        stamp(parse_time(text, Problem(400, f"Invalid {name}: '{text}'"))) if text else ""
        for name, text in zip(bounds, given, strict=True)
    ]
    start, end = moments
    if start and end and end <= start:
        raise Problem(400, "Invalid time window: end_date must be after start_date.")
    column = axis or "created_at"
    clauses: list[Clause] = [(f"{column} IS NOT NULL", [])]
    return clauses + [(f"{column} {sign} ?", [moment]) for sign, moment in ((">=", start), ("<", end)) if moment]
