"""A server that answers with what a database refuses: it is stored in another form, and nobody waits for ever."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.utils import timezone

from banks import connections
from banks.models import Bank, Server
from banks.numbers.look import look
from banks.services.probe import probe
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from reviews.services import decide, load
from tests import factories
from tests.conftest import People

pytestmark = pytest.mark.django_db

NASTY = "a\\u0000b\\ud800c"  # as JSON brings it
STORED = "a\ufffdb\ufffdc"
HUGE = "9" * 15
FACT = f"""{{"id": "{"f" * 900}", "text": "{NASTY}", "fact_type": "{NASTY * 50}", "entities": "{NASTY}",
    "document_id": "notes/a.md", "metadata": {{"{NASTY}": NaN}}, "proof_count": -{HUGE}}}"""
ANSWERS = {
    "/documents/": f"""{{"id": "notes/a.md", "original_text": "{NASTY}", "content_hash": "{NASTY * 40}",
        "created_at": "0001-01-01T00:00:00+14:00", "updated_at": "9999-12-31T23:59:59-14:00",
        "memory_unit_count": {HUGE}, "tags": ["{NASTY}"], "document_metadata": {{"session": "{NASTY * 90}"}},
        "retain_params": {{"entities": [{{"{NASTY}": 1e999}}], "context": "{NASTY}", "event_date": NaN}}}}""",
    "/memories/list": f'{{"items": [{FACT}], "total": {HUGE}}}',
    "/stats": f"""{{"total_documents": {HUGE}, "nodes_by_fact_type": {{"{NASTY}": {HUGE}, "world": {HUGE}}},
        "pending_operations": -1}}""",
    "/banks": f'{{"banks": [{{"bank_id": "checkout-service", "name": "{NASTY * 90}", "fact_count": -{HUGE}}}]}}',
    "/version": f'{{"api_version": "{NASTY * 20}", "features": {{"{NASTY}": true}}}}',
    "/health": f'{{"status": "{NASTY * 90}"}}',
}


def answer(request: httpx.Request) -> httpx.Response:
    body = next(body for part, body in ANSWERS.items() if part in request.url.path)
    return httpx.Response(200, content=body.encode(), headers={"content-type": "application/json"})


@pytest.fixture
def server(bank: Bank) -> Iterator[Server]:
    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    yield bank.server
    del connections.TRANSPORTS[bank.server.base_url]


def loaded(bank: Bank) -> ReviewEntry:
    wanted: dict[str, Any] = {"load_state": ReviewEntry.Load.LOADING, "load_after": timezone.now(), "text": ""}
    entry = factories.make_entry(bank, "notes/a.md", **wanted)
    assert load.load(entry.pk) == "loaded"
    entry.refresh_from_db()
    return entry


def test_a_document_is_loaded_and_can_be_decided_on(bank: Bank, server: Server, people: People) -> None:
    entry = loaded(bank)
    assert entry.text is not None
    assert (entry.text.text, entry.preview, entry.tags) == (STORED, STORED, [STORED])
    assert entry.retain_params["entities"] == [{STORED: None}]
    assert (entry.document_created_at, entry.document_updated_at) == (None, None)
    shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    write = decide.delete(user=people.reviewer, **shown)  # type: ignore[arg-type]
    assert write.decided_hash == entry.content_hash


def test_a_bank_is_registered_and_counted(bank: Bank, server: Server) -> None:
    probe(server)
    assert look(server.pk) == "1 read, 0 failed"
    bank.refresh_from_db()
    assert bank.name.startswith(STORED)
    assert (bank.numbers.backlog, bank.numbers.days, list(bank.aliases.all())) == (None, None, [])
    assert (bank.document_count, bank.fact_count) == (2**31 - 1, 2**31 - 1)


def test_a_person_with_two_long_names_decides(bank: Bank, people: People) -> None:
    long = {"first_name": "Ana" * 50, "last_name": "Sol" * 50}
    User.objects.filter(pk=people.operator.pk).update(**long)
    people.operator.refresh_from_db()
    entry = factories.make_entry(bank)
    shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    assert decide.approve(user=people.operator, **shown).user_name == "Ana" * 50  # type: ignore[arg-type]
