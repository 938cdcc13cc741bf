"""`memadmin import-log`."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from banks.models import Bank, Job
from memadmin.cli import OWN
from tests import factories
from tests.conftest import People
from tests.reviews.log_files import as_bytes, recall, retained, rows


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return tmp_path / "uploads"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(as_bytes([recall(), "torn", retained()]))
    return path


def run(*arguments: Any) -> str:
    output = io.StringIO()
    call_command("import_log", *map(str, arguments), stdout=output)
    return output.getvalue()


def test_the_file_is_imported_and_reported(bank: Bank, people: People, log: Path, uploads: Path) -> None:
    said = run(log, "--bank", "checkout-service")
    assert re.search("accepted +2 +are new rows of the write log", said)
    assert "line 2: not JSON" in said
    assert [row.kind for row in rows()] == ["recall", "retain"]
    assert Job.objects.get().owner == people.operator
    assert list(uploads.iterdir()) == []
    assert "hunter2" not in said
    assert "import-log" in OWN


def test_json_for_programs(bank: Bank, people: People, log: Path) -> None:
    found = json.loads(run(log, "--bank", "checkout-service", "--json"))
    assert (found["accepted"], found["skipped"], found["kinds"]) == (2, 1, {"recall": 1, "retain": 1})
    assert found["skipped_lines"] == [{"line": 2, "why": "not JSON"}]


def test_strict_makes_left_out_lines_an_error(bank: Bank, people: People, log: Path) -> None:
    with pytest.raises(SystemExit) as end:
        run(log, "--bank", "checkout-service", "--strict")
    assert end.value.code == 1
    assert len(rows()) == 2  # the good lines have landed


def test_one_id_on_two_servers_needs_the_server(bank: Bank, people: People, log: Path) -> None:
    other = factories.make_bank("checkout-service", server=factories.make_server(name="other"))
    with pytest.raises(CommandError, match="--server NAME"):
        run(log, "--bank", "checkout-service")
    run(log, "--bank", "checkout-service", "--server", "other")
    assert {row.bank for row in rows()} == {other}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--bank", "nowhere"], "sees no bank nowhere"),
        (["--bank", "checkout-service", "--server", "nowhere"], "No server is registered"),
        (["--bank", "checkout-service", "--as", "eve"], "sees no bank"),
        (["--bank", "checkout-service", "--as", "ben"], "may not review"),
        (["--bank", "checkout-service", "--as", "nobody"], "Nobody here"),
    ],
)
def test_what_cannot_be_done_is_said(bank: Bank, people: People, log: Path, arguments: list[str], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        run(log, *arguments)
    assert not Job.objects.exists()


def test_a_file_that_is_not_there(bank: Bank, people: People, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        run(tmp_path / "none", "--bank", "checkout-service")
