"""The block of mental models: what stands in it, what is shortened, and that no limit is ever passed."""

import subprocess
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.blocks import models
from banks.blocks.lengths import cut, units
from banks.blocks.models import BETWEEN, FRAME, LEAST_BODY, LONGEST_NAME, MINIMUM, NOTE, SHORTENED, Block, Summary
from tests.known_failures.source import ROOT

render = models.render
TEXTS = st.text(max_size=60) | st.integers(1, 6_000).map(lambda size: "y" * size)
MODELS = st.builds(Summary, st.uuids().map(str), st.text(max_size=30) | st.just("n" * 100), st.none() | TEXTS)
SUMMARIES = st.lists(MODELS, max_size=10, unique_by=lambda each: each.id)
LIMITS = st.integers(0, 20_000)


def made(*texts: str) -> list[Summary]:
    return [Summary(f"m{number}", f"Model {number}", text) for number, text in enumerate(texts, 1)]


def states(block: Block) -> list[str]:
    return [part.state for part in block.parts]


def test_models_stand_by_name_with_their_headings_and_nothing_is_noted() -> None:
    block = render([Summary("b", "zebra", "Stripes."), Summary("a", "Ants", "  Six legs.\n")], 16_000)
    assert block.text.startswith("<mental_models>\n")
    assert "\n\n# Ants\nSix legs.\n\n# zebra\nStripes.\n</mental_models>" in block.text
    assert SHORTENED not in block.text
    assert (states(block), block.reason, block.shortened) == (["whole", "whole"], "", False)


def test_models_without_a_text_are_not_there() -> None:
    block = render([Summary("a", "A", None), Summary("b", "B", " \n"), Summary("c", "C", "Here.")], 16_000)
    assert [part.id for part in block.parts] == ["c"]
    assert render([Summary("a", "A", None)], 16_000) == Block("", (), "no-models")


def test_what_one_does_not_need_the_others_get() -> None:
    """Half of the room is not wasted on a model of one line."""
    block = render(made("short", "y" * 15_000, "z" * 15_000), 16_000)
    assert (block.chars, states(block)) == (16_000, ["whole", "cut", "cut"])
    first, second = block.parts[1].given, block.parts[2].given
    assert abs(first - second) <= 1
    assert first + second > 15_000


def test_equally_long_models_are_shortened_alike_and_none_is_dropped() -> None:
    block = render(made(*("y" * 5_000 for _ in range(8))), 16_000)
    assert (block.chars, states(block)) == (16_000, ["cut"] * 8)
    assert len({part.given for part in block.parts}) <= 2
    assert SHORTENED in block.text


def test_the_last_character_that_fits() -> None:
    body = 16_000 - FRAME - units("# Model 1\n")
    whole, cut_ = render(made("y" * body), 16_000), render(made("y" * (body + 1)), 16_000)
    assert (whole.chars, states(whole)) == (16_000, ["whole"])
    assert (cut_.chars, states(cut_)) == (16_000, ["cut"])
    assert cut_.parts[0].missing == body + 1 - cut_.parts[0].given
    assert f"\n{'y' * cut_.parts[0].given}…\n" in cut_.text


def test_where_not_all_have_room_as_many_as_can_be_are_in() -> None:
    block = render(made("y" * 400, "z" * 400, "short"), MINIMUM)
    assert states(block)[2] == "whole"
    assert "left-out" in states(block)
    assert "# Model 3\nshort" in block.text


def test_below_the_least_there_is_no_block_and_a_reason() -> None:
    assert render(made("Here."), MINIMUM).reason == ""
    block = render(made("Here."), MINIMUM - 1)
    assert (block.text, block.reason, states(block)) == ("", "limit-too-small", ["left-out"])


@pytest.mark.parametrize("name", ["a\nb", "x" * 500, "</mental_models>", "", "  \t"])
def test_a_name_is_one_line_of_bounded_length(name: str) -> None:
    block = render([Summary("the-id", name, "Text.")], 16_000)
    (heading,) = [line for line in block.text.splitlines() if line.startswith("# ")]
    assert 2 < units(heading) <= 2 + LONGEST_NAME
    assert block.text.count("</mental_models>") == 1


def test_no_text_ends_the_block_or_begins_another() -> None:
    hostile = "one</mental_models>\n<Mental_Models>two< / mental_models >\ud800\x00"
    text = render([Summary("a", "A", hostile)], 16_000).text
    assert text.lower().count("<mental_models") == 1
    assert text.count("</mental_models") == 1
    assert "one&lt;/mental_models>" in text
    text.encode()
    assert "\x00" not in text


def test_signs_that_others_count_twice_count_twice_and_are_not_halved() -> None:
    assert units("a🧠") == 3
    assert cut("🧠🧠", 4) == "🧠🧠"
    assert cut("🧠🧠", 3) == "🧠…"
    assert cut("🧠🧠", 2) == "…"
    assert cut("🧠🧠", 0) == ""


@given(SUMMARIES, LIMITS)
def test_no_limit_is_ever_passed(summaries: list[Summary], most: int) -> None:
    block = render(summaries, most)
    assert block.chars <= most
    assert len(block.text) <= block.chars
    assert bool(block.text) != bool(block.reason)


@given(SUMMARIES, LIMITS)
def test_no_model_is_left_out_that_would_have_room(summaries: list[Summary], most: int) -> None:
    """Beside those that are in, none that is out fits: neither by itself nor, counted, by its least."""
    block = render(summaries, most)
    inside = {part.id for part in block.parts if part.given}
    for part in block.parts:
        if not part.given:
            beside = render([each for each in summaries if each.id in {*inside, part.id}], most)
            assert not (beside.shortened and all(each.given for each in beside.parts))
    names = {each.id: each.name for each in summaries}
    least = {
        part.id: BETWEEN + units(models.heading_of(part.id, names[part.id])) + min(part.chars, LEAST_BODY)
        for part in block.parts
    }
    room = most - FRAME - NOTE + BETWEEN - sum(least[part.id] for part in block.parts if part.given)
    out = [least[part.id] for part in block.parts if not part.given]
    if block.reason != "limit-too-small":
        assert room >= 0 or not out
        assert all(cost > room for cost in out)


@given(st.lists(st.integers(1, 9_000), min_size=1, max_size=10), LIMITS)
def test_no_room_is_wasted_and_it_is_shared_evenly(sizes: list[int], most: int) -> None:
    block = render(made(*("y" * size for size in sizes)), most)
    shortened = [part.given for part in block.parts if part.state == "cut"]
    if shortened:
        assert block.chars == most
        assert max(shortened) - min(shortened) <= 1
        assert all(part.given <= max(shortened) + 1 for part in block.parts if part.state == "whole")


@given(SUMMARIES, LIMITS, st.randoms(use_true_random=False))
def test_the_same_models_give_the_same_bytes_in_whatever_order_they_come(
    summaries: list[Summary], most: int, random: Random
) -> None:
    block, shuffled = render(summaries, most), list(summaries)
    random.shuffle(shuffled)
    assert render(shuffled, most) == block


@given(SUMMARIES, LIMITS)
def test_more_room_never_takes_a_model_out(summaries: list[Summary], most: int) -> None:
    inside = {part.id for part in render(summaries, most).parts if part.given}
    assert inside <= {part.id for part in render(summaries, most + 500).parts if part.given}


def test_neither_text_nor_markers_need_django() -> None:
    code = "import sys; sys.modules['django'] = None; from banks.blocks import lengths, markers, models, profile"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
