"""Recall and reflect of the demo server, as recorded of a real one."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from banks.demo import DemoServer, DemoTransport, Pace
from banks.hindsight import HindsightClient, Invalid, NotFound, Recall, Reflect, RetainItem

QUESTION = "What does Bob like?"


@pytest.fixture
def server() -> Iterator[DemoServer]:
    made = DemoServer(None, pace=Pace.instant())
    yield made
    made.close()


@pytest.fixture
def client(server: DemoServer) -> HindsightClient:
    client = HindsightClient("http://demo.test:8888", transport=DemoTransport(server))
    kept = RetainItem("Bob likes green tea. Bob likes Alice. We like tea.", "doc-1", tags=["team:core"])
    client.retain("b", [kept, RetainItem("Zoe likes black tea.", "doc-2")], operation_id=uuid4())
    client.stats("b")
    return client


def texts(client: HindsightClient, **asked: Any) -> set[str]:
    return {hit.fact.text for hit in client.recall("b", Recall(QUESTION, **asked)) if hit.fact.type != "observation"}


def test_the_best_comes_first_with_scores_of_each_stage(client: HindsightClient) -> None:
    hits = client.recall("b", Recall(QUESTION))
    finals = [hit.scores["final"] for hit in hits]
    assert finals == sorted(finals, reverse=True)
    assert hits[0].fact.text in {"Bob likes green tea.", "Bob likes Alice."}
    assert set(hits[0].scores) == {"final", "semantic", "keyword"}
    assert all(0 < hit.scores["semantic"] <= 1 for hit in hits)
    assert {hit.fact.type for hit in hits} == {"world", "experience", "observation"}


def test_types_and_tags_narrow_it(client: HindsightClient) -> None:
    assert texts(client, types=["experience"]) == {"We like tea."}
    tagged = {"Bob likes green tea.", "Bob likes Alice.", "We like tea."}
    assert texts(client, tags=["team:core"]) == {*tagged, "Zoe likes black tea."}
    assert texts(client, tags=["team:core"], tags_match="any_strict") == tagged
    assert texts(client, tags=["team:core", "x"], tags_match="all_strict") == set()
    assert texts(client, tags=["team:core"], tags_match="exact") == tagged


def test_an_observation_can_stand_for_its_facts(client: HindsightClient) -> None:
    both = client.recall("b", Recall(QUESTION, prefer_observations=False, sources=True))
    (observation,) = (hit.fact for hit in both if hit.fact.type == "observation")
    assert observation.source_fact_ids
    assert set(observation.source_fact_ids) <= {hit.fact.id for hit in both}
    preferred = {hit.fact.id for hit in client.recall("b", Recall(QUESTION, prefer_observations=True))}
    assert observation.id in preferred
    assert not preferred & set(observation.source_fact_ids)
    client.patch_config("b", {"recall_prefer_observations": True})
    assert {hit.fact.id for hit in client.recall("b", Recall(QUESTION))} == preferred


def test_a_trace_tells_what_was_found_and_left_out(client: HindsightClient) -> None:
    told = client.recall_in_full("b", Recall(QUESTION, max_tokens=5, trace=True))
    assert told.trace is not None
    assert len(told.hits) < len(told.trace.merged)
    assert {hit.fact.id for hit in told.hits} <= set(told.trace.merged)
    assert told.trace.searches
    assert client.recall_in_full("b", Recall(QUESTION)).trace is None


def test_retired_facts_are_not_recalled(client: HindsightClient) -> None:
    fact = next(hit.fact for hit in client.recall("b", Recall(QUESTION, types=["world"])))
    client.patch_fact("b", fact.id, state="invalidated")
    assert fact.text not in texts(client)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"query": "?!"}, "at least one word"),
        ({}, "Field required"),
        ({"query": "x", "types": ["bogus"]}, "Invalid fact type(s): bogus."),
        ({"query": "x", "budget": "huge"}, "'low', 'mid' or 'high'"),
        ({"query": "x", "tags_match": "some"}, "'any', 'all'"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    client: HindsightClient, server: DemoServer, body: dict[str, Any], said: str
) -> None:
    path = "/v1/default/banks/b/memories/recall"
    status, _, raw = server.handle("POST", path, {}, json.dumps(body).encode())
    assert (status, said in raw.decode()) == (422, True)


def test_recall_makes_no_bank_and_reflect_makes_one(client: HindsightClient) -> None:
    with pytest.raises(NotFound):
        client.recall("ghost", Recall("x"))
    assert not client.has_bank("ghost")
    client.reflect("ghost", Reflect("x"))
    assert client.has_bank("ghost")


def test_an_answer_rests_on_what_was_recalled(client: HindsightClient) -> None:
    told = client.reflect("b", Reflect(QUESTION))
    assert "- Bob likes green tea." in told.text
    assert told.sources is not None
    assert {"Bob likes green tea.", "Zoe likes black tea."} <= {each.text for each in told.sources}
    with pytest.raises(Invalid):
        client.reflect("b", Reflect("  "))
