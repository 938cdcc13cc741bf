"""Answers of real servers about mental models become one shape; what cannot be named is not asked for."""

import httpx
import pytest

from banks.hindsight import BadAnswer, Conflict, NotAddressable, NotFound, ServerFault
from tests.banks.recorded import client_of, exchange, reply


def test_a_model_in_full_with_what_it_rests_on() -> None:
    model = client_of(reply("mental_model_get")).get_mental_model("rec-main", "team-overview", detail="full")
    assert (model.name, model.source_query) == ("Team overview", "Who is in the team and what do they do?")
    assert (model.max_tokens, model.tags, model.knowledge_page) == (1024, [], False)
    assert (model.content or "").startswith("## Summary")
    assert model.trigger is not None
    assert model.trigger["refresh_after_consolidation"] is False
    assert model.evidence is not None
    assert len(model.evidence) == len({each.id for each in model.evidence}) == 3
    assert {each.type for each in model.evidence} == {"world"}
    assert model.based_on == {each.id for each in model.evidence}


def test_a_list_tells_names_tags_and_staleness_alone() -> None:
    (row,) = client_of(reply("mental_models_list")).list_mental_models("rec-main").items
    assert (row.id, row.stale, row.content, row.source_query, row.trigger) == ("team-overview", False, None, None, None)
    assert (row.evidence, row.based_on) == (None, None)


def test_a_history_is_a_bare_list_whose_first_text_was_none() -> None:
    newest, first = client_of(reply("mental_model_history")).mental_model_history("rec-main", "team-overview")
    assert (newest.before or "").startswith("## Summary")
    assert (newest.evidence, newest.failed) == (3, False)
    assert (first.before, first.evidence) == (None, None)
    wrapped = httpx.Response(200, json={"items": exchange("mental_model_history")["response"]})
    assert len(client_of(wrapped).mental_model_history("b", "m")) == 2  # as some servers answer


def test_a_refresh_that_failed_is_no_version() -> None:
    row = {"kind": "refresh_failed", "outcome": "refresh_failed_error", "failure_reason": "no_answer"}
    row |= {"error_message": "no model", "changed_at": "2026-03-01T10:00:00+00:00", "previous_content": None}
    (change,) = client_of(httpx.Response(200, json=[row])).mental_model_history("b", "m")
    assert (change.failed, change.before) == (True, None)
    assert change.why == "refresh_failed_error: no_answer: no model"


def test_a_trial_says_what_would_be_written_and_on_what() -> None:
    trial = client_of(reply("mental_model_dry_run")).try_refresh("rec-main", "team-overview")
    assert (trial.outcome, trial.writes, trial.mode, trial.fallback) == ("content_unchanged", True, "full", "")
    assert trial.before.strip() == trial.after.strip()
    assert (trial.retrieved, trial.used, trial.tokens, trial.warnings) == (2, 2, 600, [])


def test_what_is_missing_or_refused_is_told_apart() -> None:
    for name in ("mental_model_get_unknown", "mental_model_refresh_unknown"):
        with pytest.raises(NotFound) as caught:
            client_of(reply(name)).get_mental_model("rec-main", "nope")
        assert caught.value.what == "model"
    made = {"name": "dup", "source_query": "x"}
    with pytest.raises(Conflict):
        client_of(reply("mental_model_create_dup")).create_mental_model("rec-main", "team-overview", **made)
    with pytest.raises(ServerFault) as fault:
        client_of(reply("none_mental_model_create")).create_mental_model("va-none", "m", **made)
    assert fault.value.outcome_unknown  # it may have been made, and was


def test_no_tags_and_no_settings_are_said_by_saying_nothing() -> None:
    sent = []

    def note(request: httpx.Request) -> httpx.Response:
        sent.append(request.read())
        return httpx.Response(200, json={"mental_model_id": "m", "operation_id": "o"})

    client_of(note).create_mental_model("b", "m", name="N", source_query="Q", tags=[], trigger={})
    assert sent == [b'{"id": "m", "name": "N", "source_query": "Q"}']


@pytest.mark.parametrize("model_id", ["", ".", "..", "a/b", "m/refresh", "a\0b", "\ud83d"])
def test_ids_that_reach_something_else_are_refused_before_any_call(model_id: str) -> None:
    def never(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"a call was made: {request.url}")

    with client_of(never) as client:
        calls = (client.get_mental_model, client.delete_mental_model, client.refresh_mental_model)
        for call in (*calls, client.try_refresh, client.mental_model_history):
            with pytest.raises(NotAddressable):
                call("bank", model_id)
        with pytest.raises(NotAddressable):
            client.create_mental_model("bank", model_id, name="N", source_query="Q")


@pytest.mark.parametrize("answer", [[], {}, {"id": "other"}, {"id": 7}, "text", None])
def test_an_answer_about_something_else_is_no_model(answer: object) -> None:
    with pytest.raises(BadAnswer):
        client_of(httpx.Response(200, json=answer)).get_mental_model("b", "m")


def test_odd_values_are_as_if_they_were_not_told() -> None:
    row = {"id": "m", "name": 7, "content": ["x"], "tags": "a", "max_tokens": "9", "trigger": [], "is_stale": "no"}
    row |= {"reflect_response": {"based_on": {"world": [{"id": 3}, "x", {"id": "f"}], "odd": 7}}, "created_at": "soon"}
    model = client_of(httpx.Response(200, json=row)).get_mental_model("b", "m")
    assert (model.name, model.content, model.tags, model.max_tokens) == ("", None, [], None)
    assert (model.trigger, model.stale, model.created_at) == (None, None, None)
    assert [each.id for each in model.evidence or ()] == ["f"]


def test_a_list_that_does_not_say_how_long_it_is_is_read_to_its_end() -> None:
    rows = [{"id": f"m{number}", "name": "What we know"} for number in range(3)]

    def answer(request: httpx.Request) -> httpx.Response:
        offset = int(request.url.params["offset"])
        return httpx.Response(200, json={"items": rows[offset : offset + 2]})

    page = client_of(answer).first_mental_models("b", most=10)
    assert ([each.id for each in page.items], page.total) == (["m0", "m1", "m2"], 3)
