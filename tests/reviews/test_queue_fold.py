"""What a file says: the tool's own rule against recorded runs of it, and ours."""

import json
from datetime import datetime
from typing import Any

import pytest

from reviews.importing.fold import fold, predicted_expiry, predicted_pending
from tests.reviews.queue_files import DATA, add, done, events_of

CASES = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((DATA / "golden").glob("*.json"))]
FOLDS = [case for case in CASES if case["kind"] == "fold"]
LOADS = [case for case in CASES if case["kind"] == "load"]
NAMES = {"docId": "document_id", "bank": "bank", "baseUrl": "base_url", "namespace": "namespace"} | {
    name: name for name in ("project", "reason", "ts", "language")
}


def as_tool(event: Any) -> dict[str, str]:
    return {theirs: getattr(event, ours) for theirs, ours in NAMES.items()}


def test_the_recorded_cases_are_here() -> None:
    assert (len(FOLDS), len(LOADS)) == (9, 5)


@pytest.mark.parametrize("case", FOLDS, ids=lambda case: case["name"])
def test_the_prediction_is_what_the_tool_showed(case: dict[str, Any]) -> None:
    pending = predicted_pending(events_of(case["input"]["lines"]))
    assert [as_tool(event) for event in pending] == case["expected"]["pending"]


@pytest.mark.parametrize("case", LOADS, ids=lambda case: case["name"])
def test_the_prediction_expires_what_the_tool_expired(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    days = 7 if given["expireAfterDays"] == "from config" else given["expireAfterDays"]
    now = datetime.fromisoformat(given["now"])
    kept, expired = predicted_expiry(predicted_pending(events_of(given["lines"])), now=now, days=days)
    assert [as_tool(event) for event in kept] == expected["pending"]
    assert [event.document_id for event in expired] == [event["docId"] for event in expected["appended"]]


def folded(*lines: str) -> Any:
    return fold(events_of(list(lines)), lambda event: (event.base_url, event.namespace, event.bank, event.document_id))


def test_a_done_without_bank_belongs_to_the_one_memory_it_fits() -> None:
    found = folded(add("a"), add("b"), done("a"))
    assert sorted(found.sequences.values()) == [[0, 2], [1]]


def test_the_same_id_in_two_banks_is_two_memories() -> None:
    found = folded(add("a", bank="one"), add("a", bank="two"))
    assert list(found.sequences.values()) == [[0], [1]]


def test_a_done_that_fits_two_is_a_conflict() -> None:
    found = folded(add("a", bank="one"), add("a", bank="two"), done("a"))
    assert [position for position, _ in found.conflicts] == [2]


def test_a_done_that_names_its_bank_is_none() -> None:
    found = folded(add("a", bank="one"), add("a", bank="two"), done("a", bank="two"))
    assert list(found.sequences.values()) == [[0], [1, 2]]


def test_what_was_closed_before_does_not_make_a_conflict() -> None:
    found = folded(add("a", bank="one"), done("a"), add("a", bank="two"), done("a"))
    assert list(found.sequences.values()) == [[0, 1], [2, 3]]


def test_later_lines_never_change_what_a_done_meant() -> None:
    found = folded(add("a", bank="one"), done("a"), add("a", bank="two"))
    assert list(found.sequences.values()) == [[0, 1], [2]]


def test_auto_closes_nothing_for_us() -> None:
    found = folded(add("a"), done("a", by="auto"), done("a"))
    assert list(found.sequences.values()) == [[0, 1, 2]]


def test_a_done_for_nothing_is_told_apart() -> None:
    found = folded(done("never"), add("a"), done("a"), done("a"))
    assert (found.unknown, found.idle) == ([0], [3])
