"""What a retain takes: everything that the server does, and each wrong field of each item by its name."""

import math
from typing import Any

import pytest
from django.conf import LazySettings
from hypothesis import given, settings
from hypothesis import strategies as st

from banks.retain import Refused, parse
from banks.retain.params import MOST_ITEMS, operation, tags

EVERYTHING: dict[str, Any] = {
    "content": "Ann moved to Lyon.",
    "document_id": "notes/журнал 7.md",
    "timestamp": "2026-02-01T10:00:00+02:00",
    "context": "a talk",
    "metadata": {"author": "Zed", "dropped": None},
    "tags": ["b", "a", "b"],
    "update_mode": "append",
    "entities": [{"text": "Ann"}, {"text": "Lyon", "type": "PLACE"}],
    "resolve_entities": False,
    "observation_scopes": [["a"], []],
    "strategy": "careful",
}


def problems(*items: Any) -> list[str]:
    with pytest.raises(Refused) as refused:
        parse(list(items))
    return [str(problem).partition(":")[0] for problem in refused.value.problems]


def test_everything_is_taken_as_it_was_given() -> None:
    (item,) = parse([EVERYTHING])
    assert (item.content, item.document_id, item.timestamp) == (
        EVERYTHING["content"],
        EVERYTHING["document_id"],
        EVERYTHING["timestamp"],
    )
    assert (item.metadata, item.tags, item.update_mode) == ({"author": "Zed"}, ["b", "a"], "append")
    assert item.entities == [{"text": "Ann"}, {"text": "Lyon", "type": "PLACE"}]
    assert (item.resolve_entities, item.observation_scopes, item.strategy) == (False, [["a"], []], "careful")
    assert item.notes == []


def test_what_is_not_said_is_not_made_up() -> None:
    (item,) = parse([{"content": " \n Ann.\n", "context": None, "metadata": None, "tags": None, "document_id": ""}])
    assert (item.content, item.document_id, item.timestamp, item.context) == (" \n Ann.\n", "", "", None)
    assert (item.metadata, item.tags, item.entities, item.observation_scopes) == ({}, [], None, None)
    assert (item.resolve_entities, item.strategy, item.update_mode) == (None, "", "replace")


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("2026-02-01", "2026-02-01T00:00:00+00:00"),
        ("2026-02-01T10:00:00", "2026-02-01T10:00:00+00:00"),
        ("2026-02-01T10:00:00Z", "2026-02-01T10:00:00+00:00"),
        ("unset", "unset"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_time_without_an_offset_is_utc_and_says_so(given: str | None, sent: str) -> None:
    assert parse([{"content": "x", "timestamp": given}])[0].timestamp == sent


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"content": None}, "content"),
        ({"content": [{"type": "image"}]}, "content"),
        ({"content": " \u200b\n"}, "content"),
        ({"timestamp": "yesterday"}, "timestamp"),
        ({"timestamp": 7}, "timestamp"),
        ({"timestamp": "0001-01-01T00:00:00+14:00"}, "timestamp"),  # before there is any time in UTC
        ({"timestamp": "9999-12-31T23:59:59-14:00"}, "timestamp"),
        ({"context": 7}, "context"),
        ({"metadata": ["a"]}, "metadata"),
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"document_id": ".."}, "document_id"),
        ({"document_id": "a\nb"}, "document_id"),
        ({"document_id": "notes/chunks"}, "document_id"),
        ({"document_id": "x" * 3000}, "document_id"),
        ({"update_mode": "merge"}, "update_mode"),
        ({"update_mode": "append"}, "update_mode"),
        ({"entities": [{"type": "x"}]}, "entities[0]"),
        ({"entities": [{"text": " "}]}, "entities[0]"),
        ({"entities": [{"text": "a", "kind": "x"}]}, "entities[0]"),
        ({"resolve_entities": "yes"}, "resolve_entities"),
        ({"tags": "a"}, "tags"),
        ({"tags": ["a", ""]}, "tags[1]"),
        ({"observation_scopes": "all"}, "observation_scopes"),
        ({"observation_scopes": [["a"], "b"]}, "observation_scopes[1]"),
        ({"observation_scopes": [["a", 1]]}, "observation_scopes[0][1]"),
        ({"strategy": 1}, "strategy"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_field_is_named_with_its_item(wrong: dict[str, Any], field: str) -> None:
    assert problems({"content": "fine"}, {"content": "x", **wrong}) == [f"items[1].{field}"]


def test_all_that_is_wrong_is_said_at_once() -> None:
    found = problems({"content": ""}, "text", {"content": "x", "tags": 1, "strategy": 2})
    assert found == ["items[0].content", "items[1]", "items[1].content", "items[2].tags", "items[2].strategy"]


@pytest.mark.parametrize("items", [None, [], {}, "text", 7])
def test_a_request_has_at_least_one_item(items: Any) -> None:
    with pytest.raises(Refused) as refused:
        parse(items)
    assert (refused.value.status, str(refused.value)) == (422, "items: A list with at least one item.")


def test_what_is_too_large_is_said_with_its_size(settings: LazySettings) -> None:
    settings.RETAIN_ITEM_BYTES = 10
    assert parse([{"content": "ж" * 5}])
    with pytest.raises(Refused) as refused:
        parse([{"content": "fine"}, {"content": "ж" * 6}])
    assert (refused.value.status, str(refused.value)) == (413, "items[1].content: 12 bytes; at most 10 in one item.")
    with pytest.raises(Refused, match="65 items; at most 64") as refused:
        parse([{"content": "x"}] * (MOST_ITEMS + 1))
    assert refused.value.status == 413


def test_all_contents_together_have_a_limit(settings: LazySettings) -> None:
    settings.RETAIN_ITEM_BYTES = math.inf
    with pytest.raises(Refused, match="at most 8,388,608 in one request") as refused:
        parse([{"content": "x" * 3_000_000}] * 3)
    assert (refused.value.status, refused.value.problems[0].item) == (413, None)


def test_what_no_bank_can_store_is_replaced_and_said() -> None:
    (item,) = parse([{"content": "half \ud83d and \0", "tags": ["t\udc00"]}])
    assert (item.content, item.tags) == ("half \ufffd and \ufffd", ["t\ufffd"])
    assert item.notes == ["3 characters that no bank can store: replaced by U+FFFD."]


def test_tags_and_the_operation_of_a_request() -> None:
    assert tags(["a", "a", "b"], "document_tags") == ["a", "b"]
    assert operation("") is None
    assert str(operation("00000000-0000-4000-8000-00000000000A")) == "00000000-0000-4000-8000-00000000000a"
    with pytest.raises(Refused, match=r"document_tags\[0\]: "):
        tags([""], "document_tags")
    with pytest.raises(Refused, match="operation_id: A UUID"):
        operation("seven")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200)
@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(EVERYTHING, JSON)) | JSON, max_size=3) | JSON)
def test_whatever_comes_is_taken_or_refused(items: Any) -> None:
    try:
        parsed = parse(items)
    except Refused:
        return
    for item in parsed:
        item.content.encode()
        assert "\0" not in item.content + item.document_id
