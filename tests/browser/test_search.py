"""Search by keys: from any page with "/", as one types, into a card; and the banks' own, as they answer."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from banks import connections, jobs
from banks.demo import DemoServer, Pace
from banks.models import Bank, Job
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from tests.banks.conftest import LyingTransport, store
from tests.browser.conftest import Open


@pytest.fixture
def served(queue: list[ReviewEntry]) -> Iterator[Bank]:
    bank, demo = queue[0].bank, DemoServer(None, pace=Pace.instant())
    connections.TRANSPORTS[bank.server.base_url] = LyingTransport(demo)
    store(bank, "ledger", "Memory number nine is what Ann keeps. Ben reads it.")
    yield bank
    del connections.TRANSPORTS[bank.server.base_url]
    demo.close()


def test_from_any_page_as_one_types_and_in_the_banks(served: Bank, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, "/banks/")
    page.keyboard.press("/")
    page.wait_for_url(re.compile("/search/$"))
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("memory num")
    expect(page.get_by_role("link", name="Memories 5")).to_be_visible()
    page.wait_for_url(re.compile(r"q=memory\+num"))
    page.get_by_role("link", name="In the banks").click()
    expect(page.get_by_text("0 asked so far")).to_be_visible()  # it asks by itself
    jobs.run(Job.objects.get(kind="bank-search").pk)
    expect(page.get_by_text("1 of 1 bank has it")).to_be_visible()
    expect(page.locator("mark").first).to_have_text("Memory num")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
