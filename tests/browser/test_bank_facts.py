"""The facts of a bank, and extracting again, in a browser: lists come by themselves, impact is said beforehand."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from banks import connections
from banks.demo import DemoServer, Pace
from banks.models import Bank, Write
from memadmin.accounts.models import User
from reviews.models import FactDecision, ReviewEntry
from tests.banks.conftest import LyingTransport, store
from tests.browser.conftest import PHONE, Open
from tests.known_failures.world import loaded, work_off

WHY = "Why is it no longer true?"


@pytest.fixture
def served(queue: list[ReviewEntry]) -> Iterator[Bank]:
    """The bank of the queue on a demo server, with facts about Ann in two documents."""
    bank = queue[0].bank
    demo = DemoServer(None, pace=Pace.instant())
    connections.TRANSPORTS[bank.server.base_url] = LyingTransport(demo)
    store(bank, "ledger", "Ann keeps the ledger. Ben reads it.")
    store(bank, "chess", "Ann plays chess.")
    yield bank
    del connections.TRANSPORTS[bank.server.base_url]
    demo.close()


def test_a_fact_is_retired_from_the_list_by_keys(served: Bank, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/banks/{served.pk}/facts/?type=world")
    expect(page.get_by_role("heading", name="3 facts")).to_be_visible()
    page.get_by_role("radio", name="Ann keeps the ledger.", exact=True).check()
    page.keyboard.press("r")
    expect(page.get_by_role("textbox", name=WHY)).to_be_focused()
    expect(page.get_by_text("1 observation derives from this.")).to_be_visible()
    page.keyboard.type("she left")
    page.keyboard.press("Enter")
    expect(page.get_by_text("retiring, Mira Kovač")).to_be_visible()
    work_off()
    expect(page.get_by_role("heading", name="2 facts")).to_be_visible()  # the list has asked again by itself
    decision = FactDecision.objects.get()
    assert (decision.verdict, decision.reason, decision.document_id) == ("retired", "she left", "ledger")


def test_observations_show_their_sources_when_asked(served: Bank, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/banks/{served.pk}/facts/?type=observation", viewport=PHONE)
    page.get_by_role("radio").first.check()
    page.get_by_role("link", name="Show its 2 sources").click()
    expect(page.get_by_text("Ann plays chess.", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Retire this fact")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_script_a_link_brings_the_list(served: Bank, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/banks/{served.pk}/facts/", java_script_enabled=False)
    page.get_by_role("link", name="Read the facts from the bank").click()
    expect(page.get_by_text("Ben reads it.")).to_be_visible()
    page.get_by_role("radio", name="Ann keeps the ledger.", exact=True).check()
    page.get_by_text("Retire…").locator("visible=true").click()
    page.get_by_role("link", name="What rests on it?").locator("visible=true").click()
    expect(page.get_by_role("heading", name="What rests on this fact")).to_be_visible()


def test_extracting_again_from_the_card(served: Bank, reviewer: User, signed_in: Open) -> None:
    entry = loaded(served, "ledger", "Ann keeps the ledger. Ben reads it.")
    page = signed_in(reviewer, f"/reviews/{entry.pk}/")
    page.get_by_role("link", name="Extract again…").click()
    expect(page.get_by_text("Every fact gets a new id")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("link", name="Extract again…")).to_be_visible()
    page.get_by_role("link", name="Extract again…").click()
    page.get_by_role("button", name="Extract again").click()
    expect(page.get_by_text("The facts are being extracted again.")).to_be_visible()
    assert Write.objects.get().kind == "reprocess"
    work_off()
    expect(page.get_by_text("The facts are being extracted again.")).to_have_count(0)
