"""Which of the two files wins for each key of the tool's configuration, as the tool itself decides it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.agentconfig.keys import KEYS
from reviews.agentconfig.layers import NO_BANK, Effective, Layer, layer_of, merged, slug


def layers(project: Any = None, person: Any = None) -> tuple[Layer, Layer]:
    made = [None if each is None else json.dumps(each).encode() for each in (project, person)]
    return layer_of("project", made[0]), layer_of("global", made[1])


def row_of(name: str, project: Any = None, person: Any = None, **more: str) -> Effective:
    config = merged(*layers(project, person), **more)
    return next(row for group in config.groups for row in group.rows if row.key.name == name)


def test_the_projects_file_wins_and_says_what_it_hides() -> None:
    row = row_of("autoRecall", {"autoRecall": False}, {"autoRecall": True})
    assert (row.text, row.layer, row.shadowed) == ("off", "project", "on")


def test_the_persons_file_counts_where_the_project_says_nothing() -> None:
    row = row_of("recallMaxLines", {"bankId": "a"}, {"recallMaxLines": 12})
    assert (row.text, row.layer, row.shadowed, row.wrong) == ("12", "global", "", "")


def test_what_neither_sets_is_the_environments_or_the_default() -> None:
    row = row_of("recallMaxLines", {}, {})
    assert (row.text, row.layer, row.key.env) == ("8", "", "HINDSIGHT_RECALL_MAX_LINES")


@pytest.mark.parametrize(
    ("project", "person", "folder", "bank"),
    [
        ("My Project Bank", None, "", "my-project-bank"),
        ("  ", "auto", "Foo__Bar--9", "foo-bar-9"),
        (None, "shared", "shop", ""),  # a concrete bank for all projects is refused on purpose
        (None, "auto", "shop", "shop"),
        ("auto", None, "журнал", "default"),
        ("auto", None, "", ""),
        (7, "auto", "shop", "shop"),
        (None, None, "shop", ""),
    ],
)
def test_the_bank(project: Any, person: Any, folder: str, bank: str) -> None:
    made = [{} if value is None else {"bankId": value} for value in (project, person)]
    config = merged(*layers(*made), folder=folder)
    assert config.bank == bank
    assert config.bank_says or bank == slug(str(project))


@pytest.mark.parametrize("name", ["recallMaxLines", "chunkInputFraction"])
def test_a_number_longer_than_any_float_is_shown(name: str) -> None:
    assert row_of(name, {name: 10**400}).wrong == ""


def test_a_bank_for_all_projects_is_said_to_count_for_nothing() -> None:
    row = row_of("bankId", {}, {"bankId": "shared"})
    assert (row.layer, row.wrong) == ("", NO_BANK)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recallMaxLines", "lots"),
        ("recallMaxLines", 4.5),
        ("recallMaxLines", True),
        ("recallEffort", "turbo"),
        ("autoRecall", "yes"),
        ("memoryLanguage", ""),
        ("retainModelChain", [1]),
        ("factCategories", "goal"),
    ],
)
def test_the_tool_takes_nonsense_and_the_page_says_so(name: str, value: Any) -> None:
    assert row_of(name, {name: value}).wrong


@pytest.mark.parametrize(
    "raw", [b"{", b"", b"[]", b"5", b"null", b'\xef\xbb\xbf{"a": 1}', b'{"a": NaN}', b'{"a": "\xff"}', b"[" * 100_000]
)
def test_a_malformed_file_is_empty_and_named(raw: bytes) -> None:
    layer = layer_of("project", raw)
    assert (layer.values, layer.known, layer.unknown) == (None, {}, [])
    assert layer.trouble


def test_a_missing_file_is_no_trouble() -> None:
    assert layer_of("project", None) == Layer("project")


def test_values_of_unknown_keys_are_in_nothing() -> None:
    config = merged(*layers({"apiKey": "sesame-4711", "baseUrl": "http://ann:sesame-4711@example.org/x"}))
    assert config.project.unknown == ["apiKey"]
    assert "sesame-4711" not in str(config.groups)
    assert row_of("baseUrl", {"baseUrl": "http://ann:sesame-4711@example.org/x"}).text == "http://…@example.org/x"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda some: st.lists(some, max_size=3)
)


@given(st.binary() | st.dictionaries(st.sampled_from(sorted(KEYS)), json_values).map(json.dumps).map(str.encode))
def test_no_file_breaks_the_page(raw: bytes) -> None:
    config = merged(layer_of("project", raw), layer_of("global", raw), folder="shop")
    assert sum(len(group.rows) for group in config.groups) == len(KEYS)
