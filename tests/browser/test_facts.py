"""Facts by keys: select, retire with a reason, restore; on the card, the log and in the archive."""

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from banks.models import Blob, Write
from memadmin.accounts.models import User
from reviews.models import FactDecision, ReviewEntry
from tests.browser.conftest import PHONE, Open
from tests.reviews.retired import retired

FACTS = [
    {"id": "f1", "text": "Ann keeps the ledger.", "type": "world", "state": "valid"},
    {"id": "f2", "text": "Ben reads it.", "type": "world", "state": "valid"},
    {"id": "f3", "text": "Cara left.", "type": "world", "state": "invalidated", "invalidation_reason": "she is back"},
    {"id": "o1", "text": "They audit.", "type": "observation", "state": "valid", "source_fact_ids": ["f1", "f2"]},
]
WHY = "Why is it no longer true?"
# Whether the list would ask for itself now.
WOULD_ASK = """() => {
    const box = document.getElementById("facts-box");
    const detail = {elt: box, target: box, requestConfig: {elt: box, verb: "get"}};
    return box.dispatchEvent(new CustomEvent("htmx:beforeRequest", {bubbles: true, cancelable: true, detail}));
}"""


@pytest.fixture
def entry(queue: list[ReviewEntry]) -> ReviewEntry:
    entry = queue[0]
    ReviewEntry.objects.filter(pk=entry.pk).update(facts=Blob.objects.store(json.dumps(FACTS)), fact_count=3)
    return entry


def selected(page: Page) -> str | None:
    return page.evaluate("document.querySelector('.fact > :checked')?.value ?? null")  # type: ignore[no-any-return]


