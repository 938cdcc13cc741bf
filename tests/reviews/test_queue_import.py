"""Import of a queue file: what becomes of lines, entries and decisions."""

import json
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from banks.models import Bank, JobItem, Server
from memadmin.accounts.models import User
from reviews.models import Decision, Parked, ReviewEntry, SourceEvent, SourceFile
from tests import factories
from tests.conftest import People
from tests.reviews.queue_files import DATA, URL, add, as_bytes, counts, done, entry, import_lines, state_of_things

NOW = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)
State, Load, Via = ReviewEntry.State, ReviewEntry.Load, Decision.Via


@pytest.fixture(autouse=True)
def frozen() -> object:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def server(bank: Bank) -> Server:
    bank.server.base_url = URL
    bank.server.save()
    return bank.server


def test_an_add_becomes_a_pending_entry(server: Server, people: People) -> None:
    job = import_lines([add("d1")], people.reviewer)
    assert job.state == "done", job.error
    assert counts(job) == {"accepted": 1}
    found = entry("d1")
    assert (found.state, found.load_state, found.load_after) == (State.PENDING, Load.LOADING, NOW)
    assert (found.project, found.reason, found.language) == ("/home/ann/checkout", "compact", "en")
    assert found.enqueued_at == found.age_from == datetime(2026, 8, 19, 10, tzinfo=UTC)
    assert found.expires_at == datetime(2026, 8, 26, 10, tzinfo=UTC)
    assert (found.first_imported_at, found.sources) == (NOW, ["ann's laptop"])
    event = SourceEvent.objects.get()
    assert bytes(event.raw) == add("d1").encode()
    assert (event.entry, event.state, event.line) == (found, SourceEvent.State.APPLIED, 1)


def test_a_done_is_claimed_by_the_file_and_by_nobody(server: Server, people: People) -> None:
    import_lines([add("d1"), done("d1")], people.reviewer)
    found = entry("d1")
    assert (found.state, found.decided_via, found.decided_by) == (State.APPROVED, Via.FILE, "")
    decision = found.decisions.get()
    assert (decision.verdict, decision.decided_via, decision.user, decision.user_name) == ("approved", "file", None, "")
    assert decision.at == found.decided_at == datetime(2026, 8, 19, 11, tzinfo=UTC)
    assert decision.note == "line 2 of ann's laptop"
    assert decision.event is not None
    assert decision.event.line == 2


def test_expiry_in_the_tool_is_not_a_person(server: Server, people: People) -> None:
    import_lines([add("d1"), done("d1", by="expiry")], people.reviewer)
    decision = entry("d1").decisions.get()
    assert (decision.decided_via, decision.note) == (Via.FILE, "line 2 of ann's laptop, by time, says the file")


def test_auto_and_unknown_actions_leave_it_open(server: Server, people: People) -> None:
    import_lines([add("a"), done("a", by="auto"), add("b"), done("b", action="rejected")], people.reviewer)
    assert (entry("a").state, entry("b").state) == (State.PENDING, State.PENDING)
    assert not Decision.objects.exists()
    reasons = SourceEvent.objects.filter(ev="done").values_list("reason_text", flat=True)
    assert "stays open" in reasons[0]


def test_a_claimed_delete_is_checked_against_the_bank(server: Server, people: People) -> None:
    import_lines([add("d1"), done("d1", action="deleted")], people.reviewer)
    found = entry("d1")
    assert (found.state, found.decided_via, found.expires_at) == (State.DELETED, Via.FILE, None)
    assert found.load_after == NOW + timedelta(minutes=10)


def test_an_old_file_is_not_approved_unseen(server: Server, people: People) -> None:
    import_lines([add("d1", ts="2025-01-01T00:00:00Z")], people.reviewer)
    assert entry("d1").expires_at == NOW + timedelta(hours=24)


def test_what_has_no_date_waits_for_a_person(server: Server, people: People) -> None:
    import_lines([add("d1", ts="whenever"), add("d2", ts=None)], people.reviewer)
    assert (entry("d1").enqueued_at, entry("d1").expires_at, entry("d2").expires_at) == (None, None, None)


