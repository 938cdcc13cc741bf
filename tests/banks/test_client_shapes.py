"""Answers of real servers become one shape."""

import contextlib
from datetime import UTC, date, datetime

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banks.hindsight import BadAnswer, BankRow, Document, Fact, NotFound, Operation
from banks.hindsight.fields import ShapeError
from banks.numbers.read import retired_count
from tests.banks.recorded import client_of, exchange, reply


def test_version_and_health():
    version = client_of(reply("version")).version()
    assert version.api_version == "1.1.0"
    assert version.features["audit_log"] is True
    assert client_of(reply("health")).health().healthy
    assert not client_of(httpx.Response(200, json={"status": "degraded"})).health().healthy


def test_an_old_server_without_features_is_understood():
    version = client_of(httpx.Response(200, json={"api_version": "0.9.1"})).version()
    assert (version.api_version, version.features) == ("0.9.1", {})


def test_a_document_and_its_row():
    document = client_of(reply("document_get_with_invalidated")).get_document("rec-main", "doc-1")
    assert document.text.startswith("Alice works at Acme")
    assert (document.fact_count, document.facts_by_type["observation"]) == (3, 2)
    assert document.created_at == datetime(2026, 11, 30, 2, 5, 25, 829261, tzinfo=UTC)
    assert document.retain_params["event_date"] == "2026-02-01T10:00:00+02:00"
    assert document.metadata == {"n": "1", "author": "zed"}
    page = client_of(reply("documents_list_limit_2")).list_documents("rec-docs", limit=2)
    assert [row.id for row in page.items] == ["list/4-ünï", "list/3-ünï"]
    assert page.total > len(page.items)
    assert page.items[0].text_length == 35


def test_a_history_is_read_and_never_that_of_another_document():
    page = client_of(reply("document_history")).document_history("rec-docs", "A")
    assert [event.kind for event in page.items] == ["consolidation", "fact_invalidated", "consolidation"]
    retired = page.items[1]
    assert (retired.fact_id[:8], retired.observations_created, retired.observations_removed) == ("3189f786", 0, 1)
    assert retired.at == datetime(2026, 11, 30, 2, 7, 33, 283867, tzinfo=UTC)
    with pytest.raises(BadAnswer, match="another document"):
        client_of(reply("document_history")).document_history("rec-docs", "B")


def test_a_directive_may_have_a_priority_below_nothing():
    row = {"id": "d", "name": "n", "content": "c", "priority": -3, "is_active": False, "tags": None}
    directive = client_of(httpx.Response(200, json=row)).get_directive("b", "d")
    assert (directive.priority, directive.active, directive.tags, directive.updated_at) == (-3, False, [], None)


def test_a_server_that_stopped_counting_says_so():
    answer = {"items": [], "total": 1000, "total_is_estimate": True}
    assert client_of(httpx.Response(200, json=answer)).list_documents("b", q="x").estimated
    assert not client_of(reply("documents_list_limit_2")).list_documents("b").estimated


def test_null_parameters_become_empty_ones():
    row = exchange("document_get_with_invalidated")["response"]
    nothing = row | {"retain_params": None, "document_metadata": None, "tags": None, "nodes_by_fact_type": None}
    document = Document.parse(nothing)
    assert (document.retain_params, document.metadata, document.tags, document.facts_by_type) == ({}, {}, [], {})


def test_a_document_without_text_is_not_an_empty_document():
    row = exchange("document_get_with_invalidated")["response"] | {"original_text": None}
    with pytest.raises(BadAnswer, match="no text"):
        client_of(httpx.Response(200, json=row)).get_document("rec-main", "doc-1")


def test_list_and_detail_name_things_differently():
    listed = {fact.id: fact for fact in client_of(reply("facts_list")).list_facts("rec-main").items}
    one = client_of(reply("memory_get")).get_fact("rec-main", "x")
    same = listed[one.id]
    assert (one.type, same.type) == ("world", "world")
    assert set(one.entities) == set(same.entities) == {"Alice", "Acme"}
    assert (one.proof_count, same.proof_count) == (None, 1)
    assert one.mentioned_at == same.mentioned_at


def test_a_retired_fact():
    fact = client_of(reply("memory_invalidate")).patch_fact("rec-main", "x", state="invalidated", reason="wrong person")
    assert (fact.is_retired, fact.invalidation_reason, fact.entities) == (True, "wrong person", [])
    assert fact.invalidated_at is not None


def test_an_observation_has_sources_and_no_document():
    (first, *_) = client_of(reply("memories_list_observation")).list_facts("rec-main").items
    one = client_of(reply("memory_get_observation")).get_fact("rec-main", "x")
    for observation in (first, one):
        assert observation.is_observation
        assert observation.source_fact_ids
        assert (observation.document_id, observation.chunk_id) == ("", "")


