"""Banks, keys and configuration: what a server says is told as what it said, and reading changes nothing."""

import ast
import html
import json
import logging
import re
from typing import Any
from uuid import uuid4

import httpx
import pytest

from banks import connections
from banks.demo import DemoServer, DemoTransport, Pace
from banks.hindsight import RetainItem
from banks.models import Bank, Role, Server
from banks.numbers import look as numbers
from banks.services import probe
from reviews.models import ReviewEntry
from reviews.services import load
from tests import factories
from tests.banks.conftest import LyingTransport, store
from tests.conftest import People
from tests.known_failures.source import ROOT, product_files
from tests.known_failures.world import Wire, waiting, work_off
from tests.reviews.pages import text_of

pytestmark = pytest.mark.django_db
KEY = "sesame-open-4711"


def test_row_027_no_call_of_ours_clears_a_bank() -> None:
    """Whatever deletes, deletes one named thing; emptying a bank is no call of the client."""
    deleting = {
        function.name
        for path in (ROOT / "banks/hindsight").glob("*.py")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(node, ast.Constant) and node.value == "DELETE" for node in ast.walk(function))
    }
    named = {f"delete_{each}" for each in ("bank", "document", "directive", "webhook", "mental_model")}
    assert deleting == named | {"cancel_operation", "delete_operation"}


def test_row_031_counters_are_the_servers_and_unknown_is_not_zero(bank: Bank, people: People, as_user: Any) -> None:
    client = as_user(people.reviewer)
    for counted, said in (({}, "unknown"), ({"document_count": 0, "fact_count": 0, "retired_count": 0}, "0 retired")):
        Bank.objects.update(**counted)
        page = html.unescape(text_of(client.get("/")))
        row = page[page.index(bank.bank_id) :]
        assert said in row[: row.index("</tr>")]
        assert "empty" not in page.lower()  # entities may be left where no document is


@pytest.mark.parametrize(
    ("path", "frame", "button"),
    [
        ("/reviews/{entry}/", "<main", "/reviews/{entry}/delete/"),
        ("/log/", '<li class="entry', "/log/{write}/retry/"),
        ("/log/{write}/", "<main", "/log/{write}/retry/"),
        ("/", '<div class="notice"', "/log/{write}/retry/"),
    ],
)
def test_row_032_whoever_deletes_sees_the_banks_name_and_id_beside_the_button(
    path: str, frame: str, button: str, bank: Bank, people: People, as_user: Any
) -> None:
    """Two banks of one name: only the id tells which of them loses a document."""
    twin = factories.make_bank("checkout-service-eu", name=bank.name, server=bank.server)
    factories.grant(people.reviewer, twin, Role.REVIEWER)
    entry, client = factories.make_entry(twin, "notes/b.md"), as_user(people.reviewer)
    client.post(f"/reviews/{entry.pk}/delete/", {"version": entry.version, "text_hash": entry.text_id})
    twin.writes.update(state="attention", error_text="The server said no.")
    ReviewEntry.objects.update(state="pending")
    names = {"entry": entry.pk, "write": twin.writes.get(kind="delete").pk}
    page = text_of(client.get(path.format(**names)))
    pressed = page.index(f'formaction="{button.format(**names)}"')
    beside = page[page.rindex(frame, 0, pressed) : pressed]
    assert ">checkout-service-eu</code>" in beside
    assert bank.name in beside


def test_row_034_looking_creates_nothing(bank: Bank, people: People, line: LyingTransport, as_user: Any) -> None:
    """A bank that exists only in a queue file: probing, polling, loading and every page leave the server as it is."""
    typo = factories.make_bank("chekout-service", server=bank.server)
    entry = waiting(typo, "notes/a.md")
    numbers.look(bank.server_id)
    probe.probe(bank.server)
    work_off()
    for path in ("/", "/reviews/", f"/reviews/{entry.pk}/", "/log/", "/banks/"):
        as_user(people.operator).get(path)
    assert {method for method, _ in line.calls} == {"GET"}
    with connections.client_for(bank.server) as client:
        assert [row.bank_id for row in client.list_banks()] == [bank.bank_id]
    entry.refresh_from_db()
    assert (entry.state, entry.load_state) == ("pending", "missing")


def test_row_035_the_retired_profile_is_never_asked_for(wire: Wire) -> None:
    assert not [path for path, source in product_files() if re.search(r"[\"'/]profile\b", source)]
    server = factories.make_server(base_url=wire.url)
    with connections.client_for(server) as client:
        client.retain("b", [RetainItem("Ann keeps the ledger.", "d")], operation_id=uuid4())
    probe.probe(server)
    entry = waiting(Bank.objects.get(), "d")
    work_off()
    entry.refresh_from_db()
    assert entry.load_state == "loaded"
    assert not [raw for _, raw in wire.lines if "profile" in raw]


@pytest.mark.parametrize("status", [404, 410])
def test_row_035_a_retired_endpoint_is_no_unreachable_server(status: int, bank: Bank) -> None:
    demo = DemoTransport(DemoServer(None, pace=Pace.instant()))

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path in {"/health", "/version"}:
            return httpx.Response(status, json={"detail": "Gone"})
        return demo.handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    try:
        store(bank, "d", "Ann keeps the ledger.")
        told = probe.probe(bank.server)
        numbers.look(bank.server_id)
    finally:
        del connections.TRANSPORTS[bank.server.base_url]
    bank.refresh_from_db()
    assert (told.health, bank.server.health) == (Server.Health.OK, Server.Health.OK)
    assert (bank.document_count, bank.gone_since) == (1, None)


def test_row_039_a_refused_key_is_not_an_empty_list_of_banks(
    bank: Bank, people: People, as_user: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = bank.server
    server.name, server.api_key = "Memory of the house", KEY
    server.save()
    connections.TRANSPORTS[server.base_url] = DemoTransport(DemoServer(None, api_key="another"))
    try:
        entry = waiting(bank, "notes/a.md")
        with caplog.at_level(logging.DEBUG):
            load.load(entry.pk)
            told = probe.probe(server)
    finally:
        del connections.TRANSPORTS[server.base_url]
    entry.refresh_from_db()
    bank.refresh_from_db()
    assert (told.health, told.banks, bank.gone_since) == (Server.Health.REFUSED, None, None)
    assert (entry.state, entry.load_state) == ("pending", "refused")
    client = as_user(people.operator)
    pages = [text_of(client.get(path)) for path in ("/", "/reviews/", f"/reviews/{entry.pk}/", "/readyz")]
    assert "Memory of the house</bdi> key refused" in re.sub(r"\s+", " ", pages[0])
    assert bank.bank_id in pages[0]
    assert "The server refused our key." in pages[2]
    said = "".join([*pages, caplog.text, entry.load_error, server.health_text, repr(told)])
    assert KEY not in said
    assert KEY not in json.dumps(list(Server.objects.values_list("api_key_encrypted", flat=True)))
