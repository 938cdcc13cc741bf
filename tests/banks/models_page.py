"""What the tests of the pages about a bank's mental models share."""

import re
from typing import Any
from urllib.parse import urlencode

from django.test import Client

from banks.models import Bank
from tests.banks.admin_pages import url
from tests.reviews.pages import HTMX, Reader, text_of


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


def cells(page: str) -> str:
    """The words of a page, with one space between."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def tried(client: Client, bank: Bank, text: str) -> Any:
    return client.post(url("agents-file"), {"bank": bank.pk, "text": text})
