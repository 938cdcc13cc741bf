"""A dry run: asked by a worker, never where there is no bank, and nothing is stored by it."""

import json
from typing import Any

import httpx
import pytest

from banks import connections, jobs
from banks.models import Bank, Job, RetainItem, Write
from banks.services import dry_runs
from tests.banks.admin_pages import SignIn
from tests.banks.conftest import LyingTransport
from tests.banks.retain_form import NEW, TRY, filled, typed
from tests.banks.retaining import in_bank
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def ask(as_user: SignIn, people: People, bank: Bank, *memories: str | dict[str, Any]) -> tuple[Any, str]:
    """(the client, the page that follows)"""
    client = as_user(people.reviewer)
    return client, text_of(client.post(TRY, filled(bank, *memories)))


class Answering(httpx.BaseTransport):
    """A server that answers every dry run the same."""

    def __init__(self, line: LyingTransport, status: int, body: dict[str, Any]) -> None:
        self.line, self.status, self.body = line, status, body
        self.asked: list[bytes] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/dry-run-extract"):
            return self.line.handle_request(request)
        self.asked.append(request.read())
        return httpx.Response(self.status, json=self.body)


def test_it_shows_the_facts_and_stores_nothing(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport
) -> None:
    client, page = ask(as_user, people, bank, "Ann moved to Lyon. Ben stayed.", "[[NOFACTS]] ok")
    assert "<b>0</b> of 2 memories tried" in page
    assert line.calls == []  # the page itself asks no server
    job = Job.objects.get(kind=dry_runs.KIND)
    assert f'hx-get="/retain/tried/{job.pk}/"' in page
    assert jobs.run(job.pk) == "done"
    answer = client.get(f"/retain/tried/{job.pk}/", headers=HTMX)
    assert answer.status_code == 286
    for part in ("Memory 1: 2 facts from 1 piece of text", "Ann moved to Lyon.", "Memory 2: 0 facts", "No facts."):
        assert part in text_of(answer)
    assert [path for method, path in line.calls if method == "POST"] == [
        "/v1/default/banks/checkout-service/memories/dry-run-extract"
    ] * 2
    assert (list(in_bank(bank)), RetainItem.objects.exists(), Write.objects.exists()) == (["notes/a.md"], False, False)


def test_without_a_script_the_form_looks_again_and_keeps_what_was_typed(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport
) -> None:
    client = as_user(people.reviewer)
    asked = filled(bank, {"content": "Ann came.", "strategy": "careful"})
    page = text_of(client.post(TRY, asked))
    again = {**asked, "dry_run": typed(page)["dry_run"], "do": "look"}
    jobs.run(Job.objects.get(kind=dry_runs.KIND).pk)
    page = text_of(client.post(NEW, again))
    assert "Memory 1: 1 fact" in page
    assert (typed(page)["m0-strategy"], typed(page)["form"]) == ("careful", asked["form"])


def test_the_same_one_is_asked_for_once(bank: Bank, people: People, as_user: SignIn, line: LyingTransport) -> None:
    client, asked = as_user(people.reviewer), filled(bank, "Ann came.")
    client.post(TRY, asked)
    client.post(TRY, asked)
    assert Job.objects.filter(kind=dry_runs.KIND).count() == 1


def test_a_bank_that_is_gone_is_not_asked(bank: Bank, people: People, as_user: SignIn, line: LyingTransport) -> None:
    ask(as_user, people, bank, "Ann came.")
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    line.calls.clear()
    job = Job.objects.get(kind=dry_runs.KIND)
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    bank.refresh_from_db()
    assert (job.error, bank.gone_since is not None, line.sent("POST")) == (dry_runs.NO_BANK, True, 0)


@pytest.mark.parametrize(
    ("status", "detail"), [(404, "Not Found"), (404, "Dry-run extraction is disabled."), (405, "Method Not Allowed")]
)
def test_a_server_without_it_is_said_plainly(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport, status: int, detail: str
) -> None:
    connections.TRANSPORTS[bank.server.base_url] = Answering(line, status, {"detail": detail})
    client, _ = ask(as_user, people, bank, "Ann came.")
    job = Job.objects.get(kind=dry_runs.KIND)
    assert jobs.run(job.pk) == "failed"
    page = text_of(client.get(f"/retain/tried/{job.pk}/"))
    assert f"This server offers no dry run. Nothing was stored. It said: {detail}" in page


def test_one_that_fails_costs_itself_alone(bank: Bank, people: People, as_user: SignIn, line: LyingTransport) -> None:
    client, _ = ask(as_user, people, bank, "[[FAIL]]", "Ann came.")
    job = Job.objects.get(kind=dry_runs.KIND)
    assert jobs.run(job.pk) == "done"
    page = text_of(client.get(f"/retain/tried/{job.pk}/"))
    assert "The server draws nothing from it: Fact extraction failed" in page
    assert "Memory 2: 1 fact" in page


def test_what_plays_a_part_is_sent_and_hostile_answers_stay_text(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport
) -> None:
    fact = {"text": XSS, "fact_type": XSS, "entities": [XSS], "occurred_start": XSS}
    told = Answering(line, 200, {"facts": [fact] * 300, "chunks": [], "usage": {}})
    connections.TRANSPORTS[bank.server.base_url] = told
    given = {"content": "x", "context": "a talk", "timestamp": "unset", "strategy": "careful", "tags": "t"}
    client, _ = ask(as_user, people, bank, given)
    job = Job.objects.get(kind=dry_runs.KIND)
    assert jobs.run(job.pk) == "done"
    assert json.loads(told.asked[0]) == {"content": "x", "context": "a talk", "strategy": "careful"}
    page = text_of(client.get(f"/retain/tried/{job.pk}/"))
    assert_harmless(page)
    assert "And 100 more." in page


def test_who_may_not_retain_asks_nothing(bank: Bank, people: People, as_user: SignIn) -> None:
    for who, status in ((people.viewer, 403), (people.stranger, 404)):
        assert as_user(who).post(TRY, filled(bank, "x")).status_code == status
    assert not Job.objects.exists()


def test_somebody_elses_is_not_shown(bank: Bank, people: People, as_user: SignIn) -> None:
    ask(as_user, people, bank, "A secret.")
    job = Job.objects.get(kind=dry_runs.KIND)
    client = as_user(people.owner)
    assert client.get(f"/retain/tried/{job.pk}/").status_code == 404
    assert f"/retain/tried/{job.pk}/" not in text_of(client.post(NEW, filled(bank, "x", dry_run=job.pk)))
