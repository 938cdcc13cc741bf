"""Mental models of a bank on pages: light lists, honest states, text that stays text, acts that say what they do."""

import re
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from django.test import Client

from banks import connections, jobs
from banks.mental import trials
from banks.models import Bank, Job, ModelPin, Server, Write
from tests.banks.admin_pages import SignIn, text_after, url
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import AUTOMATIC, make_model, models_in, work
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, Reader, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def address(view: str, bank: Bank, **query: str) -> str:
    return f"{url(f'bank-model-{view}', bank.pk)}?{urlencode(query)}"


def part(client: Client, view: str, bank: Bank, **query: str) -> str:
    return text_of(client.get(address(view, bank, **query), headers=HTMX))


def form_of(page: str, action: str) -> dict[str, str]:
    """What the hidden fields of the form that goes there say."""
    found = re.search(rf'<form[^>]*action="{re.escape(action)}".*?</form>', page, re.DOTALL)
    assert found is not None, action
    inputs = [given for tag, given in Reader(found[0]).elements if tag == "input"]
    return {str(given["name"]): str(given.get("value")) for given in inputs if given["name"] != "csrfmiddlewaretoken"}


def confirm(client: Client, view: str, bank: Bank, **query: str) -> Any:
    """Looks at the page that says what would happen, and confirms it."""
    page = text_of(client.get(address(view, bank, **query)))
    return client.post(url(f"bank-model-{view}", bank.pk), form_of(page, url(f"bank-model-{view}", bank.pk)))


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


def test_history_shows_what_each_change_did_and_offers_earlier_texts(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    first = make_model(bank)
    store(bank, "notes/b.md", "Cleo audits the ledger.")
    client = as_user(people.owner)
    assert confirm(client, "refresh", bank, model="m1").status_code == 303
    work(bank)
    page = text_of(client.get(address("history", bank, model="m1")))
    assert "Cleo audits the ledger." in page
    assert "the first text" in page
    version = re.search(r"version=([0-9a-f]{64})", page)
    assert version is not None
    said = text_of(client.get(address("pin", bank, model="m1", version=version[1])))
    assert "Servers take no text of a model" in said
    assert confirm(client, "pin", bank, model="m1", version=version[1]).status_code == 303
    work(bank)
    assert ModelPin.objects.get().text.text == first.content
    shown = part(client, "detail", bank, model="m1")
    assert "Pinned by" in shown
    assert "The bank has another text" in shown


def test_row_049_a_refresh_is_one_model_said_and_confirmed(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    for model_id in ("m1", "m2"):
        make_model(bank, model_id)
    client = as_user(people.reviewer)
    page = text_of(client.get(address("refresh", bank, model="m1")))
    assert "asks its language model, which costs" in page
    assert not Write.objects.exists()
    assert "It is being done" in text_after(client, confirm(client, "refresh", bank, model="m1"))
    assert [write.params["model"] for write in Write.objects.all()] == ["m1"]
    assert confirm(client, "refresh", bank, model="m1").status_code == 422  # it is under way


def test_refreshing_many_is_counted_and_confirmed(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    for model_id in ("a", "b"):
        make_model(bank, model_id, trigger=AUTOMATIC)
    make_model(bank, "curated")
    client = as_user(people.reviewer)
    here = url("bank-model-refresh-all", bank.pk)
    page = text_of(client.get(here))
    assert "Refresh 2 models" in page
    assert "curated" not in page
    assert client.post(here, {"total": "3"}).status_code == 409
    assert client.post(here, {"total": "2"}).status_code == 303
    assert Write.objects.filter(kind="model-refresh").count() == 2
    assert client.post(here, {"total": "2"}).status_code == 409  # a second click


def test_a_delete_says_what_goes_and_its_row_puts_it_back(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    client = as_user(people.owner)
    assert "The server forgets the model" in text_of(client.get(address("delete", bank, model="m1")))
    assert confirm(client, "delete", bank, model="m1").status_code == 303
    work(bank)
    assert models_in(bank) == {}
    row = Write.objects.get(kind="model-delete")
    assert "Put the model back" in text_of(client.get(url("write-detail", row.pk)))
    text_after(client, client.post(url("write-put-model-back", row.pk)))
    work(bank)
    assert set(models_in(bank)) == {"m1"}


def test_what_changed_on_the_way_is_not_deleted(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    client = as_user(people.owner)
    answer = client.post(url("bank-model-delete", bank.pk), {"model": "m1", "seen": "0" * 64})
    assert (answer.status_code, "not what it was on screen" in text_of(answer)) == (409, True)
    assert not Write.objects.exists()


def test_who_may_what(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    make_model(bank)
    acts = {
        people.viewer: {"refresh": 403, "refresh-all": 403, "try": 403, "delete": 403, "pin": 403, "unpin": 403},
        people.reviewer: {"delete": 403, "pin": 403, "unpin": 403},
        people.stranger: dict.fromkeys(("refresh", "refresh-all", "try", "delete", "pin", "unpin"), 404),
    }
    for person, expected in acts.items():
        for act, status in expected.items():
            assert as_user(person).post(url(f"bank-model-{act}", bank.pk), {"model": "m1"}).status_code == status
    assert as_user(people.stranger).get(address("list", bank)).status_code == 404
    assert "Delete…" not in part(as_user(people.reviewer), "detail", bank, model="m1")
    assert not Write.objects.exists()
    assert not Job.objects.exists()


def test_a_try_is_work_for_a_worker_and_changes_nothing(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    before = make_model(bank)
    store(bank, "notes/b.md", "Cleo audits the ledger.")
    line.calls.clear()
    client = as_user(people.reviewer)
    answer = client.post(url("bank-model-try", bank.pk), {"model": "m1"})
    assert "Waiting for a worker" in text_after(client, answer)
    assert line.calls == []
    assert client.post(url("bank-model-try", bank.pk), {"model": "m1"})["Location"] == answer["Location"]
    assert jobs.run(Job.objects.get(kind=trials.KIND).pk) == "done"
    told = client.get(answer["Location"], headers=HTMX)
    assert told.status_code == 286
    assert "A refresh would change the text." in text_of(told)
    assert "Cleo audits the ledger." in text_of(told)
    assert models_in(bank)["m1"].content == before.content


def test_a_server_without_dry_runs_says_so(bank: Bank, line: LyingTransport, people: People) -> None:
    class Older(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/dry-run-refresh"):
                return httpx.Response(404, json={"detail": "Not Found"})
            return line.handle_request(request)

    make_model(bank)
    connections.TRANSPORTS[bank.server.base_url] = Older()
    job = trials.start(user=people.reviewer, bank=bank, model_id="m1")
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert job.error == trials.NOT_OFFERED


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
