"""Retaining by hand in a browser: by keys, with a preview that follows what is typed, and without a script."""

import pytest
from playwright.sync_api import expect

from banks.models import Bank, Job, RetainItem, Role
from memadmin.accounts.models import User
from tests import factories
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.test_access import problems

HERE = "/retain/new/"


@pytest.fixture
def bank(reviewer: User) -> Bank:
    bank = factories.make_bank("checkout-service", name="Checkout service", server=factories.make_server(health="ok"))
    factories.grant(reviewer, bank, Role.REVIEWER)
    return bank


def test_it_is_written_previewed_and_sent_by_keys(bank: Bank, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"{HERE}?bank={bank.pk}")
    page.get_by_label("Content").focus()
    page.keyboard.type("Ann moved to Lyon.")
    preview = page.get_by_role("region", name="Preview")
    expect(preview.locator("pre")).to_contain_text('"content": "Ann moved to Lyon."')
    page.get_by_label("Tags", exact=True).fill("user:ann\ntopic:home")
    page.get_by_text("Time, metadata, entities").click()
    page.get_by_role("combobox", name="Observations").select_option("per_tag")
    expect(preview).to_contain_text("Memory 1 is worked into 2 scopes")
    page.get_by_role("button", name="Add a memory").press("Enter")
    second = page.get_by_role("group", name="Memory 2")
    expect(second.get_by_label("Content")).to_be_focused()
    page.keyboard.type("Ben stayed.")
    expect(preview.locator("pre")).to_contain_text("Ben stayed.")
    expect(page.get_by_role("group", name="Memory 1").get_by_label("Tags", exact=True)).to_have_value(
        "user:ann\ntopic:home"
    )
    assert not RetainItem.objects.exists()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Retain 2 memories")).to_be_visible()
    first, other = RetainItem.objects.order_by("pk")
    assert (first.tags, first.observation_scopes, other.content.text) == (
        ["user:ann", "topic:home"],
        "per_tag",
        "Ben stayed.",
    )


def test_enter_in_a_field_previews_and_takes_nothing_out(bank: Bank, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, f"{HERE}?bank={bank.pk}", java_script_enabled=False)
    page.get_by_label("Content").fill("Ann came.")
    page.get_by_role("button", name="Add a memory").click()
    page.get_by_role("group", name="Memory 2").get_by_label("Content").fill("Ben came.")
    page.get_by_role("group", name="Memory 1").get_by_label("Context", exact=True).press("Enter")
    expect(page.get_by_role("region", name="Preview").locator("pre")).to_contain_text("Ben came.")
    assert (RetainItem.objects.count(), Job.objects.count()) == (0, 0)


def test_it_works_without_a_script(bank: Bank, reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, HERE, java_script_enabled=False)
    page.get_by_label("Bank", exact=True).select_option(index=1)
    page.get_by_label("Content").fill("Ann moved to Lyon.")
    page.get_by_label("Update").select_option("append")
    page.get_by_role("button", name="Queue 1 memory").click()
    expect(page.locator("#retain-problems")).to_contain_text("Memory 1, Update: To append needs the document_id")
    page.get_by_role("link", name="Memory 1, Update").click()
    page.get_by_label("Document id").fill("notes/ann.md")
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_role("button", name="Look again")).to_be_visible()
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_label("Content")).to_have_value("Ann moved to Lyon.")
    page.get_by_label("Afterwards").select_option("wait")
    page.get_by_role("button", name="Queue 1 memory").click()
    expect(page.get_by_text("This page waits until the bank has them.")).to_be_visible()
    assert RetainItem.objects.get().update_mode == "append"


@pytest.mark.looks
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_is_for_everybody(bank: Bank, reviewer: User, signed_in: Open, viewport: dict[str, int]) -> None:
    page = signed_in(reviewer, f"{HERE}?bank={bank.pk}", viewport=viewport)
    page.get_by_label("Content").fill("Ann moved to Lyon. " * 60)
    page.get_by_label("Document id").fill("a-very-long-name-" * 12)
    page.get_by_label("When").evaluate("each => { each.value = 'yesterday'; }")
    page.get_by_label("Tags", exact=True).fill("user:ann")
    page.get_by_role("button", name="Add a memory").click()
    page.get_by_role("button", name="Queue 2 memories").click()
    expect(page.locator("#retain-problems")).to_contain_text("Memory 1, When")
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true; }")
    assert problems(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("When").first.fill("unset")
    page.get_by_role("group", name="Memory 2").get_by_label("Content").fill("x")
    expect(page.get_by_role("region", name="Preview").locator("pre")).to_contain_text("unset")
    assert problems(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Queue 2 memories").click()
    expect(page.get_by_role("heading", name="Retain 2 memories")).to_be_visible()
    assert problems(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
