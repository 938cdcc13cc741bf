"""What a server says about its recall, and what it answers to a question, as recorded."""

import json

import httpx
import pytest

from banks.hindsight import BadAnswer, Invalid, Recall, Recalled, Reflect
from tests.banks.recorded import client_of, reply

FACT, OBSERVATION = "c123221b-f8bd-4756-9da2-c691a787b616", "71d3f59a-6d02-42c8-8c64-26692eca46f8"


def test_hits_come_with_scores_sources_and_the_way_to_them() -> None:
    told = client_of(reply("recall_traced")).recall_in_full("rec-main", Recall("What does Bob like?", trace=True))
    fact, observation = told.hits
    assert (fact.fact.id, fact.fact.type, observation.fact.type) == (FACT, "world", "observation")
    assert set(fact.scores) == {"final", "semantic", "keyword"}  # no model ranked it
    assert fact.scores["final"] > observation.scores["final"]
    assert observation.fact.source_fact_ids == [FACT]
    assert told.trace is not None
    assert told.trace.ranks == {FACT: {"semantic": 1, "bm25": 1}, OBSERVATION: {"semantic": 2, "bm25": 2}}
    assert list(told.trace.merged) == [FACT, OBSERVATION]
    assert (told.trace.visited, round(told.trace.seconds, 3)) == (2, 0.035)
    assert [(each.method, each.type, each.found) for each in told.trace.searches[:2]] == [
        ("semantic", "world", 1),
        ("bm25", "world", 1),
    ]
    assert told.trace.steps[1][0] == "generate_query_embedding"


def test_more_is_said_only_when_it_is_asked_for() -> None:
    sent: list[dict[str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(200, json={"results": []}, headers={"x-ignored-params": "tags_match"})

    client = client_of(answer)
    told = client.recall_in_full("b", Recall("x", tags=["a"], tags_match="all_strict", trace=True))
    assert told == Recalled([], None, ("tags_match",))
    client.recall("b", Recall("x", tags_match="exact"))  # without tags it would be another question
    client.recall("b", Recall("x", sources=True))
    plain = {"query": "x", "budget": "mid", "max_tokens": 4_096}
    named = {**plain, "include": {"source_facts": {"max_tokens": 0}}}
    assert sent == [{**plain, "tags": ["a"], "tags_match": "all_strict", "trace": True}, plain, named]


@pytest.mark.parametrize(
    "trace", [7, [], {"summary": 7, "retrieval_results": {}, "rrf_merged": [7, {"node_id": 8}]}, {"summary": {"x": 1}}]
)
def test_a_trace_of_another_shape_costs_no_hit(trace: object) -> None:
    row = {"id": "f", "text": "Ann.", "scores": {"final": "much", "keyword": True}, "source_fact_ids": 7}
    told = client_of(httpx.Response(200, json={"results": [row], "trace": trace})).recall_in_full("b", Recall("x"))
    assert [(hit.fact.text, hit.scores, hit.fact.source_fact_ids) for hit in told.hits] == [("Ann.", {}, [])]
    assert told.trace is None or told.trace.merged == {}


def test_an_answer_names_what_it_rests_on() -> None:
    told = client_of(reply("reflect")).reflect("rec-main", Reflect("What does Bob like?"))
    assert told.text == "## Answer\n\n- Bob likes green tea."
    assert told.tokens == 600
    assert told.sources is not None
    assert [(each.kind, each.id, each.type) for each in told.sources][:2] == [
        ("fact", FACT, "world"),
        ("model", "Bad ID/ü", ""),
    ]
    assert [each.kind for each in told.sources] == ["fact", "model", "directive"]
    assert told.sources[0].document_id == "doc-1"
    assert [tool for tool, _ in told.asked] == ["search_mental_models", "recall"]


def test_an_answer_without_sources_says_none_and_one_without_text_is_none() -> None:
    told = client_of(reply("reflect_unknown_bank")).reflect("ghost", Reflect("x"))
    assert (told.sources, told.asked, told.tokens) == (None, [], 480)
    with pytest.raises(BadAnswer):
        client_of(httpx.Response(200, json={"based_on": {}})).reflect("b", Reflect("x"))


def test_a_server_without_a_model_refuses() -> None:
    with pytest.raises(Invalid, match="requires an LLM provider"):
        client_of(reply("reflect_without_model")).reflect("va-none", Reflect("Who works at Acme?"))