def test_every_line_is_counted_once_with_its_reason(server: Server, people: People) -> None:
    lines = [
        add("a"),
        "{ torn",
        "",
        add("a", reason="manual"),
        done("a"),
        done("a"),
        done("never"),
        add("b", bank="unknown"),
    ]
    job = import_lines(lines, people.reviewer)
    assert counts(job) == {"accepted": 2, "superseded": 3, "parked": 1, "skipped": 1, "blank": 1}
    assert job.result["lines"] == job.done == job.total == 8
    skipped = JobItem.objects.get(job=job)
    assert (skipped.number, skipped.outcome, bytes(skipped.raw)) == (2, "skipped", b"{ torn")
    assert skipped.reason == "not JSON: torn, or several events on one line"


def test_a_later_add_replaces_an_earlier_one(server: Server, people: People) -> None:
    import_lines([add("a", reason="compact"), add("a", reason="manual", ts="2026-08-20T10:00:00Z")], people.reviewer)
    found = entry("a")
    assert (found.reason, found.enqueued_at) == ("manual", datetime(2026, 8, 20, 10, tzinfo=UTC))
    assert list(found.source_events.order_by("line").values_list("state", flat=True)) == ["superseded", "applied"]


def test_inside_one_file_its_order_decides(server: Server, people: People) -> None:
    import_lines([done("a", ts="2026-08-20T11:00:00Z"), add("a")], people.reviewer)
    import_lines([add("b"), done("b", ts="2026-08-01T00:00:00Z")], people.reviewer, machine="other")
    assert (entry("a").state, entry("b").state) == (State.PENDING, State.APPROVED)


def test_added_again_after_a_decision_is_open_and_shows_it(server: Server, people: People) -> None:
    import_lines([add("a"), done("a"), add("a", ts="2026-08-19T12:00:00Z")], people.reviewer)
    found = entry("a")
    assert (found.state, found.decided_via, found.decided_at) == (State.PENDING, "", None)
    assert [decision.verdict for decision in found.decisions.order_by("pk")] == ["approved", "reopened"]
    assert found.age_from == NOW  # it restarts


@pytest.mark.parametrize("document_id", ["", ".", ".."])
def test_an_id_nobody_can_address_waits_with_a_reason(server: Server, people: People, document_id: str) -> None:
    import_lines([add(document_id)], people.reviewer)
    found = entry(document_id)
    assert (found.state, found.load_state, found.load_after) == (State.PENDING, Load.REFUSED, None)
    assert found.load_error
    assert found.expires_at is None


def test_a_damaged_id_never_stands_for_another_document(server: Server, people: People) -> None:
    half = add("x").replace('"x"', r'"x\ud800"')
    import_lines([add("ab"), r'{"ev":"done","docId":"a\u0000b","action":"approved"}', half], people.reviewer)
    assert entry("ab").state == State.PENDING
    assert entry("x\ufffd").load_state == Load.REFUSED


@pytest.mark.parametrize("bank_id", ["org/user-123_v2", "", ".."])
def test_a_bank_nobody_can_address_is_parked(server: Server, people: People, bank_id: str) -> None:
    job = import_lines([add("a", bank=bank_id)], people.operator)
    assert counts(job) == {"parked": 1}
    assert not ReviewEntry.objects.exists()
    assert not Bank.objects.filter(bank_id=bank_id).exists()
    assert Parked.objects.get().server == server


# ── again, longer, older, compacted ────────────────────────────────────────────────────────────────────────


def test_the_same_file_again_changes_nothing(server: Server, people: People) -> None:
    lines = [add("a"), add("a"), add("b"), done("a"), "torn", done("b", action="deleted"), add("b")]
    import_lines(lines, people.reviewer)
    before = state_of_things(server)
    versions = list(ReviewEntry.objects.values_list("pk", "version"))
    job = import_lines(lines, people.reviewer)
    assert counts(job) == {"known": 6, "skipped": 1}
    assert state_of_things(server) == before
    assert list(ReviewEntry.objects.values_list("pk", "version")) == versions


