"""The health of a bank: counted by a worker, stored with its time, and each number leads to its facts."""

import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from banks import connections, jobs
from banks.models import Bank, Job, Membership
from reviews.health import reading
from reviews.models import HealthFact, HealthReport, ReviewEntry
from tests import factories
from tests.banks.conftest import NOW, LyingTransport, line, store
from tests.conftest import People
from tests.reviews.health_reports import report_of
from tests.reviews.pages import HTMX, XSS, Reader, assert_harmless, links, text_of

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)


def url(bank: Bank, name: str = "", query: str = "") -> str:
    return reverse(f"reviews:bank-health{name}", args=[bank.pk]) + query


def count(client: Client, bank: Bank) -> HealthReport:
    assert client.post(url(bank, "-start")).status_code == 303
    report = HealthReport.objects.order_by("-pk")[0]
    jobs.run(report.job_id)
    report.refresh_from_db()
    return report


def shares_of(page: str) -> dict[str, str]:
    """What stands on the page, by its name: "93 % 186 of 200"."""
    found = {}
    for row in page.split('<li class="share">')[1:]:
        said = re.sub(r"<svg.*?</svg>", "|", row.partition("</li>")[0], flags=re.S)
        said = re.sub(r'<span class="visually-hidden">.*?</span>|<small>.*?</small>', "", said)
        name, _, told = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", said)).partition("|")
        found[name.strip()] = told.strip()
    return found


def test_a_worker_counts_and_the_page_shows_it(bank: Bank, line: LyingTransport, people: People, as_user: Any) -> None:
    Bank.objects.update(language="en")
    store(
        bank, "b", "Ann keeps the ledger. The payment service retries three times before it gives up.", context="retro"
    )
    store(bank, "c", "Сервис платежей повторяет запрос три раза и потом сдаётся.")
    line.calls.clear()
    client = as_user(people.reviewer)
    assert "were not counted yet" in text_of(client.get(url(bank)))
    report = count(client, bank)
    assert {method for method, _ in line.calls} == {"GET"}
    page = text_of(client.get(url(bank)))
    shares = shares_of(page)
    facts = report.numbers["facts"]
    assert facts == 5
    assert shares["In the same words"] == f"20 % 1 of {facts}"
    assert shares["Without context"] == f"60 % 3 of {facts}"
    assert shares["In another language"] == "50 % 1 of 2"
    assert shares["Retired"].startswith("0 % 0 of")
    assert (shares["English"], shares["Russian"]) == ("20 % 1 of 5", "20 % 1 of 5")
    assert "as read" in page
    behind = text_of(client.get(url(bank, "-facts", "?of=same")))
    assert behind.count("Ann keeps the ledger.") == 2
    assert "notes/a.md" in behind


def test_no_page_waits_for_the_server_and_the_end_brings_the_numbers(
    bank: Bank, line: LyingTransport, people: People, as_user: Any
) -> None:
    client = as_user(people.reviewer)
    begun = client.post(url(bank, "-start"), headers=HTMX)
    assert "Waiting for a worker" in text_of(begun)
    client.get(url(bank))
    waiting = client.get(url(bank), headers=HTMX)
    assert (waiting.status_code, "every 2s" in text_of(waiting), "<html" in text_of(waiting)) == (200, True, False)
    assert line.calls == []
    client.post(url(bank, "-start"))
    assert Job.objects.count() == 1  # asked twice, it is one work
    assert jobs.run(Job.objects.get().pk) == "done"
    ended = client.get(url(bank), headers=HTMX)
    assert (ended.status_code, "every 2s" in text_of(ended)) == (286, False)
    assert 'id="health-report" hx-swap-oob="true"' in text_of(ended)
    assert jobs.run(Job.objects.get().pk) == "not ours"


@time_machine.travel(NOW, tick=False)
def test_each_number_leads_to_its_facts_and_has_its_bar(bank: Bank, people: People, as_user: Any) -> None:
    with time_machine.travel(NOW - timedelta(days=3), tick=False):
        report_of(bank, counts={"one-proof": 190})
    report = report_of(bank)
    for place in range(1, 61):
        HealthFact.objects.create(
            report=report, finding="one-proof", place=place, fact_id=f"f{place}", text=f"Fact {place}."
        )
    client = as_user(people.viewer)
    page = text_of(client.get(url(bank)))
    assert shares_of(page)["One proof"] == "93 % 186 of 200"
    assert "before 95 %" in page
    assert "as read just now, asked for by" in page
    widths = [each["width"] for tag, each in Reader(page).elements if tag == "rect" and each["class"] == "bar-part"]
    assert "93.0" in widths
    assert_harmless(page)
    for wanted in (url(bank, "-facts", "?of=one-proof"), f"/banks/{bank.pk}/facts/?state=invalidated", "told=ru"):
        assert any(wanted in each for each in links(page)), wanted
    first = text_of(client.get(url(bank, "-facts", "?of=one-proof")))
    assert "186 facts; the first 60 are kept" in first
    assert ("Fact 50." in first, "Fact 51." in first) == (True, False)
    assert "Fact 51." in text_of(client.get(url(bank, "-facts", "?of=one-proof&after=50")))


