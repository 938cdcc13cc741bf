"""The one Chromium of a run of tests: a second one in the same process cannot be driven."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

# Playwright's sync interface runs an event loop in this thread; the tests' own use of the database is not async.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

# How long anything may take until it is seen. A machine with much else to do shows late what is right.
PATIENCE = 30_000  # ms
expect.set_options(timeout=PATIENCE)

CHROMIUM = os.environ.get("MEMADMIN_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        if os.environ.get("MEMADMIN_TEST_REQUIRE") == "all":
            pytest.fail("Chromium is not installed; the browser tests need it")
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, "--disable-sync"])
        yield browser
        browser.close()
