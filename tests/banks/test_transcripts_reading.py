"""Session files of agents: what was said is read, and nothing else; nothing a file holds can raise."""

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.transcripts import CLAUDE, PI, PLAIN, Message, read, strip_blocks
from banks.transcripts.messages import BLOCKS, moment
from tests.banks.transcripts import as_file, claude, header, pi, plain, read_all, texts

BLOCK = [{"type": "text", "text": "I will."}]


def test_a_pi_session_is_told_by_its_records_and_read() -> None:
    session = read_all(header(), pi("a", None, "user", "Move Ann to Lyon."), pi("b", "a", "assistant", BLOCK))
    assert (session.format, session.id, session.turns, session.bad_count) == (PI, "s-1", 1, 0)
    assert session.messages == [
        Message("user", "Move Ann to Lyon.", moment("2026-08-19T10:00:05Z"), 2),
        Message("assistant", "I will.", moment("2026-08-19T10:00:05Z"), 3),
    ]
    assert session.started == moment("2026-08-19T10:00:00Z")


def test_a_claude_code_session_is_told_by_its_records_and_read() -> None:
    session = read_all(
        {"type": "summary", "summary": "Moving", "leafUuid": "b"},
        claude("a", None, "user", "Move Ann to Lyon."),
        claude("b", "a", "assistant", BLOCK),
    )
    assert (session.format, session.id, session.turns) == (CLAUDE, "c-1", 1)
    assert texts(session) == ["Move Ann to Lyon.", "I will."]
    assert session.skipped == {"summary records": 1}


def test_plain_lines_are_told_by_their_records_and_read() -> None:
    session = read_all(plain("system", "Be brief."), plain("user", "Move Ann."), plain("assistant", BLOCK))
    assert (session.format, session.id, session.started) == (PLAIN, "", None)
    assert texts(session) == ["Move Ann.", "I will."]
    assert session.skipped == {"system messages": 1}


def test_a_format_that_is_named_is_not_guessed() -> None:
    assert read_all(plain("user", "Move Ann."), format_=PI).messages == []


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "thinking", "thinking": "hm"}, {"type": "toolCall", "id": "1", "name": "ls", "arguments": {}}],
        [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
        [{"type": "tool_result", "content": "file1"}],
        [{"type": "text"}, {"type": "text", "text": 5}, "text", None],
        [],
        None,
        7,
    ],
)
def test_what_is_no_text_is_skipped_and_counted(content: Any) -> None:
    session = read_all(header(), pi("a", None, "user", "Move Ann."), pi("b", "a", "assistant", content))
    assert texts(session) == ["Move Ann."]
    assert sum(session.skipped.values()) == 1


def test_text_blocks_of_a_message_stand_below_each_other() -> None:
    content = [
        {"type": "text", "text": "One."},
        {"type": "thinking", "thinking": "x"},
        {"type": "text", "text": "Two."},
    ]
    assert texts(read_all(header(), pi("a", None, "user", content))) == ["One.\nTwo."]


@pytest.mark.parametrize("role", ["toolResult", "bashExecution", "custom", "hookMessage", "branchSummary"])
def test_other_roles_are_no_turns(role: str) -> None:
    session = read_all(header(), pi("a", None, "user", "Move Ann."), pi("b", "a", role, "total 5"))
    assert (texts(session), session.skipped) == (["Move Ann."], {f"{role} messages": 1})


def test_compaction_and_other_entries_hang_in_the_chain_and_say_nothing() -> None:
    session = read_all(
        header(),
        pi("a", None, "user", "Move Ann."),
        {"type": "compaction", "id": "b", "parentId": "a", "summary": "Ann is to be moved."},
        {"type": "model_change", "id": "c", "parentId": "b"},
        pi("d", "c", "assistant", "Done."),
    )
    assert texts(session) == ["Move Ann.", "Done."]
    assert session.skipped == {"compaction entries": 1, "model_change entries": 1}


