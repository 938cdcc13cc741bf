"""Several rows at once, by keys: the bar counts as the server does, and the last action is all of it."""

from playwright.sync_api import expect

from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from tests.browser.conftest import Open
from tests.browser.test_triage import states


def test_a_page_is_selected_approved_and_taken_back(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    ReviewEntry.objects.filter(pk=queue[1].pk).update(danger=True)
    page = signed_in(reviewer, "/reviews/")
    approve = page.get_by_role("button", name="Approve")
    expect(approve).to_be_disabled()
    page.keyboard.press("X")
    expect(page.locator("[data-bulk-said]")).to_have_text("5 selected. Left out: 1 flagged; open them first.")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(approve).to_have_text("✓ Approve 3 A")
    page.keyboard.press("A")
    expect(page.locator("#main")).to_contain_text("Approved 3. 1 left out.")
    assert states() == ["pending", "pending", "approved", "approved", "approved"]
    page.keyboard.press("u")
    expect(page.get_by_role("heading", level=1)).to_have_text("Undo: Approve 3 memories")
