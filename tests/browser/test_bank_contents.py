"""What is in a bank, its directives, and the bank as a file, in a browser: for everybody, and on a phone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from playwright.sync_api import expect

from banks import connections, jobs
from banks.demo import DemoServer, Pace
from banks.models import Bank, Job, RetainItem, Role
from memadmin.accounts.models import User
from tests import factories
from tests.banks.conftest import LyingTransport, store
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.test_access import problems

NAME = "a-very-long-name-of-a-document/" * 6


@pytest.fixture
def served(reviewer: User, settings: LazySettings, tmp_path: Path) -> Iterator[Bank]:
    """A bank on a demo server, run by the reviewer."""
    settings.MEDIA_ROOT = tmp_path
    bank = factories.make_bank("checkout-service", name="Checkout service", server=factories.make_server(health="ok"))
    factories.grant(reviewer, bank, Role.ADMIN)
    factories.grant(reviewer, bank.server, Role.ADMIN)
    demo = DemoServer(None, pace=Pace.instant())
    connections.TRANSPORTS[bank.server.base_url] = LyingTransport(demo)
    store(bank, "notes/a.md", "Ann keeps the ledger. Ben reads it.", tags=["team:core", "ledger"], context="notes")
    store(bank, NAME, "Ann plays chess. " * 40, tags=["x" * 80])
    with connections.client_for(bank.server) as client:
        fact = client.list_facts(bank.bank_id, document_id="notes/a.md").items[0]
        client.patch_fact(bank.bank_id, fact.id, state="invalidated", reason="she left")
        client.create_directive(bank.bank_id, {"name": "Dates", "content": "Say dates. " * 30, "tags": ["incident"]})
    yield bank
    del connections.TRANSPORTS[bank.server.base_url]
    demo.close()


def entity_of(bank: Bank) -> str:
    with connections.client_for(bank.server) as client:
        return client.list_entities(bank.bank_id).items[0].id


@pytest.mark.looks
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_of_a_bank_shuts_anybody_out(
    served: Bank, reviewer: User, signed_in: Open, viewport: dict[str, int]
) -> None:
    entity = entity_of(served)
    document = "documents/document/?document=notes/a.md&now=1"
    paths = ["documents/?now=1", document, *[f"{document}&view={view}" for view in ("chunks", "facts", "history")]]
    paths += ["entities/?now=1", f"entities/entity/?entity={entity}&now=1", f"facts/?entity={entity}&now=1"]
    paths += ["facts/?state=invalidated&now=1", "facts/?tag=none&since=2026-02-02&until=2026-02-01&now=1"]
    paths += ["directives/?now=1", "directives/add/", "export/", "import/", "clone/"]
    page = signed_in(reviewer, f"/banks/{served.pk}/documents/", viewport=viewport)
    expect(page.get_by_role("heading", name="2 documents")).to_be_visible()
    base, found = page.url.removesuffix("documents/"), {}
    for path in paths:
        page.goto(base + path)
        if said := problems(page):
            found[path] = said
    assert found == {}


def test_a_bank_goes_out_as_a_file_and_its_documents_come_back(
    served: Bank, reviewer: User, signed_in: Open, tmp_path: Path
) -> None:
    page = signed_in(reviewer, f"/banks/{served.pk}/export/", accept_downloads=True)
    page.get_by_role("button", name="Export this bank").click()
    expect(page.get_by_text("You may leave this page; it goes on.")).to_be_visible()
    jobs.run(Job.objects.get().pk)
    link = page.get_by_role("link", name="Download the file")
    expect(link).to_be_visible()  # the page has asked again by itself
    with page.expect_download() as download:
        link.click()
    rows = [json.loads(text) for text in download.value.path().read_text().splitlines()]
    rows[1]["document"]["id"] = "another"
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    page.get_by_role("link", name="Import documents of an export").click()
    page.get_by_label("File").set_input_files(tmp_path / "x.jsonl")
    page.get_by_role("button", name="Show what it would do").click()
    expect(page.get_by_text("looked at")).to_be_visible()
    jobs.run(Job.objects.latest("pk").pk)
    expect(page.get_by_role("link", name="1 here with the same text")).to_be_visible()
    assert problems(page) == []
    page.get_by_role("button", name="Bring 1 new document").click()
    expect(page.get_by_text("documents queued")).to_be_visible()
    jobs.run(Job.objects.latest("pk").pk)
    expect(page.get_by_text("1 document was queued.")).to_be_visible()
    assert [item.document_id for item in RetainItem.objects.all()] == ["another"]
