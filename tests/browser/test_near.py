"""The next card is there before it is asked for; what it shows, and what is decided, is what the server says."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, Route, expect

from memadmin.accounts.models import User
from reviews.models import ReviewEntry, Seen
from reviews.services import decide
from tests import factories
from tests.browser.conftest import Open
from tests.browser.test_triage import heading, states


def opened(signed_in: Open, user: User, queue: list[ReviewEntry]) -> Page:
    """The first card, the next two being there, and the first said to be open."""
    page = signed_in(user, "/", ahead=True)
    last = f"/reviews/{queue[2].pk}/"
    with (
        page.expect_response(lambda answer: answer.url.endswith(last)) as ahead,
        page.expect_response(lambda answer: answer.url.endswith("/open/")) as said,
    ):
        page.keyboard.press("o")
    ahead.value.finished()
    said.value.finished()
    heading(page, "notes/1.md")
    return page


@contextmanager
def held(page: Page) -> Iterator[None]:
    """Requests to approve that do not leave before the end."""
    waiting: list[Route] = []
    page.route("**/approve/**", lambda route: waiting.append(route))
    yield
    for route in waiting:
        route.continue_()


def test_what_is_fetched_ahead_is_neither_open_nor_seen(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    opened(signed_in, reviewer, queue)
    assert list(Seen.objects.values_list("entry", flat=True)) == [queue[0].pk]
    assert list(ReviewEntry.objects.filter(lease_user=reviewer).values_list("pk", flat=True)) == [queue[0].pk]


def test_the_next_card_stands_there_at_once_and_takes_no_key_before_the_answer(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    page = opened(signed_in, reviewer, queue)
    with held(page):
        with page.expect_request("**/approve/**"):
            page.keyboard.press("a")
        heading(page, "notes/2.md")
        expect(page.locator("h1:visible")).to_be_focused()
        assert states() == ["pending"] * 5
        page.keyboard.press("d")
    expect(page.locator("#announce")).to_have_text("Approved notes/1.md. Next: notes/2.md")
    expect(page.locator("h1")).to_have_count(1)
    expect(page.locator("h1")).to_be_focused()
    expect(page).to_have_url(f"{page.url.split('/reviews/')[0]}/reviews/{queue[1].pk}/")
    assert states() == ["approved", *["pending"] * 4]
    page.unroute("**/approve/**")
    page.keyboard.press("a")
    expect(page.locator("#announce")).to_have_text("Approved notes/2.md. Next: notes/3.md")
    assert states()[:3] == ["approved", "approved", "pending"]


def test_who_was_not_the_first_is_told_on_the_card(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = opened(signed_in, reviewer, queue)
    ann = factories.make_user("ann", first_name="Ann", is_superuser=True)
    decide.delete(user=ann, entry_id=queue[0].pk, version=1, text_hash=queue[0].text_id or "")
    page.keyboard.press("a")
    expect(page.locator("#main")).to_contain_text("Ann")
    heading(page, "notes/1.md")
    assert states() == ["deleting", *["pending"] * 4]


def test_without_a_connection_the_card_is_here_again(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = opened(signed_in, reviewer, queue)
    page.context.set_offline(True)
    page.keyboard.press("a")
    expect(page.locator("#alerts")).to_contain_text("Nothing was sent.")
    heading(page, "notes/1.md")
    assert states() == ["pending"] * 5


def test_moving_takes_what_is_there_and_back_is_back(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = opened(signed_in, reviewer, queue)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with page.expect_request(lambda request: request.url.endswith(f"/reviews/{queue[1].pk}/open/")):
        page.keyboard.press("j")
    heading(page, "notes/2.md")
    expect(page.locator("h1")).to_be_focused()
    assert not [url for url in asked if url.endswith(f"/reviews/{queue[1].pk}/")]
    page.go_back()
    heading(page, "notes/1.md")


def test_without_single_letters_none_decides(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    User.objects.update(letters=False)
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    for key in ("d", "a", "?", "j", "1"):
        page.keyboard.press(key)
    expect(page.locator("#actions kbd")).to_have_count(0)
    page.get_by_role("button", name="Approve").click()
    heading(page, "notes/2.md")
    page.keyboard.press("Control+z")
    heading(page, "notes/1.md")
    assert states() == ["pending"] * 5
