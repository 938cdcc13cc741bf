import html
import re

import pytest

from banks.models import Bank, Write
from reviews.models import ReviewEntry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, shown, text_of

TEXT = "\n\nUp to 5 times.\r\nSecond line \n last\n"


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    return factories.make_entry(bank, "notes/a.md", text=TEXT, retired_count=2, tags=["t"], language="en")


def textarea(page: str) -> str:
    """The value a browser shows: the parser drops one line end after the tag, and makes every one "\\n"."""
    raw = html.unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)[1])
    raw = raw.replace("\r\n", "\n").replace("\r", "\n")
    return raw.removeprefix("\n") if raw.startswith("\n") else raw


def sent(value: str) -> str:
    return value.replace("\n", "\r\n")


def save(client, entry: ReviewEntry, text: str, **more):
    data = {**shown(entry), "text": text, "do": more.pop("do", "save")}
    return client.post(f"/reviews/{entry.pk}/edit/", data, **more)


def test_saving_what_was_not_changed_sends_nothing(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/{entry.pk}/edit/"))
    answer = save(client, entry, sent(textarea(page)))
    assert "nothing was sent" in text_of(answer)
    assert not Write.objects.exists()
    entry.refresh_from_db()
    assert entry.version == 1


def test_a_change_is_sent_and_nothing_else_is(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/{entry.pk}/edit/"))
    answer = save(client, entry, sent(textarea(page).replace("5", "8")))
    assert answer.status_code == 303
    assert Write.objects.get().request.text == TEXT.replace("5", "8")


def test_the_form_says_what_it_costs(entry: ReviewEntry, people: People, as_user) -> None:
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/edit/"))
    assert "2 retirements made elsewhere would be forgotten" in page
    assert "(kept)" in page
    assert "No change yet." in page


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_comparing_saves_nothing(headers: dict[str, str], entry: ReviewEntry, people: People, as_user) -> None:
    answer = save(as_user(people.reviewer), entry, sent(TEXT.replace("5", "8")), do="preview", headers=headers)
    page = text_of(answer)
    assert "<del>5</del>" in page
    assert "<ins>8</ins>" in page
    assert ("<html" in page) == (not headers)
    assert not Write.objects.exists()
    if not headers:
        assert "Up to 8 times." in textarea(page)


def test_a_second_click_is_not_a_second_edit(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    save(client, entry, "New text")
    assert save(client, entry, "New text").status_code == 303
    assert Write.objects.count() == 1


@pytest.mark.parametrize("text", ["", "   \r\n", "\u200b"])
def test_an_empty_text_is_refused_and_kept(text: str, entry: ReviewEntry, people: People, as_user) -> None:
    answer = save(as_user(people.reviewer), entry, text)
    assert answer.status_code == 422
    assert "to remove this memory, delete it" in text_of(answer)


def test_a_text_over_the_limit_is_refused_and_kept(entry: ReviewEntry, people: People, as_user, settings) -> None:
    settings.MAX_TEXT_BYTES = 1000
    answer = save(as_user(people.reviewer), entry, "long " * 300)
    page = text_of(answer)
    assert answer.status_code == 422
    assert "1,500 bytes and the limit is 1,000" in page
    assert textarea(page) == "long " * 300


def test_five_megabytes_can_be_edited(bank: Bank, people: People, as_user) -> None:
    text = "A sentence of a very long memory.\n" * 170_000
    entry = factories.make_entry(bank, text=text)
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/{entry.pk}/edit/"))
    assert "input changed" not in page
    answer = save(client, entry, sent(text.replace("A", "The", 1)))
    assert answer.status_code == 303
    assert Write.objects.get().request.text == text.replace("A", "The", 1)