def test_a_finished_operation():
    operation = client_of(reply("operation_get_completed")).get_operation("rec-main", "x")
    assert (operation.status, operation.terminal, operation.type, operation.document_id) == (
        "completed",
        True,
        "batch_retain",
        "doc-async",
    )
    assert [child.status for child in operation.children] == ["completed"]


def test_failing_looks_like_pending_and_is_shown_as_retrying():
    page = client_of(reply("operations_list_after_fail")).list_operations("rec-ops")
    child, parent = page.items
    assert (child.status, child.raw_status, child.retry_count) == ("retrying", "pending", 1)
    assert child.next_retry_at is not None
    assert "forced failure" in child.error
    assert (parent.status, parent.terminal) == ("pending", False)
    assert "forced failure" in client_of(reply("operation_get_failed")).get_operation("b", "x").children[0].error


def test_an_unknown_operation_is_an_answer():
    operation = client_of(reply("operation_get_unknown")).get_operation("rec-ops", "x")
    assert operation.not_found
    assert not operation.terminal
    assert operation.created_at is None


@pytest.mark.parametrize(
    ("status", "terminal"),
    [
        ("pending", False),
        ("processing", False),
        ("completed", True),
        ("failed", True),
        ("cancelled", True),
        ("not_found", False),
        ("paused by moon", False),
    ],
)
def test_every_status_is_kept_as_it_is(status, terminal):
    operation = Operation.parse({"id": "x", "status": status})
    assert (operation.status, operation.raw_status, operation.terminal) == (status, status, terminal)


def test_a_cancelled_parent_is_not_over_while_a_child_runs():
    row = {"id": "x", "status": "cancelled", "child_operations": [{"operation_id": "y", "status": "processing"}]}
    assert not Operation.parse(row).terminal


def test_operations_of_an_older_server_have_only_the_short_names():
    operation = Operation.parse({"id": "x", "task_type": "retain", "status": "pending"})
    assert (operation.id, operation.type) == ("x", "retain")


def test_what_a_list_and_a_single_read_add():
    (row,) = client_of(reply("operations_list_type_retain")).list_operations("rec-ops").items
    assert (row.type, row.document_id, row.moved_at) == (
        "retain",
        "pend",
        datetime(2026, 11, 30, 2, 9, 14, 426150, tzinfo=UTC),
    )
    child = client_of(reply("operation_get_child_cancelled")).get_operation("rec-ops", "x")
    assert (child.parent_id, child.items, child.document_id) == ("08b8447c-ce97-4495-9e6a-0f64b172dc28", 1, "cc")
    refresh = client_of(reply("operation_get_refresh")).get_operation("rec-main", "x")
    assert (refresh.model_id, refresh.parent_id, refresh.children) == ("team-overview", "", [])


def _operations(count, cap=100):
    """A server with so many, that gives at most `cap` at a time."""

    def handler(request):
        offset, limit = int(request.url.params["offset"]), min(int(request.url.params["limit"]), cap)
        rows = [{"id": f"o{number}", "status": "pending"} for number in range(offset, min(offset + limit, count))]
        return httpx.Response(200, json={"operations": rows, "total": count})

    return client_of(handler)


@pytest.mark.parametrize(("cap", "most"), [(100, 1_000), (40, 1_000), (100, 120), (40, 7)])
def test_operations_are_walked_to_their_end_or_to_the_bound(cap, most):
    page = _operations(230, cap).walk_operations("b", most=most)
    assert [row.id for row in page.items] == [f"o{number}" for number in range(min(230, most))]
    assert page.total == 230


def test_a_list_of_operations_that_repeats_itself_ends():
    same = httpx.Response(200, json={"operations": [{"id": "o", "status": "pending"}], "total": 99})
    page = client_of(same).walk_operations("b")
    assert (len(page.items), page.total) == (1, 99)


def test_a_counter_that_a_server_does_not_have_is_not_nothing():
    recorded = exchange("bank_stats_with_failed")["response"]
    assert client_of(httpx.Response(200, json=recorded)).stats("rec-ops").pending_consolidation is not None
    for gone in ({**recorded, "pending_consolidation": None}, {"total_documents": 3}):
        assert client_of(httpx.Response(200, json=gone)).stats("rec-ops").pending_consolidation is None


def test_new_facts_of_each_day_and_no_observations():
    days = client_of(reply("bank_timeseries")).days("rec-main")
    assert (days.counts, days.last) == ([0, 0, 0, 0, 0, 0, 4], date(2026, 11, 30))
    hours = exchange("bank_timeseries")["response"] | {"trunc": "hour"}
    for row in (hours, {"trunc": "day", "buckets": []}, {"trunc": "day", "buckets": [{"time": "x"}]}, {}):
        with pytest.raises(BadAnswer):
            client_of(httpx.Response(200, json=row)).days("rec-main")


