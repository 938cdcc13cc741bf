"""Undo by keys: back over all that was done, refused where a colleague was there, and never inside a field."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from banks.models import Blob, Write
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from reviews.services import decide
from tests import factories
from tests.browser.conftest import PHONE, Open

FACT = {"id": "f1", "text": "Ann keeps the ledger.", "type": "world", "state": "valid"}
TITLE = "[title^='Undo:']"


@pytest.fixture
def queue(queue: list[ReviewEntry]) -> list[ReviewEntry]:
    """The second has a fact."""
    ReviewEntry.objects.filter(pk=queue[1].pk).update(facts=Blob.objects.store(json.dumps([FACT])), fact_count=1)
    return queue


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def rows() -> list[tuple[Any, ...]]:
    return list(Write.objects.order_by("pk").values_list("kind", "state"))


def test_back_over_all_that_was_done(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    page.keyboard.press("a")
    heading(page, "notes/2.md")
    page.keyboard.press("1")
    page.keyboard.press("r")
    page.keyboard.type("it died")
    page.keyboard.press("Control+z")  # inside a field it is the field's
    page.keyboard.type("it died")
    page.keyboard.press("Enter")
    expect(page.get_by_text("retiring, Mira Kovač")).to_be_visible()
    page.keyboard.press("d")
    heading(page, "notes/3.md")
    expect(page.locator(TITLE)).to_have_attribute("title", "Undo: delete of notes/2.md")
    page.keyboard.press("u")
    heading(page, "notes/2.md")
    said = page.locator(".pane .notice").first
    expect(said).to_contain_text("Taken back: delete of notes/2.md. Before that: retire of 1 fact in notes/2.md (u).")
    page.keyboard.press("u")
    expect(said).to_contain_text("Taken back: retire of 1 fact in notes/2.md. Before that: approve of notes/1.md (u).")
    expect(page.get_by_text("retiring, Mira Kovač")).to_have_count(0)
    page.keyboard.press("Control+z")
    heading(page, "notes/1.md")
    expect(page.locator(TITLE)).to_have_count(0)
    assert rows() == [
        *[("approve", "done"), ("retire", "cancelled"), ("delete", "cancelled")],
        *[("undo", "done")] * 3,
    ]
    assert set(ReviewEntry.objects.values_list("state", flat=True)) == {"pending"}


def test_a_colleague_was_there(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    ann = factories.make_user("ann", first_name="Ann", is_superuser=True)
    page = signed_in(reviewer, f"/reviews/{queue[0].pk}/")
    page.keyboard.press("a")
    heading(page, "notes/2.md")
    page.keyboard.press("a")
    heading(page, "notes/3.md")
    decide.undo(user=ann, entry_id=queue[1].pk)
    page.keyboard.press("Control+z")
    refused = page.get_by_role("alert").filter(has_text="Not taken back: approve of notes/2.md.")
    expect(refused).to_contain_text("Ann took it back already. Nothing was changed.")
    heading(page, "notes/3.md")
    page.keyboard.press("u")
    heading(page, "notes/1.md")
    assert list(ReviewEntry.objects.order_by("pk").values_list("state", flat=True)) == ["pending"] * 5


def test_from_the_list_and_from_the_log(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    for entry in queue[:2]:
        decide.approve(user=reviewer, entry_id=entry.pk, version=1, text_hash=str(entry.text_id))
    Write.objects.update(occurred_at=queue[0].created)  # no toast
    page = signed_in(reviewer, "/log/")
    page.keyboard.press("u")  # the letter is of the row one stands on
    page.keyboard.press("Control+z")
    heading(page, "notes/2.md")
    expect(page.get_by_text("Taken back: approve of notes/2.md.")).to_be_visible()
    page.goto(page.url.split("/reviews/")[0] + "/reviews/")
    page.keyboard.press("u")
    heading(page, "notes/1.md")
    assert [kind for kind, _ in rows()] == ["approve", "approve", "undo", "undo"]


def test_without_script_on_a_phone(queue: list[ReviewEntry], reviewer: User, signed_in: Open) -> None:
    entry = queue[0]
    decide.approve(user=reviewer, entry_id=entry.pk, version=1, text_hash=str(entry.text_id))
    page = signed_in(reviewer, "/log/", java_script_enabled=False, viewport=PHONE)
    page.get_by_role("link", name="Your last actions").click()
    heading(page, "Your last actions")
    page.get_by_role("button", name="Undo").click()
    heading(page, "notes/1.md")
    assert Write.objects.get(kind="undo").undo_of == Write.objects.get(kind="approve")
