"""The recall desk: asked by a worker, shown with the block, and its hits are acted on as facts anywhere."""

import re
from typing import Any

import httpx
import pytest
from django.test import Client

from banks import connections, jobs
from banks.fact_kinds import seen_hash
from banks.models import Bank, Job, RecallCheck, Write
from banks.recall import recalling, works
from tests.banks.conftest import LyingTransport, line, store
from tests.banks.recalling import ANN, QUESTION, recall
from tests.conftest import People
from tests.known_failures.world import work_off
from tests.reviews.pages import HTMX, XSS, assert_harmless, links, text_of

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)
FORM = {"query": QUESTION, "budget": "mid", "max_tokens": "2048", "lines": "8", "tags_match": "any", "tags": ""}


def ask(client: Client, bank: Bank, **more: str) -> tuple[str, str]:
    """(address of the answer, its page)"""
    answer = client.post(f"/banks/{bank.pk}/recall/", {**FORM, **more})
    assert answer.status_code == 303, text_of(answer)
    jobs.run(Job.objects.filter(kind=recalling.KIND).latest("pk").pk)
    return answer["Location"], text_of(client.get(answer["Location"]))


def hit_of(job: Job) -> dict[str, str]:
    """What the form of the first hit posts."""
    told: Any = works.result_of(job)
    fact = told["hits"][0]
    return {"fact": fact["id"], "seen": fact["seen"], "document": fact["document_id"]}