def test_only_the_branch_that_the_session_is_on_is_read() -> None:
    session = read_all(
        header(),
        pi("a", None, "user", "Move Ann."),
        pi("b", "a", "assistant", "To Paris?"),
        pi("c", "b", "user", "Yes, Paris."),
        pi("d", "a", "assistant", "To Lyon?"),
        pi("e", "d", "user", "Yes, Lyon."),
    )
    assert texts(session) == ["Move Ann.", "To Lyon?", "Yes, Lyon."]
    assert session.skipped == {"messages on branches that were left": 2}


def test_a_session_without_a_tree_is_read_in_its_order() -> None:
    old = [{"type": "message", "message": {"role": "user", "content": text}} for text in ("One.", "Two.")]
    assert texts(read_all({"type": "session", "id": "v1"}, *old)) == ["One.", "Two."]


def test_a_torn_line_in_the_chain_loses_only_itself() -> None:
    session = read_all(
        header(), pi("a", None, "user", "Move Ann."), '{"type":"message","id":"b","par', pi("c", "b", "user", "Well?")
    )
    assert texts(session) == ["Move Ann.", "Well?"]
    assert (session.bad_count, session.bad) == (1, [(3, "not JSON: torn, or several records on one line")])
    assert session.skipped == {"gaps in the tree, passed in the order of the file": 1}


def test_a_ring_of_parents_ends() -> None:
    assert texts(read_all(header(), pi("a", "b", "user", "One."), pi("b", "a", "user", "Two."))) == ["One.", "Two."]


def test_a_conversation_begins_after_it_was_last_cleared() -> None:
    reset = {"type": "reset_boundary", "id": "r1", "parentId": "a", "timestamp": "2026-08-19T11:00:00Z"}
    session = read_all(header(), pi("a", None, "user", "Move Ann."), reset, pi("b", "r1", "user", "Move Ben."))
    assert (texts(session), session.cleared_by) == (["Move Ben."], "r1")
    assert session.skipped["messages from before the conversation was cleared"] == 1
    assert session.started == moment("2026-08-19T11:00:00Z")


def test_a_clear_on_a_branch_that_was_left_clears_nothing() -> None:
    reset = {"type": "reset_boundary", "id": "r1", "parentId": "a"}
    session = read_all(header(), pi("a", None, "user", "Move Ann."), reset, pi("b", "a", "user", "Still Ann."))
    assert (texts(session), session.cleared_by) == (["Move Ann.", "Still Ann."], "")


def test_what_claude_code_writes_in_a_persons_name_is_no_turn() -> None:
    session = read_all(
        claude("a", None, "user", "Early."),
        claude("b", "a", "user", "<command-name>/clear</command-name>"),
        claude("c", "b", "user", "Caveat: ignore this.", isMeta=True),
        claude("d", "c", "user", "<local-command-stdout>ok</local-command-stdout>"),
        claude("e", "d", "user", "Move Ann."),
        claude("s", "e", "user", "Look for Ann.", isSidechain=True),
        claude("f", "e", "user", [{"type": "tool_result", "tool_use_id": "1", "content": "found"}]),
        claude("g", "f", "user", "Ann was to be moved.", isCompactSummary=True),
        claude("h", "g", "assistant", BLOCK),
    )
    assert (texts(session), session.cleared_by) == (["Move Ann.", "I will."], "b")


def test_a_compacted_claude_code_session_goes_on_where_it_was() -> None:
    border = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        "logicalParentUuid": "a",
    }
    border["sessionId"] = "c-1"
    session = read_all(claude("a", None, "user", "Move Ann."), border, claude("c", "b", "user", "And Ben."))
    assert texts(session) == ["Move Ann.", "And Ben."]


def test_the_parts_of_one_answer_are_one_message() -> None:
    session = read_all(
        claude("a", None, "user", "Move Ann."),
        claude("b", "a", "assistant", [{"type": "thinking", "thinking": "x"}], whole="m"),
        claude("c", "b", "assistant", [{"type": "text", "text": "First."}], whole="m"),
        claude("d", "c", "assistant", [{"type": "text", "text": "Second."}], whole="m"),
    )
    assert texts(session) == ["Move Ann.", "First.\nSecond."]


