"""Pages and fragments share addresses: every one of them answers each kind of request with the right kind."""

import html
import json
import re
from typing import Any

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client

from banks.models import Bank, Job, Server, Write
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from reviews.services import decide
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.known_failures.routes import ADDRESSES, address_of
from tests.known_failures.source import templates
from tests.known_failures.world import everything
from tests.reviews.pages import HTMX, Reader, assert_harmless, bytes_of, is_html, links, shown, text_of

pytestmark = pytest.mark.django_db
RESTORE = {**HTMX, "HX-History-Restore-Request": "true"}
# Parts that a page asks for at an address of their own; nobody is ever led there.
PARTS = {"reviews:entry-changes"}


def is_page(answer: HttpResponse | StreamingHttpResponse) -> bool:
    return bytes_of(answer).lstrip().lower().startswith(b"<!doctype html>")


@pytest.fixture
def client(people: People) -> Client:
    client = Client()
    client.force_login(people.operator)
    return client


def test_rows_088_089_091_each_request_gets_its_kind_and_caches_know(things: dict[str, int], client: Client) -> None:
    for path, name, names in ADDRESSES:
        url = address_of(path, names, things)
        page, fragment, restored = (client.get(url, headers=headers) for headers in ({}, HTMX, RESTORE))
        kinds = {answer: is_page(answer) for answer in (page, fragment, restored)}  # what is streamed is read once
        for answer in kinds:
            assert "HX-Request" in answer["Vary"], name
            assert "no-store" in answer["Cache-Control"], name
            assert not ("Location" in answer and "HX-Redirect" in answer), name
        # What is shown again from the history is the whole page, as when it is opened anew.
        assert restored.status_code == page.status_code, name
        assert kinds[restored] == kinds[page], name
        if page.status_code == 200 and name not in PARTS:
            assert kinds[page] == is_html(page), name
    assert client.get("/").status_code == 200, "no address has signed us out"


def test_rows_090_091_an_ended_session_leaves_the_page_and_repeats_nothing(
    things: dict[str, int], people: People, line: LyingTransport
) -> None:
    before, nobody = everything(), Client()
    standing = {"HX-Request": "true", "HX-Current-URL": "http://testserver/reviews/?bank=3"}
    for path, name, names in ADDRESSES:
        for ask in (nobody.get, nobody.post):
            answer = ask(address_of(path, names, things), headers=standing)
            assert answer.status_code == 200, name
            assert answer["HX-Redirect"] == "/accounts/login/?next=%2Freviews%2F%3Fbank%3D3", name
            assert "Location" not in answer, name
            assert answer.content == b"", name
        assert everything() == before, name
    assert line.calls == []


def test_row_093_whatever_htmx_reads_as_json_is_json(bank: Bank, people: People, things: dict[str, int]) -> None:
    client, found = Client(), 0
    client.force_login(people.operator)
    urls = [address_of(path, names, things) for path, _, names in ADDRESSES]
    pages = {url: answer for url in urls if (answer := client.get(url)).status_code == 200 and is_html(answer)}
    for url, answer in pages.items():
        for _, attributes in Reader(text_of(answer)).elements:
            for name in ("hx-headers", "hx-vals", "hx-request"):
                if value := attributes.get(name):
                    assert isinstance(json.loads(value), dict), (url, value)
                    found += 1
    assert found > 5


def test_row_093_a_live_post_with_the_printed_header_passes_the_check(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank)
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.reviewer)
    body = next(each for tag, each in Reader(text_of(client.get(f"/reviews/{entry.pk}/"))).elements if tag == "body")
    url = f"/reviews/{entry.pk}/approve/"
    assert client.post(url, shown(entry), headers=HTMX).status_code == 403
    headers = json.loads(body["hx-headers"] or "")
    assert client.post(url, shown(entry), headers={**HTMX, **headers}).status_code == 200
    entry.refresh_from_db()
    assert entry.state == "approved"


def refusals(client: Client, entry: ReviewEntry, other: ReviewEntry) -> dict[int, HttpResponse]:
    ReviewEntry.objects.filter(pk=other.pk).update(version=7)
    seen = shown(entry)
    return {
        403: client.post(f"/reviews/{entry.pk}/approve/", seen, headers=HTMX),
        404: client.get("/reviews/999999/", headers=HTMX),
        405: client.get(f"/reviews/{entry.pk}/approve/", headers=HTMX),
        409: client.post(f"/reviews/{other.pk}/approve/", shown(other), headers=HTMX),
        422: client.post(f"/reviews/{entry.pk}/approve/", {}, headers=HTMX),
    }


