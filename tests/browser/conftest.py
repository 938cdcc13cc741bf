"""Chromium over the pages of a live server. Debian's own browser: nothing is downloaded."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from banks.models import Role
from memadmin.accounts.models import User
from tests import factories
from tests.browser.chromium import PATIENCE

DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}

# A person who saves data, for whom nothing is fetched ahead.
SAVING = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"

Open = Callable[..., Page]


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.browser)


@pytest.fixture
def reviewer(transactional_db: None) -> User:
    return factories.make_user("mira", first_name="Mira", last_name="Kovač")


@pytest.fixture
def queue(reviewer: User) -> list[Any]:
    """Five memories in the order of the list."""
    from datetime import timedelta

    from django.utils import timezone

    bank = factories.make_bank("checkout-service", name="Checkout service", server=factories.make_server(health="ok"))
    factories.grant(reviewer, bank, Role.REVIEWER)
    due = timezone.now() + timedelta(hours=3)
    return [
        factories.make_entry(bank, f"notes/{n}.md", text=f"Memory number {n}.", expires_at=due + timedelta(days=n))
        for n in range(1, 6)
    ]


class Answering:
    """Knows whether a request is being answered: a database cannot be emptied while one is."""

    def __init__(self) -> None:
        self._open, self._changed = 0, threading.Condition()

    def __enter__(self) -> "Answering":
        request_started.connect(self._started)
        request_finished.connect(self._finished)
        return self

    def __exit__(self, *raised: object) -> None:
        request_started.disconnect(self._started)
        request_finished.disconnect(self._finished)

    def wait_until_idle(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._open <= 0, timeout=PATIENCE / 1000)

    def _started(self, **about: object) -> None:
        with self._changed:
            self._open += 1

    def _finished(self, **about: object) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify_all()


@pytest.fixture
def signed_in(browser: Browser, live_server: Any) -> Iterator[Open]:
    """`signed_in(user, path, **options of the context)` is a page. At the end no script or policy was violated.

    `ahead`: the next cards are fetched before they are asked for; else a card on screen is an answer that has come.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # What the tests ask for on purpose, answers with 4xx or none at all, is logged by every browser.
        wanted = (
            "status of 4",
            "Error Code 4",
            "net::ERR_INTERNET_DISCONNECTED",
            "htmx:sendError",
            "htmx:afterRequest",
        )
        if message.type == "error" and not any(words in message.text for words in wanted):
            complaints.append(message.text)

    def open_page(user: User, path: str, *, ahead: bool = False, **options: Any) -> Page:
        client = Client()
        client.force_login(user)
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        if not ahead:
            context.add_init_script(SAVING)
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(live_server.url + path)
        return page

    with Answering() as server:
        yield open_page
        said = list(complaints)
        for context in contexts:
            context.set_offline(True)  # what a page says as it is left would arrive in the next test
            context.close()
        server.wait_until_idle()
    assert said == []
