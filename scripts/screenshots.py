"""Takes the pictures of the README from a fresh demo: `python scripts/screenshots.py [FOLDER]`."""

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
USER = "mira"


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    password = secrets.token_urlsafe(12)
    with tempfile.TemporaryDirectory() as data_dir:
        env = {
            **os.environ,
            "MEMADMIN_DATA_DIR": data_dir,
            "MEMADMIN_ADMIN_USERNAME": USER,
            "MEMADMIN_ADMIN_PASSWORD": password,
            "PYTHONPATH": str(ROOT),
        }
        command = [sys.executable, "-m", "memadmin", "up", "--port", "0", "--hindsight", "demo"]
        up = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        try:
            take(address_of(up), password, folder)
        finally:
            up.terminate()
            up.wait()


def address_of(up: "subprocess.Popen[str]") -> str:
    assert up.stdout is not None
    for line in up.stdout:
        if found := re.search(r"memadmin is ready: (\S+)/$", line):
            return found[1]
    sys.exit("memadmin did not start.")


def take(address: str, password: str, folder: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport=DESKTOP, color_scheme=scheme)  # type: ignore[arg-type]  # one of two
            page = context.new_page()
            sign_in(page, address, password)
            shoot(page, folder, "" if scheme == "light" else "-dark")
            page.set_viewport_size(PHONE)  # type: ignore[arg-type]  # a dict with these keys
            page.goto(f"{address}/reviews/")
            page.screenshot(path=folder / f"phone{'' if scheme == 'light' else '-dark'}.png")
            context.close()
        browser.close()


def sign_in(page: Page, address: str, password: str) -> None:
    page.goto(f"{address}/accounts/login/")
    page.get_by_label("Name or e-mail").fill(USER)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    # The workers load the sample memories in the first seconds.
    for _ in range(60):
        page.goto(f"{address}/reviews/")
        # One sample line names a document that does not exist: it goes on loading for a while.
        if page.locator(".rows .row").count() >= 10 and page.locator('.row[data-state="loading"]').count() <= 1:
            return
        page.wait_for_timeout(500)
    sys.exit("The queue did not fill.")


def shoot(page: Page, folder: Path, suffix: str) -> None:
    page.screenshot(path=folder / f"queue{suffix}.png")
    page.locator(".rows .row a").first.click()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=folder / f"card{suffix}.png")
    page.goto(page.url.split("/reviews/")[0] + "/")
    page.screenshot(path=folder / f"overview{suffix}.png")


if __name__ == "__main__":
    main()
