"""An agent's log in a browser: uploaded, read, a prompt shown in its place, a row restored by its key."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from playwright.sync_api import expect

from banks import jobs
from banks.models import Bank, Job, Role, Write
from memadmin.accounts.models import User
from tests import factories
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.test_access import problems
from tests.reviews.log_files import CUT, KILL_A, KILL_B, as_bytes, entry, import_log, recall, restore, retained, retire


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "uploads"


@pytest.fixture
def bank(reviewer: User) -> Bank:
    bank = factories.make_bank("checkout-service", name="Checkout service", server=factories.make_server(health="ok"))
    factories.grant(reviewer, bank, Role.ADMIN)
    return bank


LINES = [
    recall(),
    retained(CUT),
    entry("error", stage="compact: inline write", message="POST x -> 500"),
    retire(KILL_A, KILL_B),
    restore(KILL_B),
    "torn",
    entry("futuretype", message="hm"),
]


def test_a_log_is_uploaded_and_its_rows_are_found(signed_in: Open, reviewer: User, bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(as_bytes(LINES))
    page = signed_in(reviewer, "/imports/")
    page.get_by_role("link", name="Import a log").click()
    page.get_by_label("Bank").select_option(str(bank.pk))
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    jobs.run(Job.objects.get().pk)
    expect(page.get_by_text("7 lines read.")).to_be_visible()
    page.get_by_role("link", name="Show them in the log").click()
    expect(page.locator(".log .entry")).to_have_count(6)


def test_a_prompt_is_shown_in_its_place_and_not_kept(signed_in: Open, reviewer: User, bank: Bank) -> None:
    import_log(LINES, reviewer, bank)
    row = Write.objects.get(kind="recall")
    page = signed_in(reviewer, f"/log/{row.pk}/")
    expect(page.get_by_text("hunter2")).to_have_count(0)
    page.get_by_role("button", name="Show it, and say so in the log").click()
    expect(page.get_by_text("hunter2")).to_be_visible()
    expect(page.get_by_role("heading", name="The prompt")).to_be_focused()
    assert Write.objects.filter(kind="look").count() == 1
    page.goto(page.url)
    expect(page.get_by_text("hunter2")).to_have_count(0)


def test_without_a_script_it_is_a_page_of_its_own(signed_in: Open, reviewer: User, bank: Bank) -> None:
    import_log(LINES, reviewer, bank)
    row = Write.objects.get(kind="recall")
    page = signed_in(reviewer, f"/log/{row.pk}/", java_script_enabled=False)
    page.get_by_role("button", name="Show it, and say so in the log").click()
    expect(page.get_by_text("hunter2")).to_be_visible()
    page.get_by_role("link", name="Back to the row").click()
    expect(page.get_by_text("hunter2")).to_have_count(0)


def test_u_restores_what_a_line_retired(signed_in: Open, reviewer: User, bank: Bank) -> None:
    import_log(LINES, reviewer, bank)
    page = signed_in(reviewer, "/log/?kind=retire")
    page.keyboard.press("j")
    page.keyboard.press("u")
    expect(page.get_by_text("Restoring 1 fact.")).to_be_visible()
    write = Write.objects.get(kind="restore", via="web")
    assert (write.fact_ids, write.actor) == (["fact-a"], reviewer)


@pytest.mark.looks
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_of_it_shuts_anybody_out(signed_in: Open, reviewer: User, bank: Bank, viewport: Any) -> None:
    lines = [*LINES, recall("w" * 900, reason="r" * 900), retire({**KILL_A, "id": "f" * 300})]
    job = import_log(lines, reviewer, bank)
    page = signed_in(reviewer, "/imports/log/", viewport=viewport)
    origin, found = page.url.partition("/imports/")[0], {"form": problems(page)}
    rows = [Write.objects.filter(kind=kind).latest("pk") for kind in ("retain", "retire", "error", "recall")]
    for path in (f"/imports/{job.pk}/", "/log/", *(f"/log/{row.pk}/" for row in rows)):
        page.goto(origin + path)
        found[path] = problems(page)
    page.get_by_role("button", name="Show it, and say so in the log").click()
    expect(page.get_by_text("hunter2")).to_be_visible()
    found["prompt"] = problems(page)
    assert {path: each for path, each in found.items() if each} == {}
