"""A session of an agent in a browser: file, preview, confirmation; for everybody and on a phone."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.urls import reverse

from banks.models import RetainItem
from memadmin.accounts.models import User
from tests.banks.transcripts import as_file, header, pi
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.test_access import problems

LONG = "a-very-long-session-name-" * 7


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "uploads"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    answer = [{"type": "text", "text": "To Lyon, I see. " + "word " * 900}]
    path.write_bytes(
        as_file(
            header(LONG),
            pi("a", None, "user", "Move Ann to Lyon. \u202eHidden."),
            pi("b", "a", "assistant", answer),
            pi("c", "b", "toolResult", "ok"),
            "{ torn " + "x" * 400,
        )
    )
    return path


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_session_is_looked_at_and_retained(
    reviewer: User, queue: list[Any], file: Path, signed_in: Open, script: bool
) -> None:
    page = signed_in(reviewer, reverse("banks:transcript-new"), java_script_enabled=script)
    page.get_by_label("Bank").select_option(index=1)
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Show the documents").click()
    page.get_by_text("Nothing is stored yet.").wait_for()
    assert not RetainItem.objects.exists()
    page.get_by_role("button", name="Retain 1 document").click()
    page.get_by_text("1 memory queued.").wait_for()
    assert RetainItem.objects.get().document_id == LONG


@pytest.mark.looks
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_its_pages_are_for_everybody(
    reviewer: User, queue: list[Any], file: Path, signed_in: Open, viewport: dict[str, int]
) -> None:
    page = signed_in(reviewer, reverse("banks:transcript-new"), viewport=viewport)
    assert problems(page) == []
    page.get_by_label("Bank").select_option(index=1)
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Show the documents").click()
    page.get_by_text("Nothing is stored yet.").wait_for()
    page.get_by_text("Lines that cannot be read").last.click()
    assert problems(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