def test_an_older_copy_does_not_undo(server: Server, people: People) -> None:
    lines = [add("a"), done("a"), add("b")]
    import_lines(lines, people.reviewer)
    before = state_of_things(server)
    assert counts(import_lines(lines[:1], people.reviewer)) == {"known": 1}
    assert state_of_things(server) == before


def test_a_compacted_copy_is_recognised_and_vanished_lines_undo_nothing(server: Server, people: People) -> None:
    import_lines([add("a"), done("a"), add("b", language=None), done("c"), add("c")], people.reviewer)
    before = state_of_things(server)
    compacted = [json.dumps(dict(sorted(json.loads(add("b", language="")).items()))), add("c")]
    assert counts(import_lines(compacted, people.reviewer)) == {"known": 2}
    assert state_of_things(server) == before
    import_lines([*compacted, done("b")], people.reviewer)
    assert entry("b").state == State.APPROVED


def test_a_copy_that_holds_only_what_is_new(server: Server, people: People) -> None:
    import_lines([add("a"), add("b")], people.reviewer)
    job = import_lines([done("a"), done("zzz")], people.reviewer)
    assert (entry("a").state, entry("b").state) == (State.APPROVED, State.PENDING)
    assert counts(job) == {"accepted": 1, "superseded": 1}


def test_the_same_document_from_two_machines_is_one_entry(server: Server, people: People) -> None:
    import_lines([add("a")], people.reviewer, machine="one")
    import_lines([add("a")], people.reviewer, machine="two")
    assert entry("a").sources == ["one", "two"]


