"""Files by hand: chosen, described, queued, and watched until they are in the bank."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from banks.models import Bank, RetainFile, Write
from tests.banks.conftest import LyingTransport
from tests.banks.filing import send, upload
from tests.banks.retaining import drain
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)
HERE, CONFIRM = "/retain/files/", "/retain/files/confirm/"
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return tmp_path / "uploads"


@pytest.fixture
def web(people: People, as_user: Any) -> Client:
    client: Client = as_user(people.reviewer)
    return client


def choose(web: Client, bank: Bank, *files: Any) -> HttpResponse:
    return web.post(HERE, {"bank": bank.pk, "file": list(files) or [upload()]})  # type: ignore[return-value]


def confirm(web: Client, page: HttpResponse, bank: Bank, **fields: Any) -> HttpResponse:
    kept = page.context["kept"]  # type: ignore[attr-defined]  # of the test client
    said = {name.replace("__", "-"): value for name, value in fields.items()}
    return web.post(CONFIRM, {"kept": kept, "bank": bank.pk, **said}, follow=True)  # type: ignore[return-value]


def test_files_are_chosen_described_and_queued(web: Client, bank: Bank, folder: Path, line: LyingTransport) -> None:
    page = choose(web, bank, upload("a.md"), upload("b.md", b"Carl came."))
    shown = text_of(page)
    assert "2 files for" in shown
    assert "nothing was sent yet" in shown
    assert not Write.objects.exists()
    answer = confirm(
        web,
        page,
        bank,
        f0__document_id="notes",
        f0__tags="team\nlyon\n",
        f0__metadata="source: wiki\nurl: http://a/b",
        f0__timestamp="unset",
        f1__context="a talk",
    )
    assert "2 files queued." in text_of(answer)
    first, second = Write.objects.order_by("pk")
    said = {name: first.params.get(name) for name in ("tags", "metadata", "timestamp")}
    assert said == {
        "tags": ["team", "lyon"],
        "metadata": {"source": "wiki", "url": "http://a/b"},
        "timestamp": "unset",
    }
    assert (first.document_id, second.params["context"]) == ("notes", "a talk")
    drain(bank)
    shown = text_of(web.get(HERE))
    assert shown.count("in the bank") == 2
    assert list(folder.iterdir()) == []


def test_the_page_of_a_request_asks_until_it_is_over(web: Client, bank: Bank, line: LyingTransport) -> None:
    confirm(web, choose(web, bank), bank)
    here = f"{HERE}?group={Write.objects.get().group}"
    under_way = web.get(here, headers=HTMX)
    assert (under_way.status_code, "hx-trigger" in text_of(under_way), "waiting" in text_of(under_way)) == (
        200,
        True,
        True,
    )
    assert "<html" not in text_of(under_way)
    drain(bank)
    over = web.get(here, headers=HTMX)
    assert (over.status_code, "hx-trigger" in text_of(over)) == (286, False)
    assert "2 facts" in text_of(web.get(here))


def test_what_is_wrong_stands_beside_its_field_and_the_files_need_not_be_sent_again(web: Client, bank: Bank) -> None:
    page = choose(web, bank)
    for fields, words in (
        ({"f0__timestamp": "monday"}, "Not a time"),
        ({"f0__metadata": "no colon"}, "a name, a colon and a value"),
        ({"f0__document_id": "x/chunks"}, "ends in /chunks"),
    ):
        page = confirm(web, page, bank, **fields)
        assert (page.status_code, words in text_of(page)) == (422, True)
    assert not Write.objects.exists()
    assert "1 file queued." in text_of(confirm(web, page, bank))


def test_a_second_confirmation_stores_nothing_more(web: Client, bank: Bank, people: People, as_user: Any) -> None:
    page = choose(web, bank)
    assert "Nothing was stored now" in text_of(confirm(as_user(people.owner), page, bank))
    confirm(web, page, bank)
    assert "Nothing was stored now" in text_of(confirm(web, page, bank))
    assert Write.objects.count() == 1


@pytest.mark.parametrize(
    ("files", "status", "words"),
    [
        ([upload("a.md"), upload("bad.exe")], 422, "“bad.exe”: Files that end in .exe are not taken"),
        ([upload("x.txt", b"PK\x03\x04")], 422, "an archive, whatever its name says"),
        ([upload(f"{number}.md") for number in range(11)], 413, "“10.md” is the first that is too many"),
    ],
)
def test_files_that_are_not_taken_are_named(
    web: Client, bank: Bank, folder: Path, files: list[Any], status: int, words: str
) -> None:
    for file in files:
        file.seek(0)
    page = choose(web, bank, *files)
    assert (page.status_code, words in text_of(page)) == (status, True)
    assert not folder.exists() or list(folder.iterdir()) == []


def test_too_much_is_refused_in_words(web: Client, bank: Bank, settings: LazySettings) -> None:
    settings.FILES_MAX_BYTES = 60
    page = choose(web, bank, upload("a.md"), upload("b.md"))
    assert (page.status_code, "“b.md” was too much" in text_of(page)) == (413, True)


@pytest.mark.parametrize("path", [HERE, CONFIRM])
def test_readers_may_not_and_strangers_do_not_learn(path: str, bank: Bank, people: People, as_user: Any) -> None:
    asked = {"bank": bank.pk}
    statuses = [as_user(person).post(path, asked).status_code for person in (people.viewer, people.stranger)]
    assert statuses == [403, 404]


def test_files_of_other_banks_are_seen_by_nobody_else(bank: Bank, people: People, as_user: Any, web: Client) -> None:
    (write,) = send(people.reviewer, bank, upload("secret-plan.md"))
    assert "secret-plan.md" in text_of(as_user(people.viewer).get(HERE))
    stranger = as_user(people.stranger)
    assert "secret-plan.md" not in text_of(stranger.get(HERE))
    for group in (str(write.group), "x", "00000000-0000-4000-8000-000000000000"):
        assert stranger.get(HERE, {"group": group}).status_code == 404


def test_hostile_names_and_errors_are_shown_and_do_not_run(web: Client, bank: Bank, people: People) -> None:
    page = choose(web, bank, upload(f"{XSS}\u202e.md"))
    assert_harmless(text_of(page))
    (write,) = send(people.reviewer, bank, upload("<b>x</b>.md"), about=[{"document_id": XSS}])
    Write.objects.filter(pk=write.pk).update(state="attention", error_text=XSS, outcome={"refused": "server"})
    RetainFile.objects.filter(write=write).update(name=XSS)
    for path in (HERE, f"{HERE}?group={write.group}", f"/log/{write.pk}/"):
        assert_harmless(text_of(web.get(path)))


def test_a_refused_file_can_be_sent_again_or_discarded_from_the_list(web: Client, bank: Bank, people: People) -> None:
    (write,) = send(people.reviewer, bank)
    Write.objects.filter(pk=write.pk).update(
        state="attention", outcome={"refused": "server"}, error_text="No converter."
    )
    shown = text_of(web.get(HERE))
    assert ("refused" in shown, "No converter." in shown) == (True, True)
    web.post(f"/log/{write.pk}/discard/", {"next": HERE})
    assert "discarded" in text_of(web.get(HERE))


def test_the_list_costs_the_same_however_long_it_is(web: Client, bank: Bank, people: People) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            web.get(HERE)
        return len(queries)

    send(people.reviewer, bank)
    one = cost()
    for _ in range(5):
        send(people.reviewer, bank, upload("a.md"), upload("b.md"))
    assert cost() == one


def test_the_ways_into_a_bank_lead_to_each_other(web: Client) -> None:
    ways = [reverse(f"banks:{name}") for name in ("retain-list", "retain-files", "transcript-new")]
    for way in ways:
        shown = text_of(web.get(way))
        assert all(re.search(rf'href="{other}"', shown) for other in ways)
        assert re.search(r'aria-current="page">Retain<', shown)


def test_what_has_not_left_is_taken_back_by_who_sent_it_or_an_admin(
    bank: Bank, people: People, as_user: Any, web: Client, folder: Path, line: LyingTransport
) -> None:
    first, second = send(people.owner, bank, upload("a.md"), upload("b.md"))
    take_back = f"/retain/files/{first.pk}/take-back/"
    assert "Take back" not in text_of(web.get(HERE))
    assert web.post(take_back).status_code == 403
    owner = as_user(people.owner)
    assert text_of(owner.get(HERE)).count("Take back") == 2
    assert "Taken back" in text_of(owner.post(take_back, follow=True))
    first.refresh_from_db()
    assert (first.state, len(list(folder.iterdir()))) == ("cancelled", 1)
    drain(bank)
    second.refresh_from_db()
    assert (second.state, line.sent("POST")) == ("done", 1)
    late = f"/retain/files/{second.pk}/take-back/"
    assert "It is on its way, or has ended" in text_of(owner.post(late, follow=True))
    other = Write.objects.create(kind="edit", bank=bank, via="web")
    assert owner.post(f"/retain/files/{other.pk}/take-back/").status_code == 404