def test_what_is_not_known_is_said(bank: Bank, people: People, as_user: Any) -> None:
    unknown = {"set": "", "own": "", "read": 5, "mix": {}, "why": "Guessing the languages did not work (OSError)."}
    numbers = {"retired": None, "consolidates": False, "proofs": 0, "languages": unknown, "waiting": None}
    report_of(bank, **numbers, read=150, stopped="The server did not answer in time.", spread=True)
    page = text_of(as_user(people.viewer).get(url(bank)))
    shares = shares_of(page)
    assert [name for name, told in shares.items() if told == "unknown"] == [
        "One proof",
        "In another language",
        "Not consolidated",
        "Retired",
    ]
    for said in (
        "150 of 200 facts and observations were read.",
        "did not answer in time",
        "spread over the whole bank",
    ):
        assert said in page, said
    assert "Guessing the languages did not work" in page


def test_a_count_that_fails_says_why_and_keeps_the_one_before(
    bank: Bank, line: LyingTransport, people: People, as_user: Any
) -> None:
    client = as_user(people.reviewer)
    before = report_of(bank)
    line.cut_before = ["GET"] * 3
    assert count(client, bank).taken is None
    page = text_of(client.get(url(bank)))
    assert "The facts could not be counted." in page
    assert shares_of(page)["One proof"] == "93 % 186 of 200"
    Bank.objects.update(gone_since=timezone.now())  # servers count zeros for banks that do not exist
    line.calls.clear()
    count(client, bank)
    assert "not on its server" in text_of(client.get(url(bank)))
    assert line.calls == []
    assert HealthReport.objects.exclude(taken=None).get() == before


def test_only_the_latest_report_keeps_facts(bank: Bank, line: LyingTransport, people: People, as_user: Any) -> None:
    client = as_user(people.reviewer)
    for _ in range(25):
        old = report_of(bank)
    HealthFact.objects.create(report=old, finding="same", place=1, fact_id="f", text="Old.")
    latest = count(client, bank)
    assert set(HealthFact.objects.values_list("report", flat=True)) == {latest.pk}
    assert HealthReport.objects.count() == 20


def test_viewers_look_reviewers_count_and_strangers_know_nothing(
    bank: Bank, line: LyingTransport, people: People, as_user: Any
) -> None:
    report_of(bank)
    viewer, stranger = as_user(people.viewer), as_user(people.stranger)
    assert "Count again" not in text_of(viewer.get(url(bank)))
    assert viewer.post(url(bank, "-start")).status_code == 403
    for view in ("", "-facts"):
        assert stranger.get(url(bank, view)).status_code == 404
    assert stranger.post(url(bank, "-start")).status_code == 404
    assert not Job.objects.exists()
    as_user(people.reviewer).post(url(bank, "-start"))
    Membership.objects.filter(user=people.reviewer).delete()  # meanwhile
    assert jobs.run(Job.objects.get().pk) == "failed"
    assert line.calls == []


def test_hostile_texts_are_text(bank: Bank, people: People, as_user: Any) -> None:
    report = report_of(bank, types={"world": 180, XSS: 20}, stopped=XSS)
    entry = factories.make_entry(bank, XSS)
    HealthFact.objects.create(report=report, finding="same", place=1, fact_id=XSS, document_id=XSS, text=XSS, told="1")
    client = as_user(people.viewer)
    for address in (url(bank), url(bank, "-facts", "?of=same"), url(bank, "-facts", "?of=x&after=-1&told=%00")):
        answer = client.get(address)
        assert answer.status_code == 200
        assert_harmless(text_of(answer))
    assert reverse("reviews:entry-detail", args=[entry.pk]) in links(
        text_of(client.get(url(bank, "-facts", "?of=same")))
    )


def test_many_facts_cost_no_more_queries(bank: Bank, people: People, as_user: Any) -> None:
    client, report = as_user(people.viewer), report_of(bank)

    def queries(address: str) -> int:
        with CaptureQueriesContext(connection) as found:
            client.get(address)
        return len(found)

    HealthFact.objects.create(report=report, finding="same", place=1, fact_id="f", document_id="d", text="One.")
    few = queries(url(bank)), queries(url(bank, "-facts", "?of=same"))
    for place in range(2, 50):
        ReviewEntry.objects.filter(pk=factories.make_entry(bank, f"d{place}").pk)
        HealthFact.objects.create(
            report=report, finding="same", place=place, fact_id=f"f{place}", document_id=f"d{place}", text="One."
        )
    assert (queries(url(bank)), queries(url(bank, "-facts", "?of=same"))) == few


def test_a_bank_of_200_000_facts_is_read_in_part(
    bank: Bank, people: People, as_user: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST", 1_000)

    def answer(request: httpx.Request) -> httpx.Response:
        query = request.url.params
        if request.url.path.endswith("/stats"):
            return httpx.Response(200, json={"total_documents": 1})
        if query.get("state") == "invalidated":
            return httpx.Response(200, json={"items": [], "total": 0})
        at = int(query.get("offset", 0))
        rows = [
            {"id": f"f{n}", "text": f"Fact {n}.", "fact_type": "world"} for n in range(at, at + int(query["limit"]))
        ]
        return httpx.Response(200, json={"items": rows, "total": 200_000})

    monkeypatch.setitem(connections.TRANSPORTS, bank.server.base_url, httpx.MockTransport(answer))
    report = count(as_user(people.reviewer), bank)
    assert (report.numbers["read"], report.numbers["total"], report.numbers["spread"]) == (1_000, 200_000, True)
    assert "1,000 of 200,000 facts and observations were read." in text_of(as_user(people.viewer).get(url(bank)))