def test_aliases_that_a_call_can_name():
    rows = [{"alias": "shop", "primary": True}, {"alias": "a/b"}, {"alias": ""}, {"alias": "x" * 2_000}, {}]
    assert client_of(httpx.Response(200, json={"aliases": rows})).aliases("b") == ["shop"]
    with pytest.raises(BadAnswer):
        client_of(httpx.Response(200, json={"aliases": "shop"})).aliases("b")


def test_counters():
    stats = client_of(reply("bank_stats_with_failed")).stats("rec-ops")
    assert (stats.documents, stats.failed_operations, stats.facts_by_type["world"]) == (39, 4, 41)
    with pytest.raises(BadAnswer):
        client_of(httpx.Response(200, json={"bank_id": "x"})).stats("x")


def test_what_a_delete_says():
    assert client_of(reply("document_delete")).delete_document("rec-docs", "D").units_deleted == 1


def _banks(count, total):
    """A server that gives at most two banks at a time, whatever the limit."""

    def handler(request):
        offset = int(request.url.params["offset"])
        rows = [{"bank_id": f"b{number}"} for number in range(offset, min(offset + 2, count))]
        return httpx.Response(200, json={"banks": rows} | total)

    return client_of(handler)


def test_all_pages_are_walked_by_the_lengths_returned():
    assert [bank.bank_id for bank in _banks(5, {"total": 5}).list_banks()] == ["b0", "b1", "b2", "b3", "b4"]


def test_a_server_without_totals_or_with_the_same_page_for_ever_ends():
    assert len(_banks(2, {}).list_banks()) == 2
    assert len(_banks(5, {}).list_banks()) == 5
    assert _banks(5, {}).has_bank("b4")  # or else one that is there would be taken for deleted
    same = httpx.Response(200, json={"banks": [{"bank_id": "b"}], "total": 99})
    assert len(client_of(same).list_banks()) == 1


def test_a_count_that_is_missing_is_not_nothing():
    with pytest.raises(BadAnswer, match="how many"):
        client_of(httpx.Response(200, json={"items": []})).count_facts("b", state="invalidated")
    assert retired_count(client_of(httpx.Response(200, json={"items": []})), "b") is None


def test_a_list_under_another_name_is_a_bad_answer_and_not_an_empty_list():
    with pytest.raises(BadAnswer):
        client_of(httpx.Response(200, json={"items": []})).list_banks()
    with pytest.raises(BadAnswer):
        client_of(httpx.Response(200, json={"banks": [{"name": "no id"}]})).list_banks()


def _documents(ids):
    def handler(request):
        offset, limit = int(request.url.params["offset"]), int(request.url.params["limit"])
        rows = [{"id": each} for each in ids[offset : offset + limit]]
        return httpx.Response(200, json={"items": rows, "total": len(ids)})

    return client_of(handler)


def test_a_document_is_found_by_its_exact_id_on_any_page():
    ids = [f"note-{number}" for number in range(250)]
    assert _documents(ids).find_document("b", "note-249").id == "note-249"
    assert _documents(ids).find_document("b", "note-2").id == "note-2"
    assert _documents(ids).find_document("b", "NOTE-2") is None
    assert _documents([]).find_document("b", "x") is None


def test_a_list_that_cannot_be_read_is_never_nothing_found():
    with pytest.raises(NotFound):
        client_of(reply("unknown_bank_docs")).find_document("ghost", "x")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("shape", [Fact, Document, Operation, BankRow])
def test_any_json_is_a_value_or_a_shape_error(shape):
    others = [
        "status",
        "child_operations",
        "original_text",
        "retain_params",
        "document_metadata",
        "nodes_by_fact_type",
        "fact_type",
    ]
    names = [*shape.__dataclass_fields__, *others]

    @settings(deadline=None)
    @given(st.dictionaries(st.sampled_from(names), values, max_size=12))
    def check(row):
        with contextlib.suppress(ShapeError):
            shape.parse(row)

    check()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30T02:05:25.829261+00:00", datetime(2026, 11, 30, 2, 5, 25, 829261, tzinfo=UTC)),
        ("2026-11-30 02:13:39.793781+00", datetime(2026, 11, 30, 2, 13, 39, 793781, tzinfo=UTC)),
        ("2026-11-30T02:07:34Z", datetime(2026, 11, 30, 2, 7, 34, tzinfo=UTC)),
        ("2026-11-30T04:00:00+02:00", datetime(2026, 11, 30, 2, tzinfo=UTC)),
        ("2026-11-30T02:00:00", datetime(2026, 11, 30, 2, tzinfo=UTC)),
        ("", None),
        ("soon", None),
        (None, None),
    ],
)
def test_times_are_aware_whatever_their_spelling(text, expected):
    assert BankRow.parse({"bank_id": "b", "created_at": text}).created_at == expected
