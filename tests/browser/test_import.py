"""Imports in a browser: upload, progress that ends by itself, report; for everybody and on a phone."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.urls import reverse

from banks import jobs
from banks.models import Job, Role
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from tests import factories
from tests.browser.conftest import DESKTOP, PHONE, Open
from tests.browser.test_access import problems
from tests.reviews.queue_files import add, as_bytes, import_lines

LONG = "session/" + "a-very-long-name-" * 30


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "uploads"


@pytest.fixture
def file(queue: list[ReviewEntry], tmp_path: Path) -> Path:
    bank = queue[0].bank
    lines = [
        add("fresh", bank=bank.bank_id, baseUrl=bank.server.base_url),
        "{ torn \u202e" + "x" * 600,
        add(LONG, bank="nowhere", baseUrl="http://localhost:8888"),
        add("", bank="also/nowhere", baseUrl="http://" + "x" * 400),
    ]
    path = tmp_path / "review-queue.jsonl"
    path.write_bytes(as_bytes(lines))
    return path


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_file_is_imported_by_hand(reviewer: User, file: Path, signed_in: Open, script: bool) -> None:
    page = signed_in(reviewer, reverse("reviews:import-new"), java_script_enabled=script)
    page.get_by_label("File").set_input_files(file)
    page.get_by_label("Machine").fill("laptop")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Waiting for a worker").wait_for()
    assert jobs.run(Job.objects.get().pk) == "done"
    if not script:
        page.get_by_role("link", name="Look again").click()
    page.get_by_text("4 lines read.").wait_for()
    assert page.get_by_role("link", name="Look again").count() == 0
    page.get_by_role("link", name="Parked 2").click()
    assert page.get_by_text("No registered server and bank").count() >= 1


@pytest.mark.looks
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_of_imports_shuts_anybody_out(
    queue: list[ReviewEntry], reviewer: User, file: Path, signed_in: Open, viewport: Any
) -> None:
    page = signed_in(reviewer, reverse("reviews:import-list"), viewport=viewport)
    found = {"empty list": problems(page)}
    factories.grant(reviewer, queue[0].bank.server, Role.ADMIN)
    job = import_lines(file.read_bytes(), reviewer)
    waiting = jobs.start(kind="import-queue", owner=reviewer, title="Queue file of the other laptop", params={})
    failed = jobs.start(kind="import-queue", owner=reviewer, title="Queue file", params={})
    Job.objects.filter(pk=failed.pk).update(state="failed", error="The uploaded file is gone. Send it again.")
    for name, path in {
        "list": reverse("reviews:import-list"),
        "form": reverse("reviews:import-new"),
        "report": reverse("reviews:import-detail", args=[job.pk]),
        "parked lines": f"{reverse('reviews:import-detail', args=[job.pk])}?lines=parked",
        "waiting": reverse("reviews:import-detail", args=[waiting.pk]),
        "failed": reverse("reviews:import-detail", args=[failed.pk]),
        "parked": reverse("reviews:parked-list"),
    }.items():
        page.goto(page.url.split("/imports/")[0] + path)
        found[name] = problems(page)
    assert {name: said for name, said in found.items() if said} == {}
