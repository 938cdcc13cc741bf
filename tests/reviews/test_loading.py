from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest
from django.utils import timezone

from banks import connections
from banks.demo import DemoServer, DemoTransport, Pace
from banks.hindsight import RetainItem
from banks.models import Bank, Write
from reviews import search
from reviews.models import ReviewEntry
from reviews.services import load
from tests import factories

pytestmark = pytest.mark.django_db
Load = ReviewEntry.Load


@pytest.fixture
def demo(bank: Bank) -> Iterator[DemoServer]:
    server = DemoServer(None, pace=Pace.instant())
    connections.TRANSPORTS[bank.server.base_url] = DemoTransport(server)
    with connections.client_for(bank.server) as client:
        item = RetainItem("Ann keeps the ledger.\u202e Ben reads it.", "notes/a.md", tags=["team:core"])
        client.retain(bank.bank_id, [item], operation_id=uuid4())
    yield server
    del connections.TRANSPORTS[bank.server.base_url]


def unloaded(bank: Bank, document_id: str, **values: object) -> ReviewEntry:
    return factories.make_entry(
        bank, document_id, **{"load_state": Load.LOADING, "load_after": timezone.now(), "text": "", **values}
    )


def test_text_facts_tags_and_marks_are_read_once(bank: Bank, demo: DemoServer) -> None:
    entry = unloaded(bank, "notes/a.md")
    assert load.load(entry.pk) == "loaded"
    entry.refresh_from_db()
    assert entry.text is not None
    assert entry.text.text == "Ann keeps the ledger.\u202e Ben reads it."
    assert (entry.content_hash, entry.tags, entry.load_after) == (entry.text_id, ["team:core"], None)
    assert entry.fact_count
    assert (entry.danger, entry.risk, entry.expires_at) == (True, 31, None)
    assert load.load(entry.pk) == "not due"


def test_a_memory_is_found_by_the_words_of_the_text_it_has_now(bank: Bank, demo: DemoServer) -> None:
    entry = unloaded(bank, "notes/a.md")

    def found(query: str) -> bool:
        return ReviewEntry.objects.filter(search.matching(query)).exists()

    assert load.load(entry.pk) == "loaded"
    assert found("ben reads")
    with connections.client_for(bank.server) as client:
        client.retain(bank.bank_id, [RetainItem("Cora\x00 keeps it.", "notes/a.md")], operation_id=uuid4())
    load.after_write_end(Write(bank=bank, document_id="notes/a.md"))
    assert load.load(entry.pk) == "loaded"
    assert (found("ben"), found("cora keeps"), found("notes/a.md")) == (False, True, True)


def test_a_document_is_looked_for_a_few_times_before_it_is_missing(bank: Bank, demo: DemoServer) -> None:
    entry = unloaded(bank, "nowhere")
    for _ in range(load.LOOKS_BEFORE_MISSING - 1):
        assert load.load(entry.pk) == "loading"
        ReviewEntry.objects.filter(pk=entry.pk).update(load_after=timezone.now())
    assert load.load(entry.pk) == "missing"
    entry.refresh_from_db()
    assert (entry.state, entry.load_after) == ("pending", None)


@pytest.mark.parametrize("document_id", ["..", "."])
def test_an_id_that_no_server_can_address_is_refused_without_a_call(bank: Bank, document_id: str) -> None:
    entry = unloaded(bank, document_id)
    assert load.load(entry.pk) == "refused"


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (httpx.Response(401, json={"detail": "Authentication failed"}), Load.REFUSED),
        (httpx.Response(500, json={"detail": "boom"}), Load.UNREACHABLE),
        (httpx.Response(200, text="<html>proxy</html>", headers={"content-type": "text/html"}), Load.REFUSED),
    ],
)
def test_what_could_not_be_read_says_so_and_stays_pending(bank: Bank, answer: httpx.Response, state: Load) -> None:
    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(lambda request: answer)
    try:
        entry = factories.make_entry(bank, load_state=Load.LOADING, load_after=timezone.now())
        ReviewEntry.objects.filter(pk=entry.pk).update(text=None)
        load.load(entry.pk)
    finally:
        del connections.TRANSPORTS[bank.server.base_url]
    entry.refresh_from_db()
    assert (entry.load_state, entry.state) == (state, "pending")
    assert entry.load_error
