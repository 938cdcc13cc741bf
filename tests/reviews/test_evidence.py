"""When a model's verdict about a fact counts: every row of the table of rules, and the recorded cases."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.evidence import Kill, NoVerdicts, judge, normalised, parse_reply

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data/golden/49-kill-evidence-rules.json").read_text(encoding="utf-8")
)
TRANSCRIPT = "ann: We removed tools/exporter.py for good; the nightly dump is off.\nben: and the queue port?"
GOOD = "We removed tools/exporter.py for good"


def killed(*verdicts: Any, candidates: tuple[str, ...] = ("f1", "f2"), transcript: str = TRANSCRIPT) -> list[str]:
    return [each.id for each in judge(transcript=transcript, candidates=candidates, verdicts=verdicts).kills]


def verdict(quote: Any = GOOD, fact_id: Any = "f1", kind: Any = "contradicts") -> dict[str, Any]:
    return {"verdict": kind, "id": fact_id, "quote": quote}


@pytest.mark.parametrize("case", RECORDED["expected"]["cases"], ids=lambda case: case["label"])
def test_the_recorded_cases(case: dict[str, Any]) -> None:
    source = RECORDED["input"]
    try:
        verdicts = parse_reply(case["raw"])
    except NoVerdicts:
        verdicts = []
    judged = judge(transcript=source["transcript"], candidates=source["allowedIds"], verdicts=verdicts)
    assert [{"id": kill.id, "quote": kill.quote} for kill in judged.kills] == case["kills"]


@pytest.mark.parametrize(
    ("quote", "counts"),
    [
        (GOOD, True),
        ("WE  REMOVED\n tools/exporter.py for  good", True),
        ("the nightly dump is o", True),  # 21 characters, cut in a word
        ("nightly dump is off.", True),  # exactly 20 characters and 4 words
        ("the nightly dump is", False),  # 19 characters, 4 words
        ("tools/exporter.py for good;", False),  # 27 characters, 3 words
        ("e", False),
        ("We removed", False),
        ("    ", False),
        (None, False),
        (5, False),
        (["We removed tools/exporter.py for good"], False),
        ("the exporter was dropped last week for good", False),  # a paraphrase
    ],
)
def test_a_quote_must_be_long_enough_and_there(quote: Any, counts: bool) -> None:
    assert killed(verdict(quote)) == (["f1"] if counts else [])


def test_only_candidates_that_are_contradicted_and_each_once() -> None:
    assert killed(verdict(fact_id="f3")) == []
    assert killed(verdict(kind="new"), verdict(kind="duplicate"), verdict(kind="CONTRADICTS")) == []
    assert killed(verdict(), verdict("the nightly dump is off")) == ["f1"]
    assert killed(verdict("e"), verdict()) == ["f1"]
    assert killed(verdict(fact_id=" f1\ufeff")) == ["f1"]
    assert killed(verdict(fact_id=7), verdict(fact_id=["f1"]), None, "f1", [], verdict(fact_id="f2")) == ["f2"]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Sure, retire f1.",
        '```json\n{"verdicts": []}\n```',
        '{"verdicts": "x"}',
        '{"verdicts": null}',
        "[]",
        '{"verdicts": [NaN]}',
        '{"verdicts": []} done',
        "[" * 100_000,
    ],
)
def test_a_reply_that_is_anything_but_json_is_refused(reply: str) -> None:
    with pytest.raises(NoVerdicts):
        parse_reply(reply)


def test_a_reply_may_have_space_around_it() -> None:
    assert parse_reply(' \ufeff\n{"verdicts": [1, null]}\n\xa0') == [1, None]


def test_what_does_not_count_says_why_unless_a_later_one_counts() -> None:
    judged = judge(transcript=TRANSCRIPT, candidates=["f1", "f2"], verdicts=[verdict("e"), verdict(None, "f2")])
    assert judged.refused == {
        "f1": "The quote is too short: 20 characters and 4 words are the least.",
        "f2": "There is no quote.",
    }
    judged = judge(transcript=TRANSCRIPT, candidates=["f1"], verdicts=[verdict("e"), verdict()])
    assert (judged.kills, judged.refused) == ([Kill("f1", GOOD)], {})


def test_length_is_counted_as_the_other_tool_counts_it() -> None:
    transcript = f"we said 🗺️ a b {'🗺' * 5}"
    assert killed(verdict(f"a b 🗺 {'x' * 4}"), transcript=transcript) == []
    assert killed(verdict("🗺️ a b 🗺🗺🗺🗺🗺"), transcript=transcript) == []  # 4 words, 18 units
    assert killed(verdict("d 🗺️ a b 🗺🗺🗺🗺🗺"), transcript=transcript) == ["f1"]  # 13 characters, 20 units


WORDS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60)


@given(transcript=WORDS, quotes=st.lists(WORDS, max_size=4))
def test_whatever_is_accepted_is_in_the_transcript(transcript: str, quotes: list[str]) -> None:
    verdicts = [verdict(quote) for quote in quotes]
    for kill in judge(transcript=transcript, candidates=["f1"], verdicts=verdicts).kills:
        assert normalised(kill.quote) in normalised(transcript)
        assert len(normalised(kill.quote).split(" ")) >= 4
        assert kill.quote in quotes


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | WORDS, lambda each: st.lists(each) | st.dictionaries(WORDS, each)
    )
)
def test_no_verdict_whatever_breaks_it(anything: Any) -> None:
    judge(transcript=TRANSCRIPT, candidates=["f1"], verdicts=[anything, {"id": "f1", "verdict": anything}])
    with suppress(NoVerdicts):
        assert isinstance(parse_reply(json.dumps(anything)), list)