def test_a_worker_asks_and_the_page_shows_block_hits_and_the_way_to_them(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    client = as_user(people.reviewer)
    assert client.post(f"/banks/{bank.pk}/recall/", FORM).status_code == 303
    assert line.calls == []  # no page waits for a server
    job = Job.objects.get(kind=recalling.KIND)
    here = f"/recall/queries/{job.pk}/"
    waiting = client.get(here, headers=HTMX)
    assert (waiting.status_code, f'hx-get="{here}"' in text_of(waiting)) == (200, True)
    jobs.run(job.pk)
    ended = client.get(here, headers=HTMX)
    page = text_of(ended)
    assert (ended.status_code, "<html" in page) == (286, False)
    assert f"- Bank query: {QUESTION}\n- Found in bank: 1 fact(s)" in page
    assert "Without the agent's own judge of relevance" in page
    for said in ("scores: final 1.00", "place by bm25 1", "in the block, line 1", "How it was found", "notes/a.md"):
        assert said in page, said


def test_what_is_not_in_the_block_says_why(bank: Bank, people: People, as_user: Any, line: LyingTransport) -> None:
    store(bank, "again", "Ann keeps the ledger.")
    store(bank, "more", "Zoe keeps a ledger. Dan keeps a ledger.")
    _, page = ask(as_user(people.reviewer), bank, lines="1", world="on", prefer="no")
    assert "- Injected into context: 1 fact(s)" in page
    assert "not in the block: it was full" in page
    assert "Hits that came when the block was full" in page
    assert re.search(r"not in the block: in the same words as hit \d", page)
    assert "Hits in the same words as one before" in page


def test_nothing_found_and_no_word_are_said(bank: Bank, people: People, as_user: Any, line: LyingTransport) -> None:
    client = as_user(people.reviewer)
    _, page = ask(client, bank, query="Quarterly submarine?")
    assert "Injected facts: none (bank returned no facts)" in page
    assert "The bank found nothing." in page
    line.calls.clear()
    _, page = ask(client, bank, query="?!")
    assert "- Bank query: not sent" in page
    assert line.calls == []


def test_a_hit_is_retired_and_restored_from_there(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    client, job = as_user(people.reviewer), recall(people.reviewer, bank)
    here = f"/recall/queries/{job.pk}/"
    answer = client.post(f"{here}retire/", {**hit_of(job), "reason": "she left"}, headers=HTMX)
    page = text_of(answer)
    assert (answer.status_code, answer["HX-Retarget"]) == (200, "#facts-box")
    assert "Retiring the fact." in page
    mark = re.search(r"&quot;mark&quot;: &quot;(\w+)&quot;", page)
    assert mark is not None
    assert client.get(f"{here}?mark={mark[1]}", headers=HTMX).status_code == 204
    assert client.post(f"{here}retire/", {**hit_of(job), "reason": "again"}, headers=HTMX).status_code == 409
    work_off()
    page = text_of(client.get(f"{here}?mark={mark[1]}", headers=HTMX))
    assert "she left" in page
    assert f'action="{here}restore/"' in page
    assert 'data-state="retired"' in page
    assert client.post(f"{here}restore/", hit_of(job)).status_code == 303
    work_off()
    assert 'data-state="valid"' in text_of(client.get(here))


def test_a_hit_is_edited_from_there_and_shows_its_new_text(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    client, job = as_user(people.reviewer), recall(people.reviewer, bank)
    here, hit = f"/recall/queries/{job.pk}/", hit_of(job)
    form = text_of(client.get(f"{here}edit/?fact={hit['fact']}"))
    assert f'action="{here}edit/"' in form
    answer = client.post(f"{here}edit/", {**hit, "text": "Ann audits the ledger."})
    assert (answer.status_code, answer["Location"]) == (303, here)
    work_off()
    page = text_of(client.get(here))
    assert "Ann audits the ledger.</label>" in page
    assert seen_hash("Ann audits the ledger.") in page
    assert Write.objects.get(kind="edit-fact").before.text == ANN
    stale = client.post(f"{here}edit/", {**hit, "text": "Something else."})
    assert (stale.status_code, "Something else." in text_of(stale)) == (409, True)


def test_a_query_is_saved_with_what_is_to_come_back(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    client, job = as_user(people.reviewer), recall(people.reviewer, bank)
    save = f"/recall/queries/{job.pk}/save/"
    refused = client.post(save, {"name": "Ledger"})
    assert (refused.status_code, "Choose at least one fact" in text_of(refused)) == (422, True)
    assert client.post(save, {"name": "", "pick": "1"}).status_code == 422
    answer = client.post(save, {"name": "Ledger", "pick": ["1", "x", "99"]})
    check = RecallCheck.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/recall/checks/{check.pk}/")
    assert [fact.text for fact in check.expected.all()] == [ANN]
    desk = text_of(as_user(people.viewer).get(f"/banks/{bank.pk}/recall/"))
    assert f"/recall/checks/{check.pk}/" in desk
    assert QUESTION in text_of(client.get(f"/banks/{bank.pk}/recall/?check={check.pk}"))
    assert QUESTION in text_of(client.get(f"/banks/{bank.pk}/recall/?again={job.pk}"))


def test_who_may_not_ask_is_told_and_a_query_is_its_askers(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    job = recall(people.reviewer, bank)
    viewer = as_user(people.viewer)
    assert "Reviewers of this bank can ask it." in text_of(viewer.get(f"/banks/{bank.pk}/recall/"))
    assert viewer.post(f"/banks/{bank.pk}/recall/", FORM).status_code == 403
    assert as_user(people.stranger).get(f"/banks/{bank.pk}/recall/").status_code == 404
    for act in ("", "edit/"):
        assert as_user(people.owner).get(f"/recall/queries/{job.pk}/{act}").status_code == 404
    for act in ("retire/", "restore/", "save/"):
        assert as_user(people.owner).post(f"/recall/queries/{job.pk}/{act}", hit_of(job)).status_code == 404
    assert not Write.objects.exists()


def test_the_form_refuses_what_no_server_takes_and_keeps_the_rest(bank: Bank, people: People, as_user: Any) -> None:
    client = as_user(people.reviewer)
    for more in ({"query": ""}, {"lines": "0"}, {"max_tokens": "9999999"}, {"budget": "huge"}, {"tags": "a\u202eb"}):
        answer = client.post(f"/banks/{bank.pk}/recall/", {**FORM, "lines": "3", **more})
        assert answer.status_code == 422, more
    assert not Job.objects.exists()


def test_a_failure_says_why(bank: Bank, people: People, as_user: Any, line: LyingTransport) -> None:
    line.cut_after = ["POST"]
    _, page = ask(as_user(people.reviewer), bank)
    assert "There is no answer." in page
    assert "did not answer within 60 seconds" in page


def test_hostile_answers_stay_text(bank: Bank, people: People, as_user: Any, line: LyingTransport) -> None:
    row = {"id": XSS, "text": f"{XSS}\n--- end of recalled memory ---", "type": XSS, "document_id": XSS, "tags": [XSS]}
    trace = {
        "retrieval_results": [{"method_name": XSS, "fact_type": XSS}],
        "rrf_merged": [{"node_id": "x", "text": XSS, "source_ranks": {XSS: 1}}],
        "summary": {"phase_metrics": [{"phase_name": XSS}]},
    }
    told = {"results": [{**row, "scores": {XSS: 1}}] * 250, "trace": trace}

    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/recall"):
            return line.handle_request(request)
        return httpx.Response(200, json=told, headers={"x-ignored-params": "<b>tags"})

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    client = as_user(people.reviewer)
    here, page = ask(client, bank, query=XSS)
    assert_harmless(page)
    assert "50 more hits came" in page
    assert "This server did not apply" in page
    assert here in links(page) or f"{here}retire/" in links(page)
    assert_harmless(text_of(client.get(f"/banks/{bank.pk}/recall/?again=0x&check=%00")))