@pytest.mark.parametrize("text", [".", "…", "!?", "  ", "\u200b", "👍", "<memories>Ann lives in Lyon.</memories>"])
def test_turns_without_a_letter_or_digit_do_not_count(text: str) -> None:
    session = read_all(plain("user", "Move Ann."), plain("user", text))
    assert (session.turns, session.skipped) == (1, {"messages without a letter or digit": 1})


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <memories>x</memories> b", "a  b"),
        ("<mental_models>\nx\n</mental_models>Move.", "Move."),
        ("<hindsight_memories>x</hindsight_memories><relevant_memories>y</relevant_memories>z", "z"),
        ("<memories>x</memories>y<memories>z</memories>", "y"),
        ("<memories>x</memories> kept </memories>", " kept </memories>"),
        ("<memories>never closed", "<memories>never closed"),
        ("</memories> before <memories>", "</memories> before <memories>"),
        ("<Memories>x</Memories>", "<Memories>x</Memories>"),
        ("<memories>x</mental_models>", "<memories>x</mental_models>"),
    ],
)
def test_memory_blocks_are_taken_out_only_when_they_are_closed(text: str, left: str) -> None:
    assert strip_blocks(text)[0] == left


@given(st.text())
def test_text_arrives_unchanged(text: str) -> None:
    session = read_all(plain("user", f"q{text}"))
    assert texts(session) == [f"q{text}"] or any(f"<{name}>" in text for name in BLOCKS)


@given(st.text(alphabet="a\n<>/", max_size=40), st.sampled_from(BLOCKS), st.text(max_size=20))
def test_a_block_takes_nothing_with_it(around: str, name: str, inside: str) -> None:
    left, count = strip_blocks(f"{around}<{name}>{inside}</{name}>{around}")
    assert (left, count) == (around * 2, 1) or "</" in inside or f"<{name}" in around + inside


@given(st.binary(max_size=400))
def test_no_bytes_raise(data: bytes) -> None:
    session = read(io.BytesIO(data))
    assert session.lines == len(data.removesuffix(b"\n").split(b"\n")) if data else session.lines == 0


_json = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    ["type", "id", "parentId", "message", "role", "content", "timestamp", "uuid", "parentUuid", "sessionId", "isMeta"]
)
_WORDS = st.sampled_from(["session", "message", "user", "assistant", "reset_boundary", "system", "a", "b", "text"])


@given(
    st.lists(st.dictionaries(_KEYS, _WORDS | _json | st.dictionaries(_KEYS, _WORDS | _json), max_size=8), max_size=8)
)
def test_no_records_raise_in_any_format(records: list[dict[str, Any]]) -> None:
    for format_ in ("", PI, CLAUDE, PLAIN):
        session = read(io.BytesIO(as_file(*records)), format_)
        assert session.bad_count == 0
        assert all(message.role in ("user", "assistant") for message in session.messages)


def test_half_a_character_is_marked() -> None:
    assert texts(read_all('{"role":"user","content":"Ann \\ud83d"}')) == ["Ann \ufffd"]


def test_a_hundred_thousand_open_tags_are_read_once() -> None:
    text = "<memories>" * 100_000 + "Ann"
    assert texts(read_all(plain("user", text))) == [text]


@pytest.mark.parametrize("value", ["", "yesterday", -5, 0, True, None, [], 1e300, "9999-99-99"])
def test_times_that_are_none_are_none(value: Any) -> None:
    assert moment(value) is None


def test_times_are_read_in_every_form_that_agents_write() -> None:
    same = moment("2026-08-19T10:00:00Z")
    seconds = 1_787_133_600
    assert same == moment("2026-08-19T12:00:00.000+02:00") == moment(seconds) == moment(seconds * 1000)
