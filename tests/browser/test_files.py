"""Files in a browser: chosen, described, queued, watched; for everybody and on a phone, with and without script."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from playwright.sync_api import expect

from banks import connections
from banks.demo import DemoServer, DemoTransport, Pace
from banks.models import Bank, Write
from memadmin.accounts.models import User
from tests.banks.retaining import drain
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.test_access import problems

LONG = "a-very-long-name-of-a-file-" * 6


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "uploads"


@pytest.fixture
def bank(queue: list[Any]) -> Iterator[Bank]:
    bank: Bank = queue[0].bank
    server = DemoServer(None, pace=Pace.instant())
    connections.TRANSPORTS[bank.server.base_url] = DemoTransport(server)
    with connections.client_for(bank.server) as client:
        client.put_bank(bank.bank_id)
    yield bank
    del connections.TRANSPORTS[bank.server.base_url]


@pytest.fixture
def chosen(tmp_path: Path) -> list[Path]:
    notes, picture = tmp_path / f"{LONG}.md", tmp_path / "picture.png"
    notes.write_text("Ann moved to Lyon. Ben stayed.")
    picture.write_bytes(b"\x89PNG\xff" + b"x" * 200_000)
    return [notes, picture]


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_files_are_chosen_described_and_arrive(
    reviewer: User, bank: Bank, chosen: list[Path], signed_in: Open, script: bool
) -> None:
    page = signed_in(reviewer, f"/retain/files/?bank={bank.pk}", java_script_enabled=script)
    page.get_by_label("Files", exact=True).set_input_files(chosen)
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("heading", name="2 files for").wait_for()
    assert not Write.objects.filter(kind="retain-files").exists()
    page.get_by_label("Document id").first.fill("notes")
    page.get_by_label("When it happened").first.fill("monday")
    page.get_by_role("button", name="Retain 2 files").click()
    page.get_by_text("Not a time").wait_for()
    page.get_by_label("When it happened").first.fill("unset")
    page.get_by_role("button", name="Retain 2 files").click()
    page.get_by_text("2 files queued.").wait_for()
    drain(bank)
    if not script:
        page.get_by_role("link", name="Look again").click()
    expect(page.get_by_role("row", name="notes")).to_contain_text("in the bank, 2 facts")
    expect(page.get_by_role("row", name="picture.png")).to_contain_text("refused")
    expect(page.get_by_role("row", name="picture.png")).to_contain_text("Failed to parse")


def test_an_upload_shows_how_far_it_is_and_a_refusal_names_the_file(
    reviewer: User, bank: Bank, tmp_path: Path, signed_in: Open
) -> None:
    archive = tmp_path / "x.txt"
    archive.write_bytes(b"PK\x03\x04" + b"x" * 3_000_000)
    page = signed_in(reviewer, f"/retain/files/?bank={bank.pk}")
    page.evaluate(
        """() => {
          window.seen = [];
          new MutationObserver(() => window.seen.push(document.querySelector("[data-upload-progress]")?.textContent))
            .observe(document.getElementById("main"), { subtree: true, childList: true, characterData: true });
        }"""
    )
    page.get_by_label("Files", exact=True).set_input_files([archive])
    page.get_by_role("button", name="Upload").click()
    page.get_by_text("“x.txt”: It is an archive, whatever its name says").wait_for()
    seen = page.evaluate("window.seen")
    assert "Uploading" in seen[0]
    assert any("Arrived" in each for each in seen if each)
    expect(page.get_by_label("Bank")).to_have_value(str(bank.pk))


@pytest.mark.looks
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_its_pages_are_for_everybody(
    reviewer: User, bank: Bank, chosen: list[Path], signed_in: Open, viewport: dict[str, int]
) -> None:
    page = signed_in(reviewer, f"/retain/files/?bank={bank.pk}", viewport=viewport)
    assert problems(page) == []
    page.get_by_label("Files", exact=True).set_input_files(chosen)
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("heading", name="2 files for").wait_for()
    assert problems(page) == []
    page.get_by_role("button", name="Retain 2 files").click()
    page.get_by_text("2 files queued.").wait_for()
    assert problems(page) == []
    drain(bank)
    page.get_by_role("link", name="All files").click()
    page.get_by_text("Failed to parse").wait_for()
    assert problems(page) == []
