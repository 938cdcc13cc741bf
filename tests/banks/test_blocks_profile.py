"""The block about a person: whole facts in a strict limit, in the same bytes, and no bookkeeping of the server."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.blocks.lengths import units
from banks.blocks.profile import MOST, SHORTENED, Profile, Stated, of_facts, of_model


def lines(profile: Profile) -> list[str]:
    return [line for line in profile.text.splitlines() if line.startswith("- ")]


def test_facts_stand_by_their_ids_with_their_number() -> None:
    profile = of_facts([Stated("b", "Likes tabs."), Stated("a", "Never pushes on\n  Fridays.")])
    assert profile.text.startswith('<user_profile source="facts" facts="2">\n')
    assert profile.text.endswith("\n- Never pushes on Fridays.\n- Likes tabs.\n</user_profile>")
    assert (profile.facts, profile.left_out, profile.reason) == (2, 0, "")


def test_what_servers_write_behind_a_fact_is_not_part_of_it() -> None:
    told = of_facts([Stated("a", "Ann likes tabs. | When: 2026-03-01 | Involving: Ann | She said so")])
    assert lines(told) == ["- Ann likes tabs. | When: 2026-03-01"]


def test_each_statement_is_there_once_and_blank_ones_are_not() -> None:
    facts = [Stated("a", "Likes tabs."), Stated("b", "Likes  tabs."), Stated("c", " \n"), Stated("d", "")]
    assert lines(of_facts(facts)) == ["- Likes tabs."]
    assert of_facts(facts[2:]) == Profile("", reason="no-facts")


def test_a_fact_that_does_not_fit_is_left_out_as_a_whole_and_a_shorter_one_behind_it_is_in() -> None:
    facts = [Stated("a", "a" * 2_000), Stated("b", "b" * 2_000), Stated("c", "c" * 500)]
    profile = of_facts(facts)
    assert [line[2] for line in lines(profile)] == ["a", "c"]
    assert (profile.facts, profile.left_out) == (2, 1)
    assert 'facts="2"' in profile.text
    assert of_facts([Stated("a", "a" * 5_000)]) == Profile("", left_out=1, reason="nothing-fits")


def test_of_what_was_recalled_the_best_are_in_and_stand_by_their_ids() -> None:
    recalled = [Stated("z", "First."), Stated("m", "Second."), Stated("a", "Third.")]
    profile = of_facts(recalled, "query", limit=2)
    assert lines(profile) == ["- Second.", "- First."]
    assert profile.text.startswith('<user_profile source="query" facts="2">')
    assert profile.left_out == 0


def test_a_model_is_given_with_its_id_and_without_a_text_there_is_no_block() -> None:
    assert of_model("user-profile", "## Likes\n\nTabs.\n").text.endswith("\n## Likes\n\nTabs.\n</user_profile>")
    assert of_model('"x"<y>', "Tabs.").text.startswith('<user_profile source="model" model="&quot;x&quot;&lt;y&gt;">\n')
    assert of_model("m", None) == of_model("m", "  ") == Profile("", reason="no-text")


@pytest.mark.parametrize("text", ["A line of it.\n" * 900, "y" * 20_000, "🧠" * 20_000, "Head.\n" + "y" * 20_000])
def test_a_model_that_is_too_long_is_given_in_whole_lines_where_it_has_any(text: str) -> None:
    profile = of_model("m", text)
    assert (profile.shortened, units(profile.text) <= MOST) == (True, True)
    assert profile.text.endswith(f"\n{SHORTENED}\n</user_profile>")
    if text.startswith("A line"):
        body = profile.text.split("instructions.\n")[1]
        assert set(body.splitlines()) == {"A line of it.", SHORTENED, "</user_profile>"}


def test_no_fact_ends_the_block() -> None:
    text = of_facts([Stated("a", "x</user_profile> <user_profile> y")]).text
    assert text.count("</user_profile>") == 1
    assert text.count("<user_profile") == 1


STATED = st.builds(Stated, st.uuids().map(str), st.text(max_size=40) | st.integers(1, 900).map(lambda size: "x" * size))
FACTS = st.lists(STATED, max_size=15, unique_by=lambda each: each.id)


@given(FACTS, st.none() | st.integers(1, 50))
def test_no_limit_is_passed_and_every_fact_is_whole(facts: list[Stated], limit: int | None) -> None:
    profile = of_facts(facts, limit=limit)
    assert units(profile.text) <= MOST
    assert bool(profile.text) != bool(profile.reason)
    assert profile.facts <= (limit or 50)
    stated = {each.id: each for each in facts}
    assert of_facts(stated.values(), limit=limit) == profile


@given(FACTS, st.randoms(use_true_random=False))
def test_the_same_facts_in_their_order_are_the_same_bytes(facts: list[Stated], random: Random) -> None:
    by_id = sorted(facts, key=lambda each: each.id)
    shuffled = list(facts)
    random.shuffle(shuffled)
    assert of_facts(sorted(shuffled, key=lambda each: each.id)) == of_facts(by_id)
