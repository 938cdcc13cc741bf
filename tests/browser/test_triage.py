import re
from typing import Any

from playwright.sync_api import Page, Route, expect

from banks.models import Write
from memadmin.accounts.models import User
from reviews.models import Decision, ReviewEntry, Seen
from reviews.services import decide
from tests import factories
from tests.browser.conftest import PHONE, Open


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def states() -> list[str]:
    return list(ReviewEntry.objects.order_by("pk").values_list("state", flat=True))


def test_a_day_by_keys_alone(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, "/")
    page.keyboard.press("o")
    heading(page, "notes/1.md")
    page.keyboard.press("a")
    heading(page, "notes/2.md")
    expect(page.locator("h1")).to_be_focused()
    expect(page.locator("#announce")).to_have_text("Approved notes/1.md. Next: notes/2.md")
    expect(page.locator("#rail-pending")).to_have_text("4")
    page.keyboard.press("d")
    heading(page, "notes/3.md")
    expect(page.locator("[data-toast]")).to_contain_text("Deleted notes/2.md, sent in")
    page.keyboard.press("u")
    heading(page, "notes/2.md")
    page.keyboard.press("k")  # its time starts again, so it is the last one now
    heading(page, "notes/5.md")
    page.keyboard.press("j")
    heading(page, "notes/2.md")
    for name in ("notes/3.md", "notes/4.md", "notes/5.md"):
        page.keyboard.press("s")
        heading(page, name)
    for name in ("notes/2.md", "notes/3.md", "notes/4.md", "Nothing is waiting for a decision."):
        page.keyboard.press("a")
        heading(page, name)
    assert states() == ["approved"] * 5


# Presses a key in the instant in which the next card stands in the page, before anything else can happen.
AT_ONCE = """(key) => {
  window.samePage = true;
  const seen = new MutationObserver(() => {
    seen.disconnect();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  });
  seen.observe(document.body, { childList: true, subtree: true });
}"""


def test_a_card_takes_keys_from_its_first_instant(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    page.evaluate(AT_ONCE, "d")
    page.keyboard.press("a")
    heading(page, "notes/3.md")
    expect(page.locator("#announce")).to_contain_text("Deleted notes/2.md")
    assert page.evaluate("window.samePage"), "the second key loaded a whole page"
    assert states()[:2] == ["approved", "deleting"]


def test_editing_by_keys(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    page.keyboard.press("e")
    expect(page.locator("#text")).to_have_value("Memory number 1.")
    page.locator("#text").fill("Memory number one, a and d.")
    expect(page.locator("#preview ins").first).to_be_visible()
    page.keyboard.press("a")  # inside a field a letter is a letter
    page.keyboard.press("Control+Enter")
    heading(page, "notes/2.md")
    assert Write.objects.get().request.text == "Memory number one, a and d.a"
    assert Decision.objects.get().verdict == "edited"


def test_a_list_by_keys(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, "/reviews/")
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator("[aria-current=true].row")).to_contain_text("notes/2.md")
    page.keyboard.press("o")
    heading(page, "notes/2.md")
    page.go_back()
    expect(page.locator(".rail")).to_have_count(1)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("jkaod")
    expect(page.locator("#q")).to_have_value("jkaod")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    assert set(states()) == {"pending"}


def test_a_double_click_and_a_held_key_decide_once(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    page.get_by_role("button", name="Approve").dblclick()
    heading(page, "notes/2.md")
    page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'a', repeat: true, bubbles: true}))")
    page.keyboard.press("j")
    heading(page, "notes/3.md")
    assert states() == ["approved", *["pending"] * 4]


def test_ones_own_decision_is_no_news_while_its_answer_is_on_its_way(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    expect(page.locator("[data-quiet].htmx-request")).to_have_count(0)
    held: list[Route] = []
    page.route(re.compile("/approve/"), lambda route: held.append(route))
    with page.expect_request(re.compile("/approve/")):
        page.keyboard.press("a")
    page.evaluate("1")  # the browser's answer comes after its word of the route
    decided = held[0].fetch()
    with page.expect_response(re.compile("/open/")) as asked:
        page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(page.locator("[data-quiet].htmx-request")).to_have_count(0)
    assert asked.value.status == 200  # "You approved this memory"
    held[0].fulfill(response=decided)
    heading(page, "notes/2.md")


def test_opening_is_told_by_the_card_on_screen(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, "/reviews/")
    with page.expect_response(re.compile("/open/")) as told:
        page.get_by_text("Memory number 1.").click()
    assert told.value.status == 204
    with page.expect_response(re.compile("/open/")):
        page.keyboard.press("j")
    assert set(Seen.objects.values_list("entry", flat=True)) == {queue[0].pk, queue[1].pk}


def test_a_conflict_is_shown_and_the_typed_text_stays(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    ann = factories.make_user("ann", first_name="Ann", is_superuser=True)
    entry = queue[0]
    page = signed_in(reviewer, f"/reviews/{entry.pk}/edit/")
    page.locator("#text").fill("My own words")
    decide.approve(user=ann, entry_id=entry.pk, version=entry.version, text_hash=entry.text_id)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_contain_text("Ann approved this")
    expect(page.locator("#text")).to_have_value("My own words")
    page.get_by_role("button", name="Reopen with my text").click()
    expect(page.get_by_role("button", name="Save")).to_be_visible()
    expect(page.locator("#text")).to_have_value("My own words")


def test_an_ended_session_leads_to_the_sign_in_page(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("a")
    page.wait_for_url(re.compile("/accounts/login/"))
    assert set(states()) == {"pending"}


def test_a_right_that_ended_is_said_above_the_card(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    reviewer.memberships.update(role=1)
    page.keyboard.press("a")
    expect(page.locator("#alerts")).to_contain_text("You can read this bank, but not decide on it.")
    heading(page, "notes/1.md")


def test_a_day_without_script(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, "/", java_script_enabled=False, viewport=PHONE)
    page.get_by_role("link", name="Start reviewing").click()
    page.get_by_role("button", name="Approve").click()
    heading(page, "notes/2.md")
    page.get_by_role("button", name="Undo").click()
    heading(page, "notes/1.md")
    page.get_by_role("link", name="Edit").click()
    page.locator("#text").fill("Other words")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#preview ins").first).to_be_visible()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Skip", exact=True).click()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name=re.compile("Write log")).click()
    assert [write.kind for write in Write.objects.order_by("pk")] == ["approve", "undo", "edit", "delete"]
    expect(page.locator(".entry")).to_have_count(4)


def test_hostile_text_does_not_run(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    hostile = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    entry: Any = factories.make_entry(queue[0].bank, hostile, text=hostile, project=hostile, tags=[hostile])
    page = signed_in(reviewer, f"/reviews/{entry.pk}/")
    expect(page.locator(".memory")).to_contain_text("<script>")
    page.keyboard.press("e")
    page.locator("#text").fill(f"{hostile} changed")
    expect(page.locator("#preview ins").first).to_be_visible()
    assert "owned" not in page.title().replace(hostile[:79], "")
