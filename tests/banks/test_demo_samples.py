"""The sample memories: there are enough, of every kind, and the queue file speaks of them."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from banks.demo import DemoServer, DemoTransport, fill, sample_queue
from banks.demo.samples import load
from banks.hindsight import HindsightClient, NotFound

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def client():
    server = DemoServer(clock=lambda: NOW)
    fill(server, NOW)
    with HindsightClient("http://demo", transport=DemoTransport(server)) as client:
        yield client


def test_every_sample_document_can_be_read_back(client):
    for bank in load():
        for document in bank.documents:
            stored = client.get_document(bank.bank_id, document.id)
            assert stored.text == document.text
            assert stored.created_at == NOW - document.age
            assert stored.metadata["language"] == document.language


def test_there_are_at_least_five_banks_and_forty_four_documents():
    assert len(load()) >= 5
    assert sum(len(bank.documents) for bank in load()) >= 44
    assert {"agent-1::channel-2::user-3", "проект-маяк", "user-dana"} <= {bank.bank_id for bank in load()}


def test_the_texts_hold_what_a_reviewer_must_learn_to_see():
    texts = [document.text for bank in load() for document in bank.documents]
    for pattern in (
        "AKIA[0-9A-F]{16}",
        "\u202e",
        "\u200b",
        "\U000e0073",
        "<script>",
        "[A-Za-z0-9+/]{1000}",
        "ignore all previous",
    ):
        assert any(re.search(pattern, text) for text in texts), pattern
    assert max(map(len, texts)) >= 40_000
    assert {"English", "German", "Russian", "Arabic", "Japanese", "French"} <= {
        document.language for bank in load() for document in bank.documents
    }


def test_some_facts_are_retired_with_reasons_and_some_edited(client):
    retired = client.list_facts("payments", state="invalidated").items
    assert len(retired) == 2
    assert all(fact.invalidation_reason for fact in retired)
    assert any(fact.edited_at for fact in client.list_facts("payments").items)


def test_one_retain_has_failed_and_one_document_has_no_facts(client):
    (failed,) = client.list_operations("platform-team", status="failed").items
    assert failed.document_id == "plat-retro-part-2"
    with pytest.raises(NotFound):
        client.get_document("platform-team", "plat-retro-part-2")
    assert client.get_document("payments", "pay-oncall-smalltalk").fact_count == 0


def _events():
    events = []
    for line in sample_queue("http://127.0.0.1:9999", NOW):
        try:
            events.append(json.loads(line))
        except ValueError:
            events.append(None)
    return events


def test_the_queue_speaks_of_every_document_and_one_that_is_not_there(client):
    added = {(event["bank"], event["docId"]) for event in _events() if event and event["ev"] == "add"}
    stored = {(bank.bank_id, document.id) for bank in load() for document in bank.documents}
    assert added - stored == {("payments", "pay-never-stored")}
    assert stored <= added


def test_the_queue_has_ages_up_to_almost_seven_days():
    dated = [e["ts"] for e in _events() if e and e["ev"] == "add" and re.fullmatch(r"[\dT:.-]+Z", e.get("ts", ""))]
    ages = [NOW - datetime.fromisoformat(ts) for ts in dated]
    assert min(ages) < timedelta(hours=1)
    assert timedelta(days=6, hours=18) < max(ages) < timedelta(days=7)
    assert sum(age > timedelta(days=6) for age in ages) >= 3


def test_the_queue_has_a_torn_line_a_done_and_undatable_entries():
    events = _events()
    assert events.count(None) == 1
    assert [event["ev"] for event in events if event].count("done") == 1
    undatable = [e for e in events if e and e["ev"] == "add" and not re.fullmatch(r"[\dT:.-]+Z", e.get("ts", ""))]
    assert len(undatable) == 3


def test_the_base_url_is_the_one_given():
    assert {event["baseUrl"] for event in _events() if event and event["ev"] == "add"} == {"http://127.0.0.1:9999"}
