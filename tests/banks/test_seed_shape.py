"""What a seed may be, and what it becomes in a bank: without any server."""

from typing import Any

import pytest

from banks.hindsight import MentalModel
from banks.seeds import BUILT_IN, NotASeed, SeedSpec, checked
from banks.seeds.planning import CREATE, EXISTS, OTHER_TAGS, drift, judge, suffix_of, wanted

GOOD: dict[str, Any] = {
    "id": "glossary",
    "name": "Glossary",
    "source_query": "Which words mean something special here?",
    "scopes": ["per-project"],
}
DECISIONS = next(spec for spec in BUILT_IN if spec.id == "project-decisions")
PREFERENCES = next(spec for spec in BUILT_IN if spec.id == "user-preferences")


def model(model_id: str, *tags: str, **values: Any) -> MentalModel:
    row = {"id": model_id, "name": "", "tags": list(tags), **values}
    return MentalModel.parse(row)


def test_the_built_in_ones_are_seeds_with_their_scopes_and_budgets() -> None:
    for spec in BUILT_IN:
        values = spec.as_json()
        assert checked(values).as_json() == values
    told = {spec.id: (spec.scopes, spec.project_tagged, spec.max_tokens) for spec in BUILT_IN}
    projects = ("per-project", "per-project-tagged")
    assert told == {
        "user-preferences": (("global", *projects), False, 1500),
        "project-conventions": (projects, True, 1200),
        "project-decisions": (projects, True, 1200),
    }


def test_what_is_not_said_has_a_value_and_other_names_are_understood() -> None:
    spec = checked({**GOOD, "projectTagged": True, "maxTokens": 800, "tags": ["lang:de", "lang:de"]})
    assert (spec.project_tagged, spec.max_tokens, spec.extra_tags) == (True, 800, ("lang:de",))
    assert checked(GOOD).max_tokens == 2048


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": "Glossary"}, "id"),
        ({"id": "a_b"}, "id"),
        ({"id": "-a"}, "id"),
        ({"id": "a--b"}, "id"),
        ({"id": "ä"}, "id"),
        ({"id": "a\n"}, "id"),
        ({"id": "a" * 65}, "id"),
        ({"id": 7}, "id"),
        ({"name": "  "}, "name"),
        ({"name": "evil\u202eeman"}, "name"),
        ({"source_query": ""}, "source_query"),
        ({"source_query": "x\0"}, "source_query"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["everywhere"]}, "scopes"),
        ({"scopes": ["global"], "project_tagged": True}, "scopes"),
        ({"project_tagged": "yes"}, "project_tagged"),
        ({"extra_tags": ["a "]}, "extra_tags"),
        ({"extra_tags": "a"}, "extra_tags"),
        ({"max_tokens": 255}, "max_tokens"),
        ({"max_tokens": 8193}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"trigger": {"mode": "never"}}, "trigger"),
        ({"trigger": {"refresh_after_consolidation": 1}}, "trigger"),
        ({"trigger": {"surprise": 1}}, "trigger"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_no_seed_is_refused_with_its_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(NotASeed) as caught:
        checked({**GOOD, **change})
    assert field in caught.value.problems


def test_in_a_tagged_scope_a_projects_model_has_its_label_in_id_and_tag() -> None:
    meant = wanted(DECISIONS, mode="per-project-tagged", project="/home/ann/Check out_2.0")
    assert meant is not None
    assert (meant.model_id, meant.tags) == ("project-decisions-check-out_2.0", ("project:check out_2.0",))
    assert meant.legacy == "project-decisions"
    for mode in ("per-project", "per-project-tagged"):
        bare = wanted(PREFERENCES, mode=mode, project="/home/ann/shop")
        assert bare is not None
        assert (bare.model_id, bare.tags, bare.legacy) == ("user-preferences", (), "")


def test_a_projects_own_bank_needs_no_tag_and_a_global_bank_no_projects_model() -> None:
    own = wanted(DECISIONS, mode="per-project", project="/home/ann/shop")
    assert own is not None
    assert (own.model_id, own.tags) == ("project-decisions", ())
    assert wanted(DECISIONS, mode="global") is None
    assert wanted(PREFERENCES, mode="global") is not None


@pytest.mark.parametrize(
    ("label", "suffix"), [("shop", "shop"), ("a b//c", "a-b-c"), ("--x--", "x"), ("...", "..."), ("ж", "project")]
)
def test_a_label_becomes_the_end_of_an_id(label: str, suffix: str) -> None:
    assert suffix_of(label) == suffix


def test_what_is_there_is_told_from_what_is_there_for_others() -> None:
    meant = wanted(DECISIONS, mode="per-project-tagged", project="b")
    assert meant is not None

    def judged(*models: MentalModel) -> tuple[str, str]:
        found = judge(meant, {each.id: each for each in models})
        return found.status, found.found.id if found.found else ""

    assert judged() == (CREATE, "")
    assert judged(model("project-decisions", "project:a")) == (CREATE, "")  # another project's, of earlier agents
    assert judged(model("project-decisions")) == (CREATE, "")
    assert judged(model("project-decisions", "project:b")) == (EXISTS, "project-decisions")
    assert judged(model("project-decisions-b", "project:b")) == (EXISTS, "project-decisions-b")
    assert judged(model("project-decisions-b", "project:a")) == (OTHER_TAGS, "project-decisions-b")
    assert judged(model("project-decisions-b"), model("project-decisions", "project:b"))[0] == OTHER_TAGS


def test_a_model_of_two_projects_whose_labels_make_one_id_is_a_warning() -> None:
    meant = wanted(DECISIONS, mode="per-project-tagged", project="a b")
    assert meant is not None
    other = model("project-decisions-a-b", "project:a-b")
    assert judge(meant, {other.id: other}).status == OTHER_TAGS


def test_drift_names_what_differs_and_only_what_the_server_told() -> None:
    spec = SeedSpec("g", "Glossary", "Which words?", ("global",), max_tokens=512, trigger={"mode": "full"})
    meant = wanted(spec, mode="global")
    assert meant is not None
    same = {"name": "Glossary", "source_query": "Which words? ", "max_tokens": 512, "trigger": {"mode": "full", "x": 1}}
    assert drift(meant, model("g", **same)) == []
    assert drift(meant, model("g", name="Glossary")) == []
    changed = {"name": "Words", "source_query": "What?", "max_tokens": 600, "trigger": {"mode": "delta"}}
    assert drift(meant, model("g", "t", **changed)) == ["name", "question", "longest text", "tags", "refresh"]
