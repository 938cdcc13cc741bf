"""Finding a fact again in a new extraction: the same text, or a question, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.curation.matching import match, numbered, same_in_substance


def found(wanted: list[tuple[str, str, int]], texts: list[str]) -> dict[str, tuple[str, bool]]:
    facts = numbered((f"new-{number}", text) for number, text in enumerate(texts))
    return {each.key: (each.fact.fact_id, each.exact) for each in match(wanted, facts)}


def test_the_same_text_is_the_same_fact() -> None:
    assert found([("a", "Ann left.", 0)], ["Ben stayed.", "Ann left."]) == {"a": ("new-1", True)}


def test_equal_texts_are_told_apart_by_their_place() -> None:
    wanted = [("second", "It rained.", 1)]
    assert found(wanted, ["It rained.", "It rained."]) == {"second": ("new-1", True)}
    assert found(wanted, ["It rained."]) == {"second": ("new-0", False)}  # one went: which one is a question


def test_a_close_text_is_only_a_question() -> None:
    wanted = [("a", "Ann keeps the ledger in the office upstairs", 0)]
    assert found(wanted, ["Ann keeps the ledger in the office upstairs."]) == {"a": ("new-0", False)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The time-out is 30 s.", "The time-out is 60 s."),
        ("The release is on 2026-03-01.", "The release is on 2026-03-02."),
        ("The server is called Atlas.", "The server is called Orion."),
        ("The cache is used in production.", "The cache is not used in production."),
        ("The cache doesn't expire by itself.", "The cache does expire by itself."),
        ("Das Backup läuft nachts.", "Das Backup läuft nicht nachts."),
        ("Сервер отвечает быстро.", "Сервер не отвечает быстро."),
        ("He works without a contract.", "He works with a contract."),
        ("Version 1.2 is in use here.", "Version 1.20 is in use here."),
        ("The time-out is 30 s.", "The time-out is 30 ms."),
        ("It costs 30 % of it.", "It costs 30 of it."),
        ("It costs $30 a month.", "It costs €30 a month."),
        ("The sensor says -5 degrees.", "The sensor says 5 degrees."),
        ("Two replicas run in the north.", "Three replicas run in the north."),
        ("Backups run daily in the north.", "Backups run weekly in the north."),
        ("½ of the disk is free now", "¼ of the disk is free now"),
        ("Ann keeps the ledger upstairs.", "Dan keeps the ledger upstairs."),
        ("The cache server is redis today.", "The cache server is valkey today."),
        ("Flags are in config/flags.toml now.", "Flags are in config/ports.toml now."),
        ("Deploys are allowed on Monday morning.", "Deploys are allowed on Friday morning."),
        ("サーバーは東京にあるはずです。", "サーバーは大阪にあるはずです。"),
        ("Logging is enabled in staging.", "Logging is disabled in staging."),
        ("Access to it is included there.", "Access to it is excluded there."),
        ("The feature flag is turned on.", "The feature flag is turned off."),
        ("The pipeline is moved from here.", "The pipeline is moved to here."),
    ],
)
def test_another_number_name_or_negation_is_not_even_a_question(one: str, other: str) -> None:
    assert not same_in_substance(one, other)
    assert found([("a", one, 0)], [other]) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cache is used in production", "The cache is used in production."),
        ("Ann’s desk is near the window today.", "Ann's desk is near the window today."),
        ("the server is called Atlas.", "The server is called Atlas."),
        ("The  build runs on\nthe big machine.", "The build runs on the big machine."),
        ("A build runs on the big machine.", "The build runs on the big machine."),
        ("ANN KEEPS THE LEDGER.", "Ann keeps the ledger."),
        ("Flags are in config/flags.toml.", "Flags are in config/flags.toml"),
        ("サーバーは東京にある。", "サーバーは東京にある"),
        ("It migrates the rows at night.", "It migrated the rows at night."),
    ],
)
def test_wording_alone_may_differ(one: str, other: str) -> None:
    assert same_in_substance(one, other)


def test_each_fact_is_found_by_one_decision_only() -> None:
    wanted = [("a", "Ann keeps the ledger upstairs.", 0), ("b", "Ann keeps the ledger upstairs!", 0)]
    assert found(wanted, ["Ann keeps the ledger upstairs."]) == {"a": ("new-0", True)}


def test_what_is_gone_finds_nothing() -> None:
    assert found([("a", "Ann left.", 0)], []) == {}
    assert found([("a", "Ann left.", 0)], ["Something else entirely is said here."]) == {}


@given(st.lists(st.sampled_from(["a b c", "a b d", "x", "x y z"]), max_size=8), st.randoms())
def test_all_decisions_of_an_unchanged_document_are_found_at_their_own_facts(texts: list[str], random) -> None:
    facts = numbered((str(number), text) for number, text in enumerate(texts))
    wanted = [(fact.fact_id, fact.text, fact.occurrence) for fact in facts]
    random.shuffle(wanted)
    assert {each.key: each.fact.fact_id for each in match(wanted, facts)} == {
        fact.fact_id: fact.fact_id for fact in facts
    }
    assert all(each.exact for each in match(wanted, facts))