def test_row_094_every_refusal_is_a_fragment_with_a_place_of_its_own(
    bank: Bank, people: People, as_user: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, other = factories.make_entry(bank), factories.make_entry(bank)
    answers = {
        **refusals(as_user(people.reviewer), entry, other),
        403: as_user(people.viewer).post(f"/reviews/{entry.pk}/approve/", shown(entry), headers=HTMX),
    }
    monkeypatch.setattr(decide, "approve", None)
    broken = as_user(people.reviewer)
    broken.raise_request_exception = False
    answers[500] = broken.post(f"/reviews/{entry.pk}/approve/", shown(entry), headers=HTMX)
    for status, answer in answers.items():
        assert answer.status_code == status
        assert not is_page(answer)
        assert answer["HX-Retarget"] in {"#alerts", "#main"}
        assert b"alert" in answer.content, status


def test_row_094_htmx_is_told_to_show_what_went_wrong(people: People, as_user: Any) -> None:
    page = text_of(as_user(people.reviewer).get("/"))
    config = json.loads(html.unescape(re.search(r'name="htmx-config" content="([^"]*)"', page)[1]))  # type: ignore[index]
    rules = [(rule["code"], rule["swap"]) for rule in config["responseHandling"]]
    for status in ("403", "409", "413", "422", "500"):
        assert next(swap for code, swap in rules if re.fullmatch(code, status)) is True
    assert next(swap for code, swap in rules if re.fullmatch(code, "204")) is False


@pytest.mark.parametrize("act", ["approve", "delete", "edit"])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
def test_row_095_the_same_form_twice_is_one_decision(
    act: str, headers: dict[str, str], bank: Bank, people: People, as_user: Any
) -> None:
    """The second one comes before the answer to the first: it carries the same version, and is answered the same."""
    entry, client = factories.make_entry(bank), as_user(people.reviewer)
    factories.make_entry(bank, "the next one")
    form = {**shown(entry), "text": "Other words."}
    first, second = (client.post(f"/reviews/{entry.pk}/{act}/", form, headers=headers) for _ in range(2))
    assert (first.status_code, first.get("Location")) == (second.status_code, second.get("Location"))
    assert entry.decisions.count() == bank.writes.count() == 1


def test_row_096_no_part_of_a_table_is_swapped_out_of_band() -> None:
    """A row without its table loses its tags in the browser's parser."""
    for path, source in templates():
        for tag in re.findall(r"<(\w+)[^>]*hx-swap-oob", source):
            assert tag not in {"tr", "td", "th", "tbody", "thead", "tfoot", "caption", "col", "colgroup"}, path


OUR_PATHS = r"(/[a-z0-9-]+)*(/|\.csv|\.jsonl)?|/static/[\w./-]+|#[\w-]+|"
NASTY = "../<img src=x onerror=alert(1)>\"'></script>%2F#?\u202e"


def test_row_022_every_address_shows_hostile_names_as_text_and_leads_to_ours(
    things: dict[str, int], bank: Bank, people: People
) -> None:
    Bank.objects.filter(pk=bank.pk).update(bank_id=NASTY, bank_hash=Bank.hash_of(NASTY), name=NASTY)
    Server.objects.update(name=NASTY, health="ok")
    ReviewEntry.objects.update(document_id=NASTY, document_hash=Write.hash_of(NASTY), project=NASTY, reason=NASTY)
    Write.objects.update(document_id=NASTY, document_hash=Write.hash_of(NASTY), error_text=NASTY, actor_name=NASTY)
    Job.objects.update(title=NASTY, state="failed", error=NASTY)
    User.objects.update(first_name=NASTY, last_name=NASTY)
    client, seen = Client(), 0
    client.force_login(User.objects.get(pk=people.operator.pk))
    for path, name, names in ADDRESSES:
        answer = client.get(address_of(path, names, things))
        if answer.status_code != 200:
            continue
        page = text_of(answer)
        if not is_html(answer):  # a file to be kept: nothing in it is read as markup
            assert answer["X-Content-Type-Options"] == "nosniff"
            assert not page.lstrip().lower().startswith("<!doctype")
            continue
        assert_harmless(page)
        paths = [link.partition("?")[0] for link in links(page)]
        assert [each for each in paths if not re.fullmatch(OUR_PATHS, each)] == [], name
        seen += "onerror=alert(1)&gt;" in page
    assert seen > 8
