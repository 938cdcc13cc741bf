"""Text on its way through a browser's text area, and pages that stop asking when there is nothing more to hear."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone
from playwright.sync_api import Page, Request, expect

from banks import jobs
from banks.models import Job, Write
from memadmin.accounts.models import User
from reviews.importing.job import start_import
from reviews.models import ReviewEntry
from tests import factories
from tests.browser.conftest import Open
from tests.reviews.queue_files import add, as_bytes

pytestmark = pytest.mark.browser
TEXTS = [
    "\n\nTwo empty lines first.",
    "\r\n\r\nThe same, from another system.\r\n",
    "  Spaces before,\r\n\tand after  \n \n",
    "Mixed\r\nends\nof\rlines\n\n",
    "</textarea><script>document.title = 'owned'</script>\n&amp; &#10;",
]
TEN_MINUTES = 600_000


def opened(queue: list[ReviewEntry], reviewer: User, signed_in: Open, text: str, **options: Any) -> Page:
    entry = factories.make_entry(queue[0].bank, "notes/text.md", text=text)
    return signed_in(reviewer, f"/reviews/{entry.pk}/edit/", **options)


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_row_086_saving_without_a_change_is_no_difference_and_no_call(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open, script: bool
) -> None:
    page = opened(queue, reviewer, signed_in, TEXTS[0], java_script_enabled=script)
    for text in TEXTS:
        entry = factories.make_entry(queue[0].bank, text=text)
        page.goto(re.sub(r"/reviews/\d+/", f"/reviews/{entry.pk}/", page.url.split("edit/")[0] + "edit/"))
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#main")).to_contain_text("The text is the same as before, so nothing was sent.")
    assert not Write.objects.exists()


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:16])
def test_row_087_one_changed_word_is_all_that_changes(
    text: str, queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    page = opened(queue, reviewer, signed_in, text)
    word = re.findall(r"[A-Za-z]+", text)[-1] if "script" not in text else "title"
    field = page.locator("#text")
    field.fill(field.input_value().replace(word, "CHANGED", 1))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("notes/text.md")
    assert Write.objects.get().request.text == text.replace(word, "CHANGED", 1)


def asked(page: Page, part: str) -> list[str]:
    """Every request whose address holds this, from now on."""
    found: list[str] = []

    def note(request: Request) -> None:
        if part in request.url:
            found.append(request.url)

    page.on("request", note)
    return found


def test_row_097_a_card_that_is_loaded_asks_for_its_text_no_more(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open
) -> None:
    entry = queue[0]
    ReviewEntry.objects.filter(pk=entry.pk).update(load_state="loading", load_after=None)
    page = signed_in(reviewer, f"/reviews/{entry.pk}/")
    page.clock.install(time=timezone.now())
    page.reload()
    polls = asked(page, "poll=1")
    page.clock.run_for(3_000)
    expect(page.locator("[aria-busy]")).to_have_count(1)
    assert polls
    ReviewEntry.objects.filter(pk=entry.pk).update(load_state="loaded")
    page.clock.run_for(3_000)
    expect(page.locator("[aria-busy]")).to_have_count(0)
    expect(page.locator(".memory")).to_contain_text("Memory number 1.")
    polls.clear()
    page.clock.run_for(TEN_MINUTES)
    assert polls == []


def test_row_097_an_import_that_has_ended_is_asked_about_no_more(
    queue: list[ReviewEntry], reviewer: User, signed_in: Open, settings: LazySettings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    lines = as_bytes([add("new", bank="checkout-service", baseUrl=queue[0].bank.server.base_url)])
    job = start_import(owner=reviewer, machine="laptop", chunks=[lines], here=True)
    page = signed_in(reviewer, f"/imports/{job.pk}/")
    page.clock.install(time=timezone.now())
    page.reload()
    polls = asked(page, f"/imports/{job.pk}/")
    page.clock.run_for(3_000)
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    assert polls
    assert jobs.run(job.pk) == Job.State.DONE
    page.clock.run_for(3_000)
    expect(page.get_by_text("1 line read.")).to_be_visible()
    polls.clear()
    page.clock.run_for(TEN_MINUTES)
    assert polls == []
