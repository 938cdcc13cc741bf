"""Settings as a form shows them, and what a form that comes back asks for."""

from typing import Any

import pytest

from banks.config.fields import Group, Unusable, asked_by, grouped, kind_of, parse, same, settings_of, text_of

VALUES: dict[str, Any] = {
    "retain_mission": "Keep\r\ndecisions.",
    "retain_chunk_size": 3000,
    "recall_budget_adaptive_mid": 0.075,
    "enable_observations": True,
    "retain_extraction_mode": "concise",
    "entity_labels": None,
    "retain_strategies": {"b": {"x": 1}, "a": {}},
    "disposition_empathy": None,
    "a_setting_of_tomorrow": "x",
}
OWN = {"retain_mission": VALUES["retain_mission"], "retain_chunk_size": 3000}


def posted(**changes: str) -> dict[str, str]:
    form = {f"value.{each.name}": each.text.replace("\r\n", "\n") for each in settings_of(VALUES, OWN)}
    form |= {f"own.{name}": "on" for name in OWN}
    return {**form, **{f"value.{name}": value for name, value in changes.items()}}


def test_a_form_that_comes_back_as_it_was_asks_for_nothing() -> None:
    """Line ends, number formats and the order of keys are those of the page, not of the server."""
    assert asked_by(VALUES, OWN, posted()).updates == {}
    assert asked_by(VALUES, OWN, {name: text.replace("\n", "\r\n") for name, text in posted().items()}).updates == {}
    assert asked_by(VALUES, OWN, {}).updates == {}


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("retain_chunk_size", "2000", 2000),
        ("recall_budget_adaptive_mid", "0.5", 0.5),
        ("enable_observations", "false", False),
        ("retain_extraction_mode", "verbose", "verbose"),
        ("entity_labels", '[{"key": "team"}]', [{"key": "team"}]),
        ("disposition_empathy", "4", 4),
        ("retain_mission", "Keep\r\nnames.", "Keep\nnames."),
        ("a_setting_of_tomorrow", "y", "y"),
    ],
)
def test_what_is_typed_over_is_asked_for_alone(name: str, typed: str, value: object) -> None:
    asked = asked_by(VALUES, OWN, posted(**{name: typed}))
    assert (asked.updates, asked.errors) == ({name: value}, 0)
    assert [each.name for each in asked.settings if each.changed] == [name]


def test_unticked_is_inherited_again_and_ticked_is_kept_as_it_is() -> None:
    form = posted()
    del form["own.retain_chunk_size"]
    form["own.enable_observations"] = "on"
    assert asked_by(VALUES, OWN, form).updates == {"retain_chunk_size": None, "enable_observations": True}


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("retain_chunk_size", "lots"),
        ("retain_chunk_size", ""),
        ("recall_budget_adaptive_mid", "nan"),
        ("enable_observations", "perhaps"),
        ("entity_labels", "{"),
        ("entity_labels", "NaN"),
        ("entity_labels", "null"),
        ("entity_labels", '["\\ud800"]'),
        ("retain_mission", "a\0b"),
    ],
)
def test_what_is_no_value_is_said_beside_it_and_stays_typed_in(name: str, typed: str) -> None:
    asked = asked_by(VALUES, OWN, posted(**{name: typed}))
    assert (asked.updates, asked.errors) == ({}, 1)
    (wrong,) = [each for each in asked.settings if each.error]
    assert (wrong.name, wrong.text) == (name, typed)


def test_too_long_a_value_is_refused() -> None:
    with pytest.raises(Unusable, match="200,000"):
        parse("lines", "x" * 200_001)


def test_settings_stand_in_groups_by_name_and_none_is_left_out() -> None:
    groups = grouped(settings_of(VALUES, OWN))
    assert groups[0].title == "Missions"
    assert groups[-1] == Group("Others", [each for each in settings_of(VALUES, OWN) if each.name.startswith("a_")])
    assert sorted(each.name for group in groups for each in group.settings) == sorted(VALUES)


def test_half_a_character_is_shown_and_an_untouched_one_is_not_sent() -> None:
    values = {"retain_mission": "a\ud800b"}
    assert text_of(values["retain_mission"]) == "a?b"
    form = {"value.retain_mission": "a?b", "own.retain_mission": "on"}
    assert asked_by(values, values, form).updates == {}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [(1, 1.0, True), (1, True, False), (None, None, True), ([1], [True], False), ({"a": 0}, {"a": False}, False)],
)
def test_values_are_the_same_as_json_has_it(one: object, other: object, alike: bool) -> None:
    assert same(one, other) is alike


def test_a_text_that_one_line_would_change_gets_several() -> None:
    assert kind_of("x", "a\nb") == kind_of("x", "a\u202eb") == kind_of("x", "y" * 81) == "lines"
    assert kind_of("x", "a b") == "line"