def test_retiring_and_restoring_by_keys(entry: ReviewEntry, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{entry.pk}/")
    page.keyboard.press("r")  # nothing is selected, so nothing is retired
    expect(page.locator("#alerts")).to_have_text("Select a fact first, by its number.")
    page.keyboard.press("2")
    expect(page.locator("#alerts")).to_be_empty()
    assert selected(page) == "f2"
    page.keyboard.press("ArrowUp")
    assert selected(page) == "f1"
    page.keyboard.press("2")
    page.keyboard.press("r")
    expect(page.get_by_role("textbox", name=WHY)).to_be_focused()
    page.keyboard.type("are you left")  # letters that are keys elsewhere
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Retiring “Ben reads it.”.")).to_be_visible()
    expect(page.get_by_text("retiring, Mira Kovač")).to_be_visible()
    assert selected(page) == "f2"
    write = Write.objects.get()
    assert (write.kind, write.fact_ids, write.params["reason"]) == ("retire", ["f2"], "are you left")
    page.keyboard.press("3")
    page.keyboard.press("Shift+R")
    expect(page.get_by_text("restoring, Mira Kovač")).to_be_visible()
    assert Write.objects.get(kind="restore").fact_ids == ["f3"]
    page.keyboard.press("4")
    page.keyboard.press("r")
    expect(page.get_by_text("retire or change those")).to_be_visible()
    assert Write.objects.count() == 2


def test_the_list_follows_a_write_but_not_while_a_reason_is_typed(
    entry: ReviewEntry, reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, f"/reviews/{entry.pk}/")
    page.keyboard.press("1")
    page.keyboard.press("r")
    page.keyboard.type("gone")
    page.keyboard.press("Enter")
    expect(page.get_by_text("retiring, Mira Kovač")).to_be_visible()
    page.keyboard.press("2")
    page.keyboard.press("r")
    page.keyboard.type("half a rea")
    facts = [{**FACTS[0], "state": "invalidated", "invalidation_reason": "gone"}, *FACTS[1:]]
    Write.objects.update(state="done", outcome={"retired": ["f1"]})
    ReviewEntry.objects.filter(pk=entry.pk).update(facts=Blob.objects.store(json.dumps(facts)))
    assert page.evaluate(WOULD_ASK) is False
    expect(page.get_by_role("textbox", name=WHY)).to_have_value("half a rea")
    page.keyboard.press("Escape")
    expect(page.get_by_text("“gone”")).to_be_visible()
    expect(page.get_by_text("retiring, Mira Kovač")).to_have_count(0)
    assert selected(page) == "f2"


def test_a_list_that_was_on_its_way_does_not_take_the_field_away(
    entry: ReviewEntry, reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, f"/reviews/{entry.pk}/")
    page.keyboard.press("1")
    page.keyboard.press("r")
    page.keyboard.type("gone")
    held: list[Route] = []
    page.route(re.compile(r"/facts/\?"), lambda route: held.append(route))
    with page.expect_request(re.compile(r"/facts/\?")):
        page.keyboard.press("Enter")  # the new list asks after a while, and waits for its answer
    Write.objects.update(state="done", outcome={"retired": ["f1"]})
    page.keyboard.press("2")
    page.keyboard.press("r")
    page.keyboard.type("half a rea")
    with page.expect_response(re.compile(r"/facts/\?")) as answered:
        held[0].continue_()
    expect(page.locator("#facts-box.htmx-request")).to_have_count(0)
    assert answered.value.status == 200  # a new list
    expect(page.get_by_role("textbox", name=WHY)).to_have_value("half a rea")
    expect(page.get_by_text("retiring, Mira Kovač")).to_be_visible()
    page.keyboard.press("Enter")  # what the form sends is answered with the list
    expect(page.get_by_text("Retiring “Ben reads it.”.")).to_be_visible()
    assert Write.objects.order_by("-pk")[0].params["reason"] == "half a rea"


def test_a_reason_is_taken_while_the_bank_is_asked_what_rests_on_the_fact(
    entry: ReviewEntry, reviewer: User, signed_in: Open
) -> None:
    page = signed_in(reviewer, f"/reviews/{entry.pk}/")
    page.route(re.compile(r"/impact/"), lambda route: None)  # its answer does not come
    page.keyboard.press("1")
    with page.expect_request(re.compile(r"/impact/")):
        page.keyboard.press("r")
    page.keyboard.type("gone")
    page.keyboard.press("Enter")
    expect(page.get_by_text("retiring, Mira Kovač")).to_be_visible()


def test_editing_a_fact(entry: ReviewEntry, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{entry.pk}/")
    page.keyboard.press("1")
    page.get_by_role("link", name="Edit fact").click()
    expect(page.locator("#text")).to_have_value("Ann keeps the ledger.")
    page.locator("#text").fill("Ann keeps the books.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("changing its text, Mira Kovač")).to_be_visible()
    assert Write.objects.get().request.text == "Ann keeps the books."
    page.go_back()
    expect(page.locator("h1")).to_be_visible()


def test_a_row_of_the_log_is_undone_by_its_key(entry: ReviewEntry, reviewer: User, signed_in: Open) -> None:
    for number in (1, 2):
        Write.objects.create(
            kind="retire", bank=entry.bank, via="web", slot=f"s{number}", state="done", document_id=f"{number}.md",
            fact_ids=[f"f{number}"], outcome={"retired": [f"f{number}"], "refused": {}}, actor=reviewer,
        )  # fmt: skip
    page = signed_in(reviewer, "/log/")
    page.keyboard.press("u")  # no row is selected
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("u")
    expect(page.get_by_text("Restoring 1 fact.")).to_be_visible()
    assert Write.objects.get(kind="restore").fact_ids == ["f1"]


def test_the_archive_by_keys_and_in_bulk(entry: ReviewEntry, reviewer: User, signed_in: Open) -> None:
    for number in range(1, 4):
        retired(entry.bank, number)
    page = signed_in(reviewer, "/facts/retired/")
    page.keyboard.press("j")
    page.keyboard.press("u")
    expect(page.get_by_text("Restoring it.")).to_be_visible()
    assert Write.objects.get().fact_ids == ["f3"]
    page.get_by_label("All on this page").check()
    page.get_by_role("button", name="Restore the selected").click()
    page.wait_for_url(re.compile(r"/facts/retired/jobs/\d+/"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Restore 3 facts")
    assert FactDecision.objects.filter(verdict="retired").count() == 3


def test_without_script_on_a_phone(entry: ReviewEntry, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"/reviews/{entry.pk}/", java_script_enabled=False, viewport=PHONE)
    page.get_by_label("Ann keeps the ledger.").check()
    page.locator("summary:visible", has_text="Retire…").click()
    page.get_by_role("textbox", name=WHY).fill("It died.")
    page.get_by_role("button", name="Retire this fact").click()
    expect(page.get_by_text("retiring, Mira Kovač")).to_be_visible()
    assert Write.objects.get().params["reason"] == "It died."
