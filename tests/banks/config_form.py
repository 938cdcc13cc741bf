"""The form of a bank's configuration as a browser posts it."""

from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client

from banks import connections
from banks.hindsight import BankConfig
from banks.models import Bank
from tests.banks.admin_pages import url
from tests.reviews.pages import HTMX


class Form(HTMLParser):
    """What the form that posts to `action` would send, untouched."""

    def __init__(self, page: str, action: str) -> None:
        super().__init__()
        self.values: dict[str, Any] = {}
        self._action, self._inside = action, False
        self._select = self._text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, kind = given.get("name") or "", given.get("type")
        if tag == "form":
            self._inside = given.get("action") == self._action
        if not self._inside or name == "csrfmiddlewaretoken":
            return
        if tag == "input" and kind != "checkbox":
            self.values[name] = given.get("value") or ""
        elif tag == "input" and "checked" in given:
            self._tick(name, given.get("value") or "on")
        elif tag == "textarea":
            self._text, self.values[name] = name, ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and (self._select not in self.values or "selected" in given):
            self.values[self._select] = given.get("value") or ""

    def handle_data(self, data: str) -> None:
        if self._text:
            self.values[self._text] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        elif tag == "select":
            self._select = ""
        elif tag == "textarea" and self._text:
            text = self.values[self._text].replace("\r\n", "\n").replace("\r", "\n").removeprefix("\n")
            self.values[self._text], self._text = text.replace("\n", "\r\n"), ""

    def _tick(self, name: str, value: str) -> None:
        if name == "setting":  # several of one name
            self.values.setdefault(name, []).append(value)
        else:
            self.values[name] = value


def shown(client: Client, bank: Bank) -> dict[str, Any]:
    """The form as the fragment brings it."""
    answer = client.get(url("bank-config", bank.pk), headers=HTMX)
    assert answer.status_code == 200
    return Form(answer.content.decode(), url("bank-config", bank.pk)).values


def save(client: Client, bank: Bank, *, untick: str = "", **values: str) -> HttpResponse:
    """Posts the form with other values typed in. `untick`: the setting that is to be inherited again."""
    form = {**shown(client, bank), **{f"value.{name}": value for name, value in values.items()}}
    form.pop(f"own.{untick}", None)
    return client.post(url("bank-config", bank.pk), form)  # type: ignore[return-value]


def on_server(bank: Bank) -> BankConfig:
    with connections.client_for(bank.server) as client:
        return client.bank_config(bank.bank_id)


def set_past_us(bank: Bank, **settings: Any) -> None:
    """What an agent or another tool does."""
    with connections.client_for(bank.server) as client:
        client.patch_config(bank.bank_id, settings)
