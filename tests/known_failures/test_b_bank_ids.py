"""Bank ids are one path segment, shown raw and never decoded."""

import inspect
import io
import uuid
from typing import Any

import pytest

from banks import connections
from banks.hindsight import DryRun, HindsightClient, NotAddressable, RetainFile, RetainItem, is_addressable
from banks.models import Bank, Write
from banks.numbers import look as numbers
from banks.services import probe
from reviews.models import ReviewEntry
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.known_failures.world import BANK_IDS, BANKS_REFUSED, Wire, in_bank, loaded, short, waiting, work_off
from tests.reviews.pages import assert_harmless, shown, text_of

State, Load = ReviewEntry.State, ReviewEntry.Load


@pytest.mark.django_db
@pytest.mark.parametrize("bank_id", BANK_IDS, ids=short)
def test_row_025_a_bank_is_listed_counted_chosen_and_decided_in(
    bank_id: str, bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    with connections.client_for(bank.server) as client:
        client.put_bank(bank_id, name="Nasty")
    probe.probe(bank.server)
    nasty = Bank.objects.get(bank_hash=Bank.hash_of(bank_id))
    entry = loaded(nasty, "notes/a.md", "Only here.")
    numbers.look(bank.server_id)
    nasty.refresh_from_db()
    assert (nasty.bank_id, nasty.document_count) == (bank_id, 1)
    browser = as_user(people.operator)
    assert "Only here." in text_of(browser.get(f"/reviews/?bank={nasty.pk}"))
    assert_harmless(text_of(browser.get("/")))
    browser.post(f"/reviews/{entry.pk}/delete/", shown(entry))
    work_off()
    assert Write.objects.get(kind="delete").state == "done"
    assert in_bank(nasty, "notes/a.md") is None
    assert in_bank(bank, "notes/a.md") is not None


@pytest.mark.django_db
def test_row_026_an_encoded_name_and_its_plain_twin_are_two_banks(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    for bank_id in ("team%20x", "team x"):
        with connections.client_for(bank.server) as client:
            client.put_bank(bank_id)
    probe.probe(bank.server)
    encoded, plain = (Bank.objects.get(bank_id=bank_id) for bank_id in ("team%20x", "team x"))
    mine, other = loaded(encoded, "a"), loaded(plain, "a")
    client = as_user(people.operator)
    client.post(f"/reviews/{mine.pk}/delete/", shown(mine))
    work_off()
    assert (in_bank(encoded, "a"), in_bank(plain, "a")) == (None, other.text.text)  # type: ignore[union-attr]
    page = text_of(client.get("/"))
    assert "team%20x" in page
    assert "team x" in page


@pytest.mark.parametrize("bank_id", BANKS_REFUSED, ids=short)
def test_row_s02_a_bank_id_that_is_no_segment_is_refused_by_every_call(bank_id: str, wire: Wire) -> None:
    assert not is_addressable(bank_id)
    given: dict[str, Any] = {
        "document_id": "d",
        "fact_id": "f",
        "operation_id": uuid.uuid4(),
        "tags": [],
        "state": "valid",
        "items": [RetainItem("Text.", "d")],
        "files": [RetainFile("a.txt", io.BytesIO(b"Text."), "d")],
        "updates": {},
        "observation_id": "f",
        "entity_id": "e",
        "directive_id": "d",
        "values": {},
        "changes": {},
        "asked": DryRun("Text."),
        "name": "Another",
        "target_id": "t",
        "config": True,
        "url": "https://example.com/",
        "secret": "s",
        "events": [],
        "webhook_id": "w",
        "model_id": "m",
        "source_query": "What?",
        "most": 1,
    }
    with HindsightClient(wire.url) as client:
        for name, call in inspect.getmembers(client, inspect.ismethod):
            wanted = inspect.signature(call).parameters
            if "bank_id" in wanted and not name.startswith("_"):
                with pytest.raises(NotAddressable):
                    call(bank_id, **{key: value for key, value in given.items() if key in wanted})
    assert wire.lines == []


@pytest.mark.django_db
def test_row_s02_a_listed_bank_with_a_slash_is_shown_and_left_alone(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    slashed = factories.make_bank("x/documents/y", server=bank.server)
    entry = waiting(slashed, "notes/a.md")
    work_off()
    entry.refresh_from_db()
    assert (entry.state, entry.load_state) == (State.PENDING, Load.REFUSED)
    client = as_user(people.operator)
    seen = {"version": entry.version, "text_hash": ""}
    assert client.post(f"/reviews/{entry.pk}/delete/", seen).status_code == 409
    assert "No server can address this id" in text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "cannot be addressed" in text_of(client.get("/banks/"))
    assert "x/documents/y" in text_of(client.get("/"))
    assert line.calls == []
