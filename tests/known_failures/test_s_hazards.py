"""What the reference sources get wrong without anybody's report: decisions and texts that are not what they seem."""

import html
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
import time_machine
from django.utils import timezone

from banks import connections
from banks.models import Bank, Write
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, expiry, load
from tests import factories
from tests.banks.conftest import LyingTransport, store
from tests.conftest import People
from tests.known_failures.world import SHADOWED, in_bank, loaded, short, waiting, work_off
from tests.reviews.pages import shown, text_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("document_id", SHADOWED, ids=short)
def test_row_s03_the_text_of_another_thing_is_neither_shown_nor_decided_on(
    document_id: str, bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    """The server answers the address of `notes/chunks` with the chunks of `notes`."""
    store(bank, "notes", "Carl keeps the archive.")
    store(bank, document_id, "Ann keeps the ledger.")
    entry = waiting(bank, document_id)
    work_off()
    entry.refresh_from_db()
    assert (entry.state, entry.load_state, entry.text) == ("pending", "refused", None)
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "Carl keeps" not in page
    assert "cannot show this document" in page
    assert "key" not in page[page.index("<b>Refused.</b>") :][:300]
    seen = {"version": entry.version, "text_hash": "", "text": "x"}
    assert [client.post(f"/reviews/{entry.pk}/{act}/", seen).status_code for act in ("approve", "delete")] == [409] * 2
    assert client.post(f"/reviews/{entry.pk}/edit/", seen).status_code in {409, 422}
    assert not Write.objects.exists()


ANSWERS = {
    "fault": httpx.Response(500, json={"detail": "boom"}),
    "gateway": httpx.Response(502, html="<h1>Bad gateway</h1>"),
    "busy": httpx.Response(503, json={"detail": "later"}),
    "refused key": httpx.Response(401, json={"detail": "Invalid API key"}),
    "page of a proxy": httpx.Response(404, html="<h1>Document not found</h1>"),
    "other route": httpx.Response(404, json={"detail": "Not Found"}),
    "missing bank": httpx.Response(404, json={"detail": "Bank 'x' not found"}),
    "document while it is listed": httpx.Response(404, json={"detail": "Document not found"}),
    "conflict": httpx.Response(409, json={"detail": "busy"}),
    "not this API": httpx.Response(200, html="<h1>Welcome</h1>"),
    "nothing": httpx.Response(204),
}


class Refusing(httpx.BaseTransport):
    """A server that answers each delete with this, and deletes nothing."""

    def __init__(self, line: LyingTransport, answer: httpx.Response) -> None:
        self.line, self.answer = line, answer

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self.answer if request.method == "DELETE" else self.line.handle_request(request)


@pytest.mark.parametrize("name", ANSWERS)
def test_row_s04_only_a_yes_or_a_confirmed_absence_completes_a_delete(
    name: str, bank: Bank, people: People, line: LyingTransport
) -> None:
    entry = loaded(bank, "b")
    connections.TRANSPORTS[bank.server.base_url] = Refusing(line, ANSWERS[name])
    decide.delete(user=people.reviewer, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    work_off()
    connections.TRANSPORTS[bank.server.base_url] = line
    assert in_bank(bank, "b") is not None
    assert Write.objects.get(kind="delete").state == Write.State.ATTENTION
    entry.refresh_from_db()
    assert entry.state == "pending"


def test_row_s06_what_nobody_could_read_is_decided_by_nobody(bank: Bank, people: People, line: LyingTransport) -> None:
    """An odd id, a missing document, a missing bank, a server that fails: a month later all of them still wait."""
    nowhere = factories.make_bank("nowhere", server=bank.server)
    failing = factories.make_bank("failing")  # no transport: its server does not exist
    entries = [waiting(bank, ".."), waiting(bank, "never-stored"), waiting(nowhere, "x"), waiting(failing, "x")]
    for entry in entries:
        expiry.set_expiry(entry, age_from=timezone.now() - timedelta(days=30))
        entry.first_imported_at = timezone.now() - timedelta(days=30)
        entry.save()
    work_off(rounds=12)
    with time_machine.travel(timezone.now() + timedelta(days=30), tick=False):
        assert expiry.run().count == 0
    found = dict(ReviewEntry.objects.values_list("pk", "load_state"))
    assert [found[entry.pk] for entry in entries] == ["refused", "missing", "missing", "unreachable"]
    assert set(ReviewEntry.objects.values_list("state", "decided_via")) == {("pending", "")}
    assert all(ReviewEntry.objects.values_list("load_error", flat=True))
    assert not Decision.objects.exists()


def test_row_s09_what_the_card_cuts_the_form_has_whole(bank: Bank, people: People, as_user: Any) -> None:
    """And a base that was cut is never sent: saved without a change, nothing is."""
    text = "BEGIN " + "All of it is kept, every word of it. " * 8_000 + "MIDDLE " + "And of this. " * 20_000 + "END"
    entry = factories.make_entry(bank, text=text)
    client = as_user(people.reviewer)
    card = text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "MIDDLE" not in card
    assert "Show all" in card
    form = text_of(client.get(f"/reviews/{entry.pk}/edit/"))
    typed = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", form, re.DOTALL)
    assert typed is not None
    assert html.unescape(typed[1]) == text
    answer = client.post(f"/reviews/{entry.pk}/edit/", {**shown(entry), "text": html.unescape(typed[1])})
    assert "nothing was sent" in text_of(answer)
    assert not Write.objects.exists()


def test_row_s12_half_a_character_from_a_server_is_marked_and_stops_nothing(bank: Bank, line: LyingTransport) -> None:
    """No database stores a lone surrogate; a question mark in its place would be somebody's question."""
    store(bank, "b", "Half an emoji HERE.")

    def answer(request: httpx.Request) -> httpx.Response:
        found = line.handle_request(request)
        raw = found.read().replace(b"HERE", b"\\ud83d")
        return httpx.Response(found.status_code, content=raw, headers={"content-type": "application/json"})

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    entry = waiting(bank, "b")
    assert load.load(entry.pk) == "loaded"
    entry.refresh_from_db()
    assert entry.text is not None
    assert entry.text.text == "Half an emoji \ufffd."
    assert "\ufffd" in entry.preview


@pytest.mark.parametrize("text", ["\u200b\u200b\u2060", "\x00", "\ufeff \u00ad", " \r\n\t", "\u3164\u115f"], ids=ascii)
def test_row_s12_a_text_nobody_can_see_is_an_empty_one(text: str, bank: Bank, people: People, as_user: Any) -> None:
    entry = factories.make_entry(bank)
    answer = as_user(people.reviewer).post(f"/reviews/{entry.pk}/edit/", {**shown(entry), "text": text})
    assert answer.status_code == 422
    assert not Write.objects.exists()
