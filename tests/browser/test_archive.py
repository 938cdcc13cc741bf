"""The archive by keys: pick rows, bring them back as one act, and see it end."""

import re

from playwright.sync_api import Page, expect

from banks.models import Write
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from tests.browser.conftest import PHONE, Open
from tests.reviews.retired import retired
from tests.reviews.test_retired_lists import asked


def picked(page: Page) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('[name=pick]:checked')].map((box) => box.value)")  # type: ignore[no-any-return]


def test_some_are_picked_and_restored_without_a_mouse(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    made = [retired(queue[0].bank, number) for number in range(1, 5)]
    page = signed_in(reviewer, "/facts/retired/")
    page.keyboard.press("x")  # no row is the current one
    assert picked(page) == []
    for key in "jxjjxx":
        page.keyboard.press(key)
    assert picked(page) == [str(made[3].pk)]
    page.keyboard.press("x")
    assert picked(page) == [str(made[3].pk), str(made[1].pk)]
    page.keyboard.press("Shift+R")
    page.wait_for_url(re.compile(r"/facts/retired/jobs/\d+/"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Restore 2 facts")
    expect(page.get_by_role("button", name="Stop after those being sent")).to_be_visible()
    page.get_by_role("button", name="Stop after those being sent").press("Enter")
    expect(page.get_by_text("It was stopped by Mira Kovač.")).to_be_visible()
    assert not Write.objects.filter(state__in=Write.OPEN).exists()


def test_lists_and_questions_without_a_script_on_a_phone(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    asked(queue[0].bank, 1)
    retired(queue[0].bank, 2)
    page = signed_in(reviewer, "/facts/retired/", java_script_enabled=False, viewport=PHONE)
    page.get_by_role("link", name="Questions 1").click()
    page.get_by_role("button", name="Let it go").click()
    expect(page.get_by_text("Nothing is asked.")).to_be_visible()
    page.get_by_role("link", name="Restored 1").click()
    expect(page.get_by_text("Fact number 1.")).to_be_visible()
