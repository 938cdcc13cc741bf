"""The command line: tables for people, JSON for programs, exit codes for both."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from banks.models import Bank, Server
from memadmin import cli
from memadmin.accounts.models import LoginLink
from reviews.models import ReviewEntry
from tests import factories
from tests.stack.support import ROOT, clean_environment

NOW = datetime(2026, 3, 16, 10, 0, tzinfo=UTC)


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


# ── expire ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def due(bank: Bank) -> ReviewEntry:
    return factories.make_entry(bank, expires_at=timezone.now() - timedelta(minutes=1))


def test_expire_approves_what_is_past_its_time(due: ReviewEntry, bank: Bank) -> None:
    later = factories.make_entry(bank, expires_at=timezone.now() + timedelta(days=1))

    told = json.loads(run("expire", "--json"))

    due.refresh_from_db()
    later.refresh_from_db()
    assert told["approved"] == 1
    assert due.state == ReviewEntry.State.APPROVED
    assert later.state == ReviewEntry.State.PENDING


def test_a_dry_run_changes_nothing(due: ReviewEntry) -> None:
    assert json.loads(run("expire", "--dry-run", "--json"))["would_approve"] == 1
    due.refresh_from_db()
    assert due.state == ReviewEntry.State.PENDING


def test_expire_takes_a_time(due: ReviewEntry) -> None:
    assert json.loads(run("expire", "--at", "2020-01-01", "--json"))["approved"] == 0
    assert "at" in run("expire", "--at", "2020-01-01T00:00:00+02:00")


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01"])
def test_what_is_no_time_is_refused(db: None, text: str) -> None:
    with pytest.raises(CommandError, match="--at"):
        run("expire", "--at", text)


# ── login-link ───────────────────────────────────────────────────────────────────────────────────────────────


def test_login_link_makes_the_first_operator_and_files_the_link(db: None, settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path

    told = json.loads(run("login_link", "--json"))

    assert told["signs_in"] == "admin"
    assert "/accounts/link/" in Path(told["link_file"]).read_text()
    assert LoginLink.objects.count() == 1


def test_login_link_names_the_people_when_there_is_no_such_one(db: None) -> None:
    factories.make_user("mira")

    with pytest.raises(CommandError, match=r"nobody called lena\. There is: mira"):
        run("login_link", "lena")


# ── the command itself ───────────────────────────────────────────────────────────────────────────────────────


def test_own_names_have_dashes_and_everything_of_django_is_there() -> None:
    assert cli._module("import-queue", ["f"]) == "import_queue"
    assert cli._module("check", []) == "diagnose"
    assert cli._module("check", ["--json"]) == "diagnose"
    assert cli._module("check", ["--strict"]) == "diagnose"
    assert cli._module("check", ["--deploy"]) == "check"
    assert cli._module("migrate", []) == "migrate"


def test_without_a_command_the_own_ones_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0

    listed = capsys.readouterr().out
    assert all(name in listed for name in cli.OWN)


def test_it_runs_from_any_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memadmin", "makemigrations", "--check", "--dry-run"],
        cwd=tmp_path,
        env=clean_environment(tmp_path / "var"),
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    assert "No changes detected" in done.stdout
    assert tmp_path != ROOT


def test_the_first_command_registers_the_server_of_the_environment(db: None, settings) -> None:
    settings.HINDSIGHT_BASE_URL = "http://memory.example"

    run("export", "reviews")

    assert Server.objects.get().base_url == "http://memory.example"


def test_a_database_that_was_not_prepared_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memadmin", "export", "reviews"],
        env=clean_environment(tmp_path / "var"),
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert "`memadmin prepare` makes it so" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["no-such-command"], ["expire", "--at", "yesterday"]])
def test_what_cannot_be_done_is_a_sentence_and_an_exit_code(tmp_path: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memadmin", *arguments],
        env=clean_environment(tmp_path / "var"),
        capture_output=True,
        text=True,
    )

    assert done.returncode != 0
    assert "Traceback" not in done.stderr
