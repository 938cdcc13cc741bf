"""Big forms are answered with a sentence, and what was typed is not lost by it."""

import html
import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import LazySettings
from django.test import Client

from banks.models import Bank, Write
from reviews.models import ReviewEntry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, Reader, shown, text_of
from tests.reviews.queue_files import add, import_lines

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def checked(people: People) -> Client:
    """Signed in, and the CSRF check reads every body before a view does."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.reviewer)
    return client


def token(client: Client) -> str:
    headers = re.search(r'hx-headers="([^"]*)"', text_of(client.get("/")))
    assert headers is not None
    return str(json.loads(html.unescape(headers[1]))["X-CSRFToken"])


def save(client: Client, entry: ReviewEntry, text: str, **headers: str) -> Any:
    data = {"csrfmiddlewaretoken": token(client), **shown(entry), "text": text}
    return client.post(f"/reviews/{entry.pk}/edit/", urlencode(data), content_type=FORM, headers=headers)


@pytest.mark.parametrize(("unit", "size"), [("Words, words. ", 3_000_000), ("Слова, слова. ", 1_000_000)])
def test_row_085_a_body_of_three_megabytes_is_saved(unit: str, size: int, bank: Bank, checked: Client) -> None:
    """A letter that is no ASCII is three times as long in the body of a form."""
    entry = factories.make_entry(bank)
    text = unit * (size // len(unit.encode()))
    assert save(checked, entry, text).status_code == 303
    assert Write.objects.get().request.text == text


def test_row_085_more_than_we_take_is_said_and_the_text_is_still_in_the_form(
    bank: Bank, checked: Client, settings: LazySettings
) -> None:
    settings.MAX_TEXT_BYTES = 3_000_000
    answer = save(checked, factories.make_entry(bank), "x" * 3_000_001)
    assert answer.status_code == 422
    page = text_of(answer)
    assert "3,000,001 bytes and the limit is 3,000,000" in page
    assert "x" * 3_000_001 in page
    assert not Write.objects.exists()


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
def test_row_085_a_body_above_every_limit_is_a_readable_page(
    headers: dict[str, str], bank: Bank, checked: Client, settings: LazySettings
) -> None:
    """Raised inside the CSRF check, before any view: even there it is a sentence with the limit in it."""
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100_000
    answer = save(checked, factories.make_entry(bank), "x" * 100_001, **headers)
    page = text_of(answer)
    assert answer.status_code == 413
    assert "That is more than one form can hold." in page
    assert "97.7" in page
    assert ("<html" in page) is not bool(headers)
    assert answer.get("HX-Retarget", "") == ("#alerts" if headers else "")  # what was typed stays where it is
    assert not Write.objects.exists()


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
def test_row_085_twelve_hundred_boxes_are_a_readable_page_too(headers: dict[str, str], checked: Client) -> None:
    data = [("csrfmiddlewaretoken", token(checked)), *[("line", str(number)) for number in range(1_200)]]
    answer = checked.post("/imports/parked/assign/", urlencode(data), content_type=FORM, headers=headers)
    assert answer.status_code == 413
    assert "That is more than one form can hold." in text_of(answer)


def test_row_085_no_page_of_ours_sends_more_fields_than_are_taken(
    bank: Bank, people: People, as_user: Any, settings: LazySettings, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    import_lines(
        [add(f"d{number}", bank="nowhere", baseUrl=bank.server.base_url) for number in range(700)], people.owner
    )
    for number in range(700):
        factories.make_entry(bank, f"e{number}")
    client = as_user(people.operator)
    for path in ("/imports/parked/", "/reviews/", "/log/"):
        boxes = [tag for tag, attributes in Reader(text_of(client.get(path))).elements if tag == "input"]
        assert len(boxes) < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, path
