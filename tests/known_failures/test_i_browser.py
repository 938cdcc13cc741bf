"""What only a browser shows: history, tabs, two clicks, and the fragments that say what went wrong."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from banks.models import Write
from memadmin.accounts.models import User
from reviews.models import Decision, ReviewEntry
from reviews.services import decide
from tests import factories
from tests.browser.conftest import Open

pytestmark = pytest.mark.browser


def whole(page: Page, heading: str) -> None:
    """The page with its frame and styles, once, and not a bare card."""
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    expect(page.locator("nav.rail")).to_have_count(1)
    expect(page.locator("main#main")).to_have_count(1)
    assert page.evaluate("document.styleSheets.length") > 0


def states() -> list[str]:
    return list(ReviewEntry.objects.order_by("pk").values_list("state", flat=True))


def test_row_088_back_from_another_page_and_a_second_tab_show_whole_pages(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    page.keyboard.press("a")  # the next card comes as a fragment, under an address that is also a page
    expect(page.get_by_role("heading", level=1)).to_have_text("notes/2.md")
    address = page.url
    page.get_by_role("link", name="Overview").click()
    expect(page).to_have_url(re.compile(r"/$"))
    page.go_back()
    assert page.url == address
    whole(page, "notes/2.md")
    tab = page.context.new_page()
    tab.goto(address)
    whole(tab, "notes/2.md")


def test_row_089_back_through_cards_that_came_as_fragments_shows_whole_pages(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    for name in ("notes/2.md", "notes/3.md"):
        page.keyboard.press("j")
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
    for name in ("notes/2.md", "notes/1.md"):
        page.go_back()
        whole(page, name)
    page.go_forward()
    whole(page, "notes/2.md")
    page.keyboard.press("a")
    whole(page, "notes/3.md")
    assert states() == ["pending", "approved", "pending", "pending", "pending"]


def test_row_090_after_signing_in_again_one_is_back_on_the_page_and_nothing_was_repeated(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/?q=notes")
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("a")
    page.wait_for_url(re.compile(r"/accounts/login/\?next=%2Freviews%2F"))
    page.get_by_label("Name or e-mail").fill(reviewer.username)
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(re.compile(rf"/reviews/{queue[0].pk}/\?q=notes"))
    whole(page, "notes/1.md")
    assert set(states()) == {"pending"}


def test_row_092_signed_in_again_in_another_tab_the_old_tab_says_so(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    tab = page.context.new_page()
    tab.goto(page.url)
    tab.get_by_role("button", name="sign out").click()
    tab.get_by_label("Name or e-mail").fill(reviewer.username)
    tab.get_by_label("Password").fill("correct horse battery")
    tab.get_by_role("button", name="Sign in", exact=True).click()
    tab.wait_for_url(re.compile(r"/$"))
    page.keyboard.press("a")
    expect(page.locator("#alerts")).to_contain_text("This page is out of date.")
    whole(page, "notes/1.md")
    assert set(states()) == {"pending"}
    with page.expect_event("load"):
        page.locator("#alerts").get_by_role("link", name="Load the page again").click()
    expect(page.locator("#alerts")).to_be_empty()
    page.keyboard.press("a")
    whole(page, "notes/2.md")
    assert states()[0] == "approved"


def blank(page: Page, entry: ReviewEntry) -> None:
    page.locator("#text").fill("   ")
    page.get_by_role("button", name="Save").click()


def lost_right(page: Page, entry: ReviewEntry) -> None:
    User.objects.get(username="mira").memberships.all().delete()
    page.get_by_role("button", name="Approve").click()


def faster_colleague(page: Page, entry: ReviewEntry) -> None:
    """On a card that never hears of her: what it asks meanwhile is answered with nothing, from its first moment on."""
    page.route(re.compile(r"/open/"), lambda route: route.fulfill(status=204))
    page.reload()
    ann = factories.make_user("ann", first_name="Ann", is_superuser=True)
    decide.approve(user=ann, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    page.get_by_role("button", name="Delete").click()


@pytest.mark.parametrize(
    ("path", "act", "status", "place", "words"),
    [
        ("edit/", blank, 422, "#text-error", "The text is empty."),
        ("", lost_right, 404, "#alerts", "There is nothing here for you."),
        ("", faster_colleague, 409, "main#main", "Nothing was changed by you."),
    ],
)
def test_row_094_what_went_wrong_is_seen_where_one_looks(
    path: str,
    act: Callable[[Page, ReviewEntry], None],
    status: int,
    place: str,
    words: str,
    queue: list[ReviewEntry],
    reviewer: User,
    signed_in: Open,
) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/{path}")
    with page.expect_response(lambda answer: answer.request.method == "POST" and answer.status == status):
        act(page, queue[0])
    expect(page.locator(place)).to_contain_text(words)
    expect(page.locator(place)).to_be_visible()
    whole(page, "notes/1.md")


def test_row_095_two_forms_sent_at_once_are_one_decision(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    """Past every script that would hold the second click back: the same post, twice, before the first is answered."""
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    answered = page.evaluate(
        """() => {
            const form = document.querySelector("form.decide");
            const url = form.querySelector("[formaction*='/delete/']").getAttribute("formaction");
            const post = () => fetch(url, {method: "POST", body: new URLSearchParams(new FormData(form))});
            return Promise.all([post(), post(), post()]).then((all) => all.map((each) => each.status));
        }"""
    )
    assert answered == [200, 200, 200]  # each was led to the next memory
    assert states() == ["deleting", *["pending"] * 4]
    assert Decision.objects.count() == Write.objects.count() == 1


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_row_096_what_was_approved_is_gone_from_the_list_and_the_numbers_say_so(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open, script: bool
) -> None:
    page = signed_in(reviewer, "/reviews/", java_script_enabled=script)
    rows = page.locator("[data-rows] > li")
    expect(rows).to_have_count(5)
    page.get_by_role("link", name="Memory number 2.").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("notes/3.md")
    expect(page.locator("#rail-pending")).to_have_text("4")
    page.get_by_role("link", name="Review", exact=True).first.click()
    expect(rows).to_have_count(4)
    expect(page.locator("[data-rows]")).not_to_contain_text("notes/2.md")
    expect(page.locator("#rail-pending")).to_have_text("4")
    expect(page.locator("#rail-pending")).to_have_count(1)
