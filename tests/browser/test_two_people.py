"""Two browsers on one queue at once: Ann and Ben see each other's decisions, and neither loses a word."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from banks.models import Role, Write
from memadmin.accounts.models import User
from reviews.models import Decision, ReviewEntry, Seen
from tests import factories
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.test_access import problems
from tests.browser.test_triage import heading, states


@pytest.fixture
def ann(queue: list[ReviewEntry]) -> User:
    return _person("ann", queue)


@pytest.fixture
def ben(queue: list[ReviewEntry]) -> User:
    return _person("ben", queue)


def _person(name: str, queue: list[ReviewEntry]) -> User:
    user = factories.make_user(name, first_name=name.capitalize())
    factories.grant(user, queue[0].bank, Role.REVIEWER)
    return user


def look_again(page: Page) -> None:
    """As coming back to the window does; by itself the page asks every ten seconds, and never twice at once."""
    expect(page.locator("[data-quiet].htmx-request")).to_have_count(0)
    page.evaluate("window.dispatchEvent(new Event('focus'))")


def row(page: Page, entry: ReviewEntry) -> Any:
    return page.locator(f"#row-{entry.pk}")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_row_dims_in_its_place_and_goes_with_the_next_move(
    viewport: dict[str, int], queue: list[ReviewEntry], ann: User, ben: User, signed_in: Open
) -> None:
    hers, his = signed_in(ann, f"/reviews/{queue[1].pk}/"), signed_in(ben, "/reviews/", viewport=viewport)
    his.keyboard.press("j")
    box = row(his, queue[1]).bounding_box()
    hers.keyboard.press("a")
    heading(hers, "notes/3.md")
    look_again(his)
    expect(row(his, queue[1])).to_contain_text("approved by Ann")
    assert row(his, queue[1]).bounding_box() == box
    expect(row(his, queue[0])).to_have_attribute("aria-current", "true")
    expect(his.locator("#announce")).to_have_text("1 row of this list changed.")
    assert problems(his) == []
    his.keyboard.press("j")
    expect(row(his, queue[1])).to_have_count(0)
    expect(row(his, queue[2])).to_have_attribute("aria-current", "true")
    look_again(his)
    expect(row(his, queue[2])).to_contain_text("open by Ann")


def test_undo_on_a_stale_row(queue: list[ReviewEntry], ann: User, ben: User, signed_in: Open) -> None:
    hers, his = signed_in(ann, f"/reviews/{queue[0].pk}/"), signed_in(ben, "/reviews/")
    hers.keyboard.press("d")
    heading(hers, "notes/2.md")
    look_again(his)
    expect(row(his, queue[0])).to_contain_text("being deleted by Ann")
    row(his, queue[0]).get_by_role("button", name="undo").click()
    heading(his, "notes/1.md")
    assert Write.objects.get(kind="delete").state == "cancelled"


def test_a_key_on_a_stale_card_is_a_conflict(queue: list[ReviewEntry], ann: User, ben: User, signed_in: Open) -> None:
    hers, his = signed_in(ann, f"/reviews/{queue[0].pk}/"), signed_in(ben, f"/reviews/{queue[0].pk}/")
    his.route(re.compile("/open/"), lambda route: route.fulfill(status=204))  # his card never hears of her
    his.reload()
    hers.keyboard.press("a")
    heading(hers, "notes/2.md")
    his.keyboard.press("a")
    expect(his.get_by_role("alert").first).to_contain_text("Ann approved this memory")
    expect(his.get_by_role("heading", name="What you saw")).to_be_visible()
    his.keyboard.press("a")  # nothing is bound to it here
    his.keyboard.press("d")
    assert Decision.objects.get().user == ann
    his.get_by_role("button", name="Take the approval back").click()
    expect(his.get_by_role("button", name="Approve")).to_be_enabled()
    assert states()[0] == "pending"


def test_an_open_card_turns_stale_by_itself(queue: list[ReviewEntry], ann: User, ben: User, signed_in: Open) -> None:
    hers, his = signed_in(ann, f"/reviews/{queue[0].pk}/"), signed_in(ben, f"/reviews/{queue[0].pk}/")
    expect(his.locator(".lease")).to_contain_text("Ann has had this open for")
    hers.keyboard.press("a")
    heading(hers, "notes/2.md")
    look_again(his)
    expect(his.locator("#actions")).to_contain_text("Ann approved this memory")
    expect(his.locator(".memory")).to_have_text("Memory number 1.")
    expect(his.get_by_role("button", name="Approve")).to_have_count(0)
    assert problems(his) == []
    his.get_by_role("link", name="Show what happened").click()
    expect(his.get_by_role("heading", name="Since you saw it")).to_be_visible()
    assert problems(his) == []


def test_what_is_typed_survives_a_delete(queue: list[ReviewEntry], ann: User, ben: User, signed_in: Open) -> None:
    hers, his = signed_in(ann, f"/reviews/{queue[0].pk}/"), signed_in(ben, f"/reviews/{queue[0].pk}/edit/")
    his.locator("#text").fill("Ben's own words")
    hers.keyboard.press("d")
    heading(hers, "notes/2.md")
    his.locator("#text").press_sequentially(", and more")
    look_again(his)
    expect(his.locator("#actions")).to_contain_text("Ann deleted this memory")
    expect(his.locator("#text")).to_have_value("Ben's own words, and more")
    his.get_by_role("button", name="Show both texts").click()
    expect(his.get_by_role("alert").first).to_contain_text("Ann deleted this memory")
    expect(his.locator("#text")).to_have_value("Ben's own words, and more")
    assert problems(his) == []
    his.get_by_role("button", name="Reopen with my text").click()
    expect(his.get_by_role("button", name="Save")).to_be_visible()
    expect(his.locator("#text")).to_have_value("Ben's own words, and more")
    assert states()[0] == "pending"


def test_what_is_typed_survives_the_end_of_the_session(queue: list[ReviewEntry], ben: User, signed_in: Open) -> None:
    page = signed_in(ben, f"/reviews/{queue[0].pk}/edit/")
    page.context.clear_cookies(name="sessionid")
    look_again(page)
    expect(page.locator("#alerts")).to_contain_text("You are signed out.")
    with page.expect_response(re.compile("/edit/")):  # comparing while typing
        page.locator("#text").fill("Ben's own words")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#alerts")).to_contain_text("You are signed out.")
    expect(page.locator("#text")).to_have_value("Ben's own words")


def test_only_a_visible_card_is_open_and_leaving_gives_it_back(
    queue: list[ReviewEntry], ben: User, signed_in: Open
) -> None:
    page = signed_in(ben, "/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/open/" in request.url else None)
    page.add_init_script("Object.defineProperty(document, 'hidden', {get: () => !window.visible})")
    page.goto(page.url + f"reviews/{queue[0].pk}/")
    look_again(page)
    page.wait_for_load_state("networkidle")
    assert asked == []
    with page.expect_response(re.compile("/open/")):
        page.evaluate("window.visible = true; document.dispatchEvent(new Event('visibilitychange'))")
    assert Seen.objects.get().entry == queue[0]
    with page.expect_response(re.compile("/leave/")), page.expect_response(re.compile("/open/")):
        page.keyboard.press("j")
    held = ReviewEntry.objects.filter(lease_user=ben)
    assert [entry.pk for entry in held] == [queue[1].pk]


def test_arrivals_are_announced(queue: list[ReviewEntry], ben: User, signed_in: Open) -> None:
    page = signed_in(ben, "/reviews/")
    box = row(page, queue[0]).bounding_box()
    factories.make_entry(queue[0].bank, "notes/6.md")
    look_again(page)
    expect(page.locator("#changes")).to_contain_text("1 new")
    assert row(page, queue[0]).bounding_box() == box
    page.get_by_role("link", name="1 new").click()
    expect(page.locator(".row")).to_have_count(6)
