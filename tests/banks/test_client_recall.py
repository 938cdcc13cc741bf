"""What a server recalls, as it tells of it: other names than its lists have, and valid facts alone."""

import json

import httpx
import pytest

from banks.demo import DemoServer, Pace
from banks.hindsight import BadAnswer, Fact, NotFound, Recall
from tests.banks.recorded import client_of, reply


def test_hits_become_facts_with_their_scores() -> None:
    (hit,) = client_of(reply("recall")).recall("rec-main", Recall("Where does Alice work?"))
    assert isinstance(hit.fact, Fact)
    assert hit.fact.text.startswith("Alice joined on 2024-05-01.")
    assert (hit.fact.type, hit.fact.is_retired, hit.fact.document_id) == ("world", False, "doc-1")
    assert hit.fact.entities == ["Alice"]
    assert set(hit.scores) == {"final", "keyword"}  # what found nothing has no score


def test_a_bank_that_does_not_exist_is_said_to_be_missing() -> None:
    with pytest.raises(NotFound) as missing:
        client_of(reply("recall_unknown_bank")).recall("ghost", Recall("x"))
    assert missing.value.what == "bank"


def test_only_what_was_asked_for_is_said() -> None:
    sent: list[dict[str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        assert (request.method, request.url.path) == ("POST", "/v1/default/banks/b/memories/recall")
        sent.append(json.loads(request.content))
        return httpx.Response(200, json={"results": []})

    client = client_of(answer)
    assert client.recall("b", Recall("x")) == []
    client.recall("b", Recall("x", types=["world"], tags=["team:core"], budget="low", prefer_observations=False))
    plain = {"query": "x", "budget": "mid", "max_tokens": 4_096}
    more = {"types": ["world"], "tags": ["team:core"], "budget": "low", "prefer_observations": False}
    assert sent == [plain, {**plain, **more}]


@pytest.mark.parametrize("answer", [{}, {"results": None}, {"results": [7]}, {"results": [{"text": "no id"}]}])
def test_another_answer_is_no_answer(answer: object) -> None:
    with pytest.raises(BadAnswer):
        client_of(httpx.Response(200, json=answer)).recall("b", Recall("x"))


def test_the_demo_refuses_what_servers_refuse() -> None:
    server = DemoServer(None, pace=Pace.instant())
    server.handle("PUT", "/v1/default/banks/b", {}, b"{}")
    for body, status in (({"query": "..."}, 422), ({}, 422), ({"query": "x", "types": ["bogus"]}, 422)):
        raw = json.dumps(body).encode()
        assert server.handle("POST", "/v1/default/banks/b/memories/recall", {}, raw)[0] == status
    server.close()
