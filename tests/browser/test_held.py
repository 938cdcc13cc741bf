"""The card of a held memory by keys: a sends, d rejects, e words it anew, u takes back."""

import pytest
from playwright.sync_api import Page, expect

from banks.models import Bank, RetainItem, Role
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from tests import factories
from tests.browser.conftest import PHONE, Open
from tests.reviews.holding import held


@pytest.fixture
def waiting(reviewer: User) -> list[ReviewEntry]:
    """Three held memories, beside one that is pending."""
    bank: Bank = factories.make_bank(
        "checkout-service", name="Checkout service", server=factories.make_server(health="ok")
    )
    factories.grant(reviewer, bank, Role.REVIEWER)
    factories.make_entry(bank, "notes/pending.md")
    items = [{"content": f"Memory number {n}.", "document_id": f"held/{n}.md"} for n in range(1, 4)]
    return held(reviewer, bank, *items)


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def states() -> list[str]:
    return list(RetainItem.objects.order_by("pk").values_list("state", flat=True))


def test_held_memories_by_keys(waiting: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, "/reviews/?state=held")
    page.keyboard.press("j")
    page.keyboard.press("o")
    heading(page, "held/1.md")
    expect(page.get_by_text("Held for review: it is not in the bank.")).to_be_visible()
    page.keyboard.press("a")
    heading(page, "held/2.md")
    expect(page.locator("#announce")).to_have_text("Approved held/1.md. Next: held/2.md")
    page.keyboard.press("e")
    expect(page.locator("#text")).to_have_value("Memory number 2.")
    page.locator("#text").fill("Memory number two.")
    page.keyboard.press("Control+Enter")
    heading(page, "held/3.md")
    page.keyboard.press("d")
    heading(page, "held/2.md")
    expect(page.locator("#announce")).to_contain_text("Rejected held/3.md.")
    page.keyboard.press("u")
    heading(page, "held/3.md")
    expect(page.get_by_text("Held for review: it is not in the bank.")).to_be_visible()
    page.keyboard.press("d")
    heading(page, "held/2.md")
    expect(page.locator(".memory")).to_contain_text("Memory number two.")
    page.keyboard.press("a")
    heading(page, "Nothing is left of this list.")
    assert states() == ["queued", "queued", "discarded"]


@pytest.mark.looks
def test_a_held_card_fits_a_phone(waiting: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{waiting[0].pk}/", viewport=PHONE)
    expect(page.get_by_role("button", name="Reject")).to_be_visible()
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide == 0