_ids = st.sampled_from(["a", "b"])
_times = st.sampled_from(["2026-08-18T10:00:00Z", "2026-08-19T10:00:00Z", "2026-08-20T10:00:00Z", "", "2026-09-01"])
_lines = st.lists(
    st.builds(lambda d, t, r: add(d, ts=t, reason=r), _ids, _times, st.sampled_from(["compact", "manual"]))
    | st.builds(
        lambda d, t, a, b: done(d, ts=t, action=a, by=b),
        _ids,
        _times,
        st.sampled_from(["approved", "deleted", "rejected"]),
        st.sampled_from([None, "expiry", "auto"]),
    )
    | st.builds(lambda d: add(d, bank="second-bank"), _ids)
    | st.sampled_from(["", "torn {"]),
    max_size=9,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(lines=[add("b", ts="2026-08-18T10:00:00Z"), done("b", ts="2026-08-18T10:00:00Z")] * 2, cut=2)
@given(lines=_lines, cut=st.integers(0, 9))
def test_any_beginning_and_then_the_whole_is_the_whole_at_once(
    lines: list[str], cut: int, server: Server, people: People
) -> None:
    worlds = []
    for steps in ([lines], [lines[:cut], lines], [lines, lines[:cut], lines]):
        for model in (Decision, Parked, SourceEvent, ReviewEntry, SourceFile):
            model.objects.all().delete()
        for step in steps:
            assert import_lines(step, people.operator).state == "done"
        worlds.append(state_of_things(server))
    assert worlds[0] == worlds[1] == worlds[2]


# ── against what people decided ────────────────────────────────────────────────────────────────────────────


def decided(bank: Bank, at: datetime, user: User) -> ReviewEntry:
    made = factories.make_entry(
        bank,
        "a",
        state=State.APPROVED,
        enqueued_at=at - timedelta(hours=1),
        decided_at=at,
        decided_by="Mira",
        decided_via=Via.PERSON,
    )
    Decision.objects.create(
        entry=made, verdict="approved", decided_via=Via.PERSON, user=user, user_name="Mira", version=1, at=at
    )
    return made


def test_an_add_older_than_the_decision_does_not_reopen(server: Server, bank: Bank, people: People) -> None:
    decided(bank, NOW - timedelta(hours=1), people.reviewer)
    job = import_lines([add("a")], people.reviewer)
    assert counts(job) == {"older": 1}
    assert (entry("a").state, entry("a").decided_by) == (State.APPROVED, "Mira")


def test_an_add_without_a_date_does_not_reopen(server: Server, bank: Bank, people: People) -> None:
    decided(bank, NOW - timedelta(hours=1), people.reviewer)
    assert counts(import_lines([add("a", ts="")], people.reviewer)) == {"older": 1}


def test_a_newer_add_reopens_and_the_decision_stays(server: Server, bank: Bank, people: People) -> None:
    decided(bank, NOW - timedelta(days=2), people.reviewer)
    import_lines([add("a")], people.reviewer)
    found = entry("a")
    assert (found.state, found.load_state, found.load_after, found.version) == (State.PENDING, Load.LOADING, NOW, 2)
    assert [d.user_name for d in found.decisions.order_by("pk")] == ["Mira", ""]
    assert found.age_from == NOW


def test_a_done_older_than_a_reopening_by_a_person_does_not_close(server: Server, bank: Bank, people: People) -> None:
    import_lines([add("a")], people.reviewer)
    found = entry("a")
    Decision.objects.create(entry=found, verdict="reopened", decided_via=Via.PERSON, version=1, at=NOW)
    assert counts(import_lines([add("a"), done("a")], people.reviewer)) == {"known": 1, "older": 1}
    assert entry("a").state == State.PENDING


def test_a_claim_from_the_future_does_not_outlive_today(server: Server, people: People) -> None:
    import_lines([add("a"), done("a", ts="2099-01-01T00:00:00Z")], people.reviewer)
    assert entry("a").decided_at == NOW


def test_nothing_touches_a_delete_that_is_under_way(server: Server, bank: Bank, people: People) -> None:
    factories.make_entry(bank, "a", state=State.DELETING, enqueued_at=NOW - timedelta(days=5))
    job = import_lines([add("a")], people.reviewer)
    assert counts(job) == {"parked": 1}
    assert entry("a").state == State.DELETING


def test_an_edit_restarts_the_age_and_a_second_source_does_not_turn_it_back(
    server: Server, bank: Bank, people: People
) -> None:
    edited = NOW - timedelta(hours=1)
    factories.make_entry(bank, "a", enqueued_at=NOW - timedelta(days=3), age_from=edited)
    import_lines([add("a")], people.reviewer)
    assert entry("a").age_from == edited


# ── real inputs, recorded cases ────────────────────────────────────────────────────────────────────────────


def test_real_ids_are_imported_as_they_are(server: Server, people: People) -> None:
    records = [json.loads(line) for line in (DATA / "inputs.jsonl").read_text(encoding="utf-8").split("\n") if line]
    documents = [record["value"] for record in records if record["kind"] == "document_id"]
    banks = [record["value"] for record in records if record["kind"] == "bank_id"]
    lines = [*[add(document) for document in documents], *[add(f"in {bank}", bank=bank) for bank in banks]]
    job = import_lines(lines, people.operator)
    slashed = [bank for bank in banks if "/" in bank]
    assert counts(job) == {"accepted": len(lines) - len(slashed), "parked": len(slashed)}
    assert set(documents) <= set(ReviewEntry.objects.values_list("document_id", flat=True))


@pytest.mark.parametrize("path", sorted((DATA / "golden").glob("*-fold-*.json")), ids=lambda path: path.stem)
def test_recorded_files_leave_pending_what_the_tool_left(path: object, server: Server, people: People) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))  # type: ignore[attr-defined]
    lines = case["input"]["lines"]
    job = import_lines(as_bytes(lines), people.operator, server=server)
    assert job.state == "done", job.error
    pending = {entry.document_id for entry in ReviewEntry.objects.filter(state=State.PENDING)}
    # Lines without a bank cannot be placed, and actions that mean nothing close nothing: there we differ, and say so.
    theirs = {one["docId"] for one in case["expected"]["pending"] if one["bank"]}
    assert job.result["pending_in_the_tool"] == len(case["expected"]["pending"])
    assert pending - theirs == ({"a", "b"} if case["name"] == "done-any-action" else set())
    assert theirs <= pending
