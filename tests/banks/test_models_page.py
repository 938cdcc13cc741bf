"""Mental models of a bank on pages: light lists, honest states, and text that stays text."""

import re

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from banks import connections
from banks.models import Bank, Server, Write
from tests.banks.admin_pages import SignIn, url
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import make_model
from tests.banks.models_page import address, part
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_page_asks_for_its_list_and_works_without_a_script(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank, name="What we know", tags=["team:core"])
    line.calls.clear()
    client = as_user(people.viewer)
    page = text_of(client.get(address("list", bank)))
    assert line.calls == []
    assert "now=1" in page
    for whole in (text_of(client.get(address("list", bank, now="1"))), part(client, "list", bank)):
        assert "1 mental model" in whole
        assert "What we know" in whole
        assert "team:core" in whole
        assert "up to date" in whole


def test_row_048_a_list_asks_for_no_texts_and_no_evidence(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    line.calls.clear()
    part(as_user(people.viewer), "list", bank)
    (asked,) = [path for _, path in line.calls if "/mental-models" in path]
    assert "detail=metadata" in asked
    line.calls.clear()
    part(as_user(people.viewer), "detail", bank, model="m1")
    (asked,) = [path for _, path in line.calls if "/mental-models" in path]
    assert "detail=content" in asked


def test_row_046_while_the_text_is_written_it_is_generating_and_no_placeholder_is_shown(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)

    class Writing(httpx.BaseTransport):
        """As servers before 1.1 are while they write."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/mental-models/m1"):
                row = {"id": "m1", "name": "What we know", "content": "Generating content...", "tags": []}
                return httpx.Response(200, json=row)
            if request.url.path.endswith("/operations"):
                row = {"id": "o", "task_type": "refresh_mental_model", "status": "processing", "mental_model_id": "m1"}
                return httpx.Response(200, json={"operations": [row], "total": 1})
            return line.handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = Writing()
    client = as_user(people.owner)
    for page in (part(client, "detail", bank, model="m1"), part(client, "list", bank)):
        assert "generating" in page
        assert "Generating content" not in page
    assert "pin/" not in part(client, "detail", bank, model="m1")


def test_row_047_evidence_is_counted_and_none_is_marked(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    make_model(bank, "empty", source_query="Zebras?")
    client = as_user(people.viewer)
    told = part(client, "evidence", bank, model="m1")
    assert "Rests on" in told
    assert "Ann keeps the ledger." in told
    assert "no evidence" not in told
    assert "no evidence" in part(client, "evidence", bank, model="empty")


def test_a_long_list_takes_no_more_queries_and_calls_than_a_short_one(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client, counted = as_user(people.owner), []
    for many in (1, 12):
        for number in range(many):
            make_model(bank, f"m-{many}-{number}")
        part(client, "list", bank)
        line.calls.clear()
        with CaptureQueriesContext(connection) as queries:
            part(client, "list", bank)
        counted.append((len(queries), len(line.calls)))
    assert counted[0] == counted[1]


def test_a_stale_model_and_a_failed_one_are_called_so(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    store(bank, "notes/b.md", "Cleo audits the ledger.")
    assert "stale" in part(as_user(people.viewer), "list", bank)

    class Failed(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if not request.url.path.endswith("/mental-models"):
                return line.handle_request(request)
            row = {"id": "m1", "name": "M", "last_refreshed_at": "2026-03-01T10:00:00Z", "is_stale": True}
            row["last_refresh_failed_at"] = "2026-03-02T10:00:00Z"
            return httpx.Response(200, json={"items": [row], "total": 1})

    connections.TRANSPORTS[bank.server.base_url] = Failed()
    assert "refresh failed" in part(as_user(people.viewer), "list", bank)


def test_a_text_is_text_and_with_headings_only_when_asked(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    client = as_user(people.viewer)
    assert "## Summary" in part(client, "detail", bank, model="m1")
    as_page = part(client, "detail", bank, model="m1", **{"as": "page"})
    assert "## Summary" not in as_page
    assert re.search(r"<h3[^>]*>Summary</h3>", as_page)


def test_foreign_text_stays_text_everywhere(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    store(bank, "notes/x.md", f"The ledger says {XSS} and more.")
    make_model(bank, name=XSS, source_query=f"ledger {XSS}", tags=[])
    client = as_user(people.owner)
    for view in ("list", "detail", "evidence", "history", "refresh", "delete", "pin"):
        for page in (
            text_of(client.get(address(view, bank, model="m1", now="1"))),
            part(client, view, bank, model="m1"),
        ):
            assert_harmless(page)
    assert_harmless(part(client, "detail", bank, model="m1", **{"as": "page"}))


@pytest.mark.parametrize("model_id", ["", "..", "a/b", "never-made", "\u202e<img src=x>"])
def test_ids_that_name_nothing_are_said_to_and_reach_nothing_else(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn, model_id: str
) -> None:
    client = as_user(people.owner)
    for view in ("detail", "evidence", "history", "refresh", "delete", "pin"):
        assert_harmless(part(client, view, bank, model=model_id))
    client.post(url("bank-model-delete", bank.pk), {"model": model_id, "seen": "x"})
    assert {method for method, _ in line.calls} <= {"GET"}
    assert not Write.objects.exists()


def test_a_server_that_does_not_answer_leaves_everything_unknown(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    Server.objects.filter(pk=bank.server.pk).update(health=Server.Health.REFUSED)
    client = as_user(people.owner)
    page = part(client, "list", bank)
    assert "Nothing is known of the mental models just now" in page
    assert "No mental models" not in page
    for view in ("detail", "evidence", "history", "refresh-all"):
        assert "could not be read" in (said := part(client, view, bank, model="m1")) or "unknown" in said
    assert line.calls == []
