"""Pages of saved queries, and of answers that a model writes."""

import html
import re
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from django.utils import timezone

from banks import connections, jobs
from banks.models import Bank, ExpectedFact, Job, RecallCheck
from banks.recall import checks, reflecting
from tests.banks.conftest import LyingTransport, line, store
from tests.banks.recalling import ANN, QUESTION, save
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of
from tests.reviews.retired import retired

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)
FORM = {"query": QUESTION, "budget": "low", "max_tokens": "2048", "tags_match": "any", "tags": ""}


def lose(check: RecallCheck) -> None:
    ExpectedFact.objects.update(place=None, way="", missing_since=timezone.now())
    RecallCheck.objects.filter(pk=check.pk).update(lost=1)


def test_what_came_back_and_what_did_not_is_shown(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    check, viewer = save(people.reviewer, bank), as_user(people.viewer)
    page = text_of(viewer.get(f"/recall/checks/{check.pk}/"))
    assert "The fact comes back" in page
    assert ANN in page
    assert "hit 1" in page
    assert "Ask it now" not in page  # a viewer's
    lose(check)
    page = text_of(viewer.get(f"/recall/checks/{check.pk}/"))
    assert "1 fact does not come back" in page
    assert "lost" in page
    assert "1 fact lost" in text_of(viewer.get("/recall/checks/"))
    assert "/recall/checks/" in text_of(viewer.get("/"))
    for address in (f"/recall/checks/{check.pk}/", f"/banks/{bank.pk}/recall/"):
        assert as_user(people.stranger).get(address).status_code == 404
    assert "Ledger" not in text_of(as_user(people.stranger).get("/recall/checks/"))


def test_what_was_retired_says_so_and_need_not_come_back(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    store(bank, "more", "Zoe keeps a ledger.")
    check, client = save(people.reviewer, bank, picks=(1, 2)), as_user(people.reviewer)
    here = f"/recall/checks/{check.pk}/"
    gone, kept = check.expected.all()
    assert "Expect it no more" not in text_of(client.get(here))
    retired(bank, 1, fact_id=gone.fact_id, reason="she left")
    lose(check)
    page = text_of(client.get(here))
    assert "she left" in page
    assert page.count("Expect it no more") == 2
    assert "Expect it no more" not in text_of(as_user(people.viewer).get(here))
    assert as_user(people.viewer).post(f"{here}drop/", {"expected": gone.pk}).status_code == 403
    assert "is not expected any more" in text_of(client.post(f"{here}drop/", {"expected": gone.pk}, follow=True))
    assert list(check.expected.all()) == [kept]
    assert "It is the only fact" in text_of(client.post(f"{here}drop/", {"expected": kept.pk}, follow=True))
    assert list(check.expected.all()) == [kept]


def test_a_lost_fact_is_looked_for_by_words_that_it_has(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    fact = "The ledger of the harbour office has been kept by Cleo & her brother since the great flood."
    store(bank, "notes/c.md", fact)
    check = save(people.reviewer, bank, "Who keeps the ledger of the harbour office since the flood?")
    expected = check.expected.get()
    assert len(expected.text) > 60
    lose(check)
    page = text_of(as_user(people.viewer).get(f"/recall/checks/{check.pk}/"))
    (words,) = re.findall(r"/facts/\?q=([^\"]+)", page)
    assert unquote(html.unescape(words)) in expected.text
    ExpectedFact.objects.update(text="DB_PASSWORD=kestrel-wobbly-31 opens the ledger.")
    page = text_of(as_user(people.viewer).get(f"/recall/checks/{check.pk}/"))
    assert "q=DB_PASSWORD%3D" in page
    assert "kestrel" not in page


def test_it_is_asked_now_and_the_page_waits_for_it(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    check, client = save(people.reviewer, bank), as_user(people.reviewer)
    here = f"/recall/checks/{check.pk}/"
    line.calls.clear()
    assert client.post(f"{here}ask/").status_code == 303
    assert line.calls == []
    waiting = client.get(here, headers=HTMX)
    assert (waiting.status_code, "every 2s" in text_of(waiting)) == (200, True)
    assert checks.run(check.pk) == "well"
    ended = client.get(here, headers=HTMX)
    assert (ended.status_code, "every 2s" in text_of(ended)) == (286, False)
    assert as_user(people.viewer).post(f"{here}ask/").status_code == 403


def test_removing_one_changes_nothing_in_the_bank(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    check = save(people.reviewer, bank)
    line.calls.clear()
    assert as_user(people.viewer).post(f"/recall/checks/{check.pk}/remove/").status_code == 403
    assert as_user(people.reviewer).post(f"/recall/checks/{check.pk}/remove/").status_code == 303
    assert (RecallCheck.objects.exists(), line.calls) == (False, [])


def test_a_model_answers_with_its_sources_and_is_said_to_be_slow(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    client = as_user(people.reviewer)
    assert "This is slow and costs." in text_of(client.get(f"/banks/{bank.pk}/reflect/"))
    answer = client.post(f"/banks/{bank.pk}/reflect/", FORM)
    job = Job.objects.get(kind=reflecting.KIND)
    here = f"/recall/reflections/{job.pk}/"
    assert (answer["Location"], line.calls) == (here, [])
    assert client.get(here, headers=HTMX).status_code == 200
    jobs.run(job.pk)
    assert line.calls[0][0] == "GET"  # whether the bank is there comes first
    ended = client.get(here, headers=HTMX)
    page = text_of(ended)
    assert ended.status_code == 286
    for said in ("The answer", ANN, "What it rests on", "notes/a.md", "120 tokens", "What the model looked for"):
        assert said in page, said
    assert as_user(people.viewer).get(f"/banks/{bank.pk}/reflect/").status_code == 403
    assert as_user(people.owner).get(here).status_code == 404  # somebody else's


def test_a_mistyped_bank_is_not_made(bank: Bank, people: People, as_user: Any, line: LyingTransport) -> None:
    with connections.client_for(bank.server) as server:
        server.delete_bank(bank.bank_id)
        client = as_user(people.reviewer)
        client.post(f"/banks/{bank.pk}/reflect/", FORM)
        job = Job.objects.get(kind=reflecting.KIND)
        assert jobs.run(job.pk) == "failed"
        assert "The bank is not on its server" in text_of(client.get(f"/recall/reflections/{job.pk}/"))
        assert not server.has_bank(bank.bank_id)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"text": XSS, "based_on": None}, "The server does not say."),
        ({"text": XSS, "based_on": {}}, "The answer names no fact"),
        (
            {"text": XSS, "based_on": {"memories": [{"id": XSS, "text": XSS, "type": XSS, "document_id": XSS}] * 201}},
            "1 more",
        ),
    ],
)
def test_what_a_model_wrote_stays_text(
    bank: Bank, people: People, as_user: Any, line: LyingTransport, told: dict[str, Any], said: str
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/reflect"):
            return line.handle_request(request)
        return httpx.Response(200, json=told)

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    client = as_user(people.reviewer)
    client.post(f"/banks/{bank.pk}/reflect/", {**FORM, "query": XSS})
    job = Job.objects.get(kind=reflecting.KIND)
    assert jobs.run(job.pk) == "done"
    page = text_of(client.get(f"/recall/reflections/{job.pk}/"))
    assert_harmless(page)
    assert said in page


def test_nobody_asks_a_bank_that_is_gone_and_the_page_says_so(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    check, client = save(people.reviewer, bank), as_user(people.reviewer)
    Bank.objects.filter(pk=bank.pk).update(gone_since=timezone.now())
    RecallCheck.objects.filter(pk=check.pk).update(run_after=timezone.now())
    page = text_of(client.get(f"/recall/checks/{check.pk}/"))
    assert "The bank is not on its server" in page
    assert "Ask it now" not in page
    assert "The bank is asked" not in page
    assert "rests: the bank is gone" in text_of(client.get("/recall/checks/"))
