"""The log narrowed in place, and without JavaScript; its address is the question either way."""

import re

import pytest
from playwright.sync_api import expect

from banks.models import Bank, Write
from memadmin.accounts.models import User
from tests.banks.log_rows import make_row
from tests.browser.conftest import PHONE, Open


@pytest.fixture
def rows(queue: list, reviewer: User) -> list[Write]:
    bank = Bank.objects.get()
    return [
        make_row(bank, "notes/flags.md", kind="edit", actor=reviewer, actor_name="Mira Kovač"),
        make_row(bank, "notes/ports.md", kind="retire", fact_ids=["f1"], params={"reason": "they moved"}),
        make_row(bank, "notes/flags.md", kind="approve", via="expiry"),
    ]


def test_what_is_typed_and_chosen_narrows_the_list_in_place(rows: list[Write], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, "/log/")
    lines = page.locator(".log > li")
    expect(lines).to_have_count(3)
    page.keyboard.press("/")
    page.keyboard.type("flags")
    expect(lines).to_have_count(2)
    expect(page.get_by_placeholder("Search ids, texts, errors")).to_be_focused()
    page.get_by_label("Kind").select_option("edit")
    expect(lines).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/log/\?kind=edit&q=flags$"))
    expect(page.get_by_role("link", name="Export CSV")).to_have_attribute("href", "/log/export.csv?kind=edit&q=flags")
    page.go_back()
    expect(page).to_have_url(re.compile(r"/log/\?q=flags$"))
    expect(lines).to_have_count(2)
    expect(page.get_by_label("Kind")).to_have_value("")


def test_a_shared_address_asks_the_same_without_javascript(rows: list[Write], reviewer: User, signed_in: Open) -> None:
    page = signed_in(reviewer, "/log/?kind=edit", java_script_enabled=False, viewport=PHONE)
    lines = page.locator(".log > li")
    expect(lines).to_have_count(1)
    page.get_by_label("Kind").select_option("")
    page.get_by_text("More filters").click()
    page.get_by_label("Fact, its whole id").fill("f1")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile(r"/log/\?fact=f1$"))
    expect(lines).to_have_count(1)
    page.get_by_role("link", name="leave out").click()
    expect(lines).to_have_count(3)
