"""Documents of a session: their ids, their turns, and that the same turns make the same documents again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.transcripts import FULL, LAST, Document, NotBuilt, Plan, Session, build
from tests.banks.transcripts import header, pi, plain, read_all, talk

START = 1_787_133_600_000  # 2026-08-19 10:00 UTC in milliseconds


def windows(session: Session, every: int = 3, overlap: int = 0) -> list[Document]:
    return build(session, Plan(LAST, every, overlap))


def test_a_whole_session_is_one_document_of_its_name() -> None:
    (document,) = build(read_all(*talk(1)), Plan(FULL))
    assert (document.id, document.turns, document.repeated, document.messages) == ("t-1", 1, 0, 2)
    assert document.text == (
        "[role: user]\n[timestamp: 2026-08-19T10:01:00Z]\nquestion 1\n[user:end]\n\n"
        "[role: assistant]\n[timestamp: 2026-08-19T10:01:05Z]\nanswer 1\n[assistant:end]"
    )


def test_a_message_without_a_time_has_no_line_for_it() -> None:
    (document,) = build(read_all(plain("user", "Move Ann.")), Plan(session="mine"))
    assert (document.id, document.text, document.at) == ("mine", "[role: user]\nMove Ann.\n[user:end]", None)


def test_after_a_clear_the_document_has_a_name_of_its_own() -> None:
    reset = {"type": "reset_boundary", "id": "r1", "parentId": "a"}
    session = read_all(header(), pi("a", None, "user", "Move Ann."), reset, pi("b", "r1", "user", "Move Ben."))
    assert [document.id for document in build(session, Plan())] == ["s-1:r1"]


def test_windows_stand_side_by_side() -> None:
    found = windows(read_all(*talk(8)))
    assert [(document.turns, document.repeated, document.messages) for document in found] == [
        *((3, 0, 6), (3, 0, 6), (2, 0, 4))
    ]
    assert [document.id for document in found] == [f"t-1-{START + minute * 60_000}" for minute in (1, 4, 7)]
    everything = "\n".join(document.text for document in found)
    assert all(everything.count(f"question {turn}\n") == 1 for turn in range(1, 9))


def test_overlap_repeats_turns_and_says_how_many() -> None:
    found = windows(read_all(*talk(8)), overlap=2)
    assert [(document.turns, document.repeated) for document in found] == [(3, 0), (3, 2), (2, 2)]
    assert "question 2\n" in found[1].text
    assert "question 1\n" not in found[1].text


def test_every_second_turn() -> None:
    assert [document.turns for document in windows(read_all(*talk(3)), every=2)] == [2, 1]


def test_an_agent_that_spoke_first_belongs_to_the_first_turn() -> None:
    session = read_all(plain("assistant", "Hello, who are you?", session_id="x"), *talk(1))
    assert [(document.turns, document.messages) for document in windows(session)] == [(1, 3)]


@given(st.integers(1, 12), st.integers(0, 6), st.integers(1, 5), st.integers(0, 3))
def test_a_longer_copy_makes_the_same_documents_again(turns: int, more: int, every: int, overlap: int) -> None:
    short = windows(read_all(*talk(turns)), every, overlap)
    longer = windows(read_all(*talk(turns + more)), every, overlap)
    assert [document.id for document in longer[: len(short)]] == [document.id for document in short]
    assert longer[: len(short) - 1] == short[:-1]


@given(st.integers(1, 10), st.integers(1, 5))
def test_each_turn_is_new_in_exactly_one_document(turns: int, every: int) -> None:
    for overlap in range(3):
        assert sum(document.turns for document in windows(read_all(*talk(turns)), every, overlap)) == turns


def test_windows_of_one_moment_and_without_times_have_different_ids() -> None:
    session = read_all(*[plain("user", f"question {turn}", session_id="x") for turn in range(3)])
    assert [document.id for document in windows(session, every=1)] == ["x-1", "x-2", "x-3"]
    same = [plain("user", f"question {turn}", session_id="x", timestamp=START) for turn in range(2)]
    assert [document.id for document in windows(read_all(*same), every=1)] == [f"x-{START}", f"x-{START + 1}"]


def test_nothing_said_is_no_document() -> None:
    for mode in (FULL, LAST):
        assert build(read_all(header(), pi("a", None, "user", ".")), Plan(mode)) == []


def test_a_session_without_a_name_needs_one() -> None:
    with pytest.raises(NotBuilt, match="does not name its session"):
        build(read_all(plain("user", "Move Ann.")), Plan())


def test_a_plan_that_makes_too_many_documents_is_refused() -> None:
    session = read_all(*[plain("user", f"q {turn}", session_id="x") for turn in range(501)])
    with pytest.raises(NotBuilt, match="Take more turns"):
        windows(session, every=1)
