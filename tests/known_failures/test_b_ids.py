"""Ids as hostile data: one builder, one encoding, and nothing reached but what was named."""

import inspect
import re
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import pytest

from banks import connections
from banks.hindsight import HindsightClient, NotAddressable, NotFound, RetainItem, is_addressable
from banks.models import Bank, Write
from reviews.models import ReviewEntry
from reviews.services import decide
from tests import factories
from tests.banks.conftest import LyingTransport, store
from tests.conftest import People
from tests.known_failures.source import product_files
from tests.known_failures.world import (
    DOCUMENT_IDS,
    UNADDRESSABLE,
    Wire,
    in_bank,
    loaded,
    short,
    waiting,
    work_off,
)
from tests.reviews.pages import shown

State, Load = ReviewEntry.State, ReviewEntry.Load
BANK = "agent-1::channel-2"


def retain(client: HindsightClient, document_id: str) -> object:
    return client.retain(BANK, [RetainItem("Ann keeps the ledger.", document_id)], operation_id=uuid.uuid4())


# Every call that takes a document id, in an order in which each of them can succeed.
CALLS: dict[str, Callable[[HindsightClient, str], object]] = {
    "retain": retain,
    "get_document": lambda client, document_id: client.get_document(BANK, document_id),
    "find_document": lambda client, document_id: client.find_document(BANK, document_id),
    "list_facts": lambda client, document_id: client.list_facts(BANK, document_id=document_id),
    "list_chunks": lambda client, document_id: client.list_chunks(BANK, document_id),
    "document_history": lambda client, document_id: client.document_history(BANK, document_id),
    "reprocess_document": lambda client, document_id: client.reprocess_document(BANK, document_id),
    "set_document_tags": lambda client, document_id: client.set_document_tags(BANK, document_id, ["t"]),
    "delete_document": lambda client, document_id: client.delete_document(BANK, document_id),
}


def test_row_022_every_call_that_names_a_document_is_driven_here() -> None:
    methods = inspect.getmembers(HindsightClient, inspect.isfunction)
    naming = {name for name, call in methods if {"document_id", "items"} & set(inspect.signature(call).parameters)}
    assert naming == set(CALLS)


def test_row_022_paths_of_the_api_are_built_in_one_module() -> None:
    builders = [
        path.as_posix()
        for path, source in product_files()
        if not {"demo", "api"} & set(path.parts) and re.search(r"/v1/|urllib\.parse import .*\bquote\b", source)
    ]
    # Our own API has addresses of its own; the settings quote the name of a database file, the broker's socket that of
    # a folder.
    assert set(builders) - {"memadmin/settings.py", "memadmin/runtime.py"} == {"banks/hindsight/ids.py"}


@pytest.mark.parametrize("document_id", DOCUMENT_IDS, ids=short)
def test_row_024_the_server_decodes_the_id_byte_for_byte(document_id: str, wire: Wire) -> None:
    with HindsightClient(wire.url) as client:
        for call in CALLS.values():
            call(client, document_id)
    assert [method for method, _ in wire.lines] == ["POST", *["GET"] * 5, "POST", "PATCH", "DELETE"]
    named = ["", "v1", "default", "banks", BANK, "documents", document_id]
    assert [wire.segments[position] for position in (1, 7, 8)] == [named] * 3
    for position, what in ((4, "chunks"), (5, "history"), (6, "reprocess")):
        assert wire.segments[position] == [*named, what]
    assert wire.segments[0] == ["", "v1", "default", "banks", BANK, "memories"]  # there the id is in the body
    assert (wire.queries[2]["q"], wire.queries[3]["document_id"]) == ([document_id], [document_id])
    assert all(raw.isascii() for _, raw in wire.lines)


@pytest.mark.parametrize("document_id", UNADDRESSABLE, ids=short)
def test_row_s01_ids_that_would_climb_are_refused_before_anything_is_sent(document_id: str, wire: Wire) -> None:
    with HindsightClient(wire.url) as client:
        for name, call in CALLS.items():
            if name == "list_facts" and not document_id:
                continue  # no document is named: that lists the bank
            with pytest.raises(NotAddressable):
                call(client, document_id)
    assert wire.lines == []


@pytest.mark.django_db
@pytest.mark.parametrize("document_id", ["..", ".", ""], ids=short)
def test_row_s01_a_decision_on_such_an_id_never_reaches_the_bank(
    document_id: str, bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    """As if a fault of ours had let it be loaded and decided: the last wall is the address itself."""
    entry = factories.make_entry(bank)
    entry.document_id, entry.document_hash = document_id, Write.hash_of(document_id)
    entry.save()
    as_user(people.reviewer).post(f"/reviews/{entry.pk}/delete/", shown(entry))
    work_off()
    assert Write.objects.get(kind="delete").state == Write.State.ATTENTION
    assert line.calls == []
    assert in_bank(bank, "notes/a.md") is not None
    entry.refresh_from_db()
    assert entry.state == State.PENDING


@pytest.mark.django_db
@pytest.mark.parametrize("document_id", DOCUMENT_IDS, ids=short)
def test_row_021_a_memory_is_edited_deleted_and_put_back_and_its_neighbours_stay(
    document_id: str, bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    client, entry = as_user(people.reviewer), loaded(bank, document_id)
    twins = {quote(document_id, safe=""), unquote(document_id), f"{document_id}x"} - {document_id}
    neighbours = {twin for twin in twins if is_addressable(bank.bank_id, twin)}
    for neighbour in neighbours:
        store(bank, neighbour, f"A neighbour called {ascii(neighbour)[:60]}.")
    before = {neighbour: in_bank(bank, neighbour) for neighbour in neighbours}

    client.post(f"/reviews/{entry.pk}/edit/", {**shown(entry), "text": "Ben keeps the ledger now."})
    work_off()
    assert in_bank(bank, document_id) == "Ben keeps the ledger now."
    entry.refresh_from_db()
    client.post(f"/reviews/{entry.pk}/delete/", shown(entry))
    work_off()
    assert in_bank(bank, document_id) is None
    client.post(f"/log/{Write.objects.get(kind='delete').pk}/put-back/")
    work_off()
    assert in_bank(bank, document_id) == "Ben keeps the ledger now."
    assert set(Write.objects.values_list("state", flat=True)) == {"done"}
    assert {neighbour: in_bank(bank, neighbour) for neighbour in neighbours} == before


@pytest.mark.django_db
def test_row_021_a_document_that_is_listed_and_not_found_is_not_called_missing(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    """A line end in an id meets no route of the server, which says 404 while its list has the document."""
    store(bank, "a\nb", "Newlines are odd.")
    entry = waiting(bank, "a\nb")
    work_off()
    entry.refresh_from_db()
    assert (entry.state, entry.load_state) == (State.PENDING, Load.REFUSED)
    assert "lists this document but does not find it" in entry.load_error
    with pytest.raises(NotFound), connections.client_for(bank.server) as client:
        client.get_document(bank.bank_id, "a\nb")


@pytest.mark.django_db
def test_row_021_a_delete_of_what_is_listed_and_not_found_is_never_already_gone(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    store(bank, "a\nb", "Newlines are odd.")
    entry = factories.make_entry(bank, "a\nb")
    decide.delete(user=people.reviewer, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    work_off()
    write = Write.objects.get(kind="delete")
    assert write.state == Write.State.ATTENTION
    assert "not addressable on this server" in write.error_text
    entry.refresh_from_db()
    assert entry.state == State.PENDING
