"""The auditor itself: it says nothing about what is right, and names each thing that is not."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.faults.audit import Entry, Evidence, Findings, Row, Verdict, judge
from tests.faults.people import Act

APPROVED, DELETED, EDITED = "a.md", "b.md", "c.md"


@pytest.fixture
def clean() -> Evidence:
    """Ann approved the first, deleted the second, edited the third; each was answered."""
    return Evidence(
        acts=[
            Act("ann", "approve", 1, version=1, answers=["done"]),
            Act("ann", "delete", 2, version=1, answers=["cut", "done"]),
            Act("ann", "edit", 3, version=1, text="new", answers=["done", "done"]),
        ],
        verdicts=[
            Verdict(11, 1, "approved", "person", "ann", 1, 101),
            Verdict(12, 2, "deleted", "person", "ann", 1, 102),
            Verdict(13, 3, "edited", "person", "ann", 1, 103),
        ],
        rows=[
            Row(101, "approve", "web", "done", APPROVED, "ann"),
            Row(102, "delete", "web", "done", DELETED, "ann"),
            Row(103, "edit", "web", "done", EDITED, "ann", text="new", operation="op"),
        ],
        entries=[
            Entry(1, APPROVED, "approved", True, "one"),
            Entry(2, DELETED, "deleted", True, "two"),
            Entry(3, EDITED, "pending", True, "new"),
        ],
        before={APPROVED: "one", DELETED: "two", EDITED: "three"},
        bank={APPROVED: "one", DELETED: None, EDITED: "new"},
        deleted=Counter({DELETED: 1}),
        operations={"op": EDITED},
    )


def findings(seen: Evidence, **changes: object) -> Findings:
    return judge(replace(seen, **changes))  # type: ignore[arg-type]


def test_what_is_right_is_not_accused(clean: Evidence) -> None:
    assert judge(clean).all == []


def test_an_answer_without_a_decision_is_lost(clean: Evidence) -> None:
    found = findings(clean, verdicts=clean.verdicts[1:], rows=clean.rows[1:])
    assert [sentence for sentence in found.lost if "told 1 times" in sentence]


def test_a_cut_answer_may_have_happened_or_not(clean: Evidence) -> None:
    acts = [Act("ann", "approve", 1, version=1, answers=["cut", "refused"]), *clean.acts[1:]]
    assert findings(clean, acts=acts).all == []
    entries = [Entry(1, APPROVED, "pending", True, "one"), *clean.entries[1:]]
    without = findings(clean, acts=acts, verdicts=clean.verdicts[1:], rows=clean.rows[1:], entries=entries)
    assert without.all == []


def test_a_refused_act_that_happened_all_the_same_is_named(clean: Evidence) -> None:
    acts = [Act("ann", "approve", 1, version=1, answers=["refused"]), *clean.acts[1:]]
    assert findings(clean, acts=acts).doubled


def test_two_decisions_for_one_press_are_doubled(clean: Evidence) -> None:
    again = Verdict(14, 3, "edited", "person", "ann", 1, 104)
    row = Row(104, "edit", "web", "done", EDITED, "ann", text="new", operation="op2")
    found = findings(clean, verdicts=[*clean.verdicts, again], rows=[*clean.rows, row], operations={"op": EDITED})
    assert found.doubled


def test_a_decision_that_nobody_asked_for_is_unexplained(clean: Evidence) -> None:
    assert findings(clean, acts=clean.acts[1:]).unexplained


def test_a_row_without_a_decision_and_a_decision_without_a_row_are_named(clean: Evidence) -> None:
    assert findings(clean, verdicts=[*clean.verdicts[:2], replace(clean.verdicts[2], row=999)]).lost
    stray = Row(105, "approve", "web", "done", APPROVED, "ben")
    assert findings(clean, rows=[*clean.rows, stray]).unexplained


def test_a_row_that_was_never_finished_is_lost(clean: Evidence) -> None:
    assert findings(clean, rows=[*clean.rows[:1], replace(clean.rows[1], state="sending"), clean.rows[2]]).lost


def test_who_needs_a_person_has_to_say_why(clean: Evidence) -> None:
    stuck = replace(clean.rows[2], state="attention")
    assert findings(clean, rows=[*clean.rows[:2], stuck]).unexplained
    assert findings(clean, rows=[*clean.rows[:2], replace(stuck, error="It failed.")]).all == []


def test_a_document_that_is_still_there_after_a_finished_delete_is_named(clean: Evidence) -> None:
    assert findings(clean, bank={**clean.bank, DELETED: "two"}).all


def test_a_document_that_is_gone_without_a_delete_is_lost(clean: Evidence) -> None:
    assert findings(clean, bank={**clean.bank, APPROVED: None}).lost


def test_a_text_that_is_not_byte_equal_is_named(clean: Evidence) -> None:
    assert findings(clean, bank={**clean.bank, EDITED: "new\n"}).all


def test_a_text_that_was_told_to_be_saved_and_is_nowhere_is_lost(clean: Evidence) -> None:
    tab = replace(clean.acts[2], text="from another tab", answers=["done"])
    assert "no row holds the text" in findings(clean, acts=[*clean.acts, tab]).lost[0]
    assert findings(clean, acts=[*clean.acts, replace(tab, answers=["refused"])]).all == []


def test_what_the_server_did_twice_is_doubled(clean: Evidence) -> None:
    assert findings(clean, deleted=Counter({DELETED: 2})).doubled
    assert findings(clean, operations={"op": EDITED, "op2": EDITED}).doubled


def test_a_retain_that_no_row_explains_is_named(clean: Evidence) -> None:
    assert findings(clean, operations={"op": EDITED, "other": APPROVED}).unexplained


def test_an_entry_that_contradicts_its_latest_decision_is_named(clean: Evidence) -> None:
    wrong = replace(clean.entries[0], state="pending")
    assert findings(clean, entries=[wrong, *clean.entries[1:]]).unexplained
    stale = replace(clean.entries[2], text="three")
    assert findings(clean, entries=[*clean.entries[:2], stale]).unexplained


def test_an_undo_of_somebody_elses_decision_is_named(clean: Evidence) -> None:
    acts = [*clean.acts, Act("ben", "undo", 1, answers=["done"])]
    verdicts = [*clean.verdicts, Verdict(15, 1, "reopened", "person", "ben", 2, 106)]
    rows = [*clean.rows, Row(106, "undo", "web", "done", APPROVED, "ben", undo_of=101)]
    entries = [Entry(1, APPROVED, "pending", True, "one"), *clean.entries[1:]]
    found = findings(clean, acts=acts, verdicts=verdicts, rows=rows, entries=entries)
    assert "took back ann's approve" in found.unexplained[0]


def test_a_fault_and_somebody_elses_document_are_named(clean: Evidence) -> None:
    acts = [replace(clean.acts[0], answers=["fault 500", "done"]), *clean.acts[1:]]
    assert findings(clean, acts=acts).unexplained
    assert findings(clean, strangers_changed=["other.md is gone"]).unexplained
