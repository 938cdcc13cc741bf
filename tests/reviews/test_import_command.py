"""`memadmin import-queue`."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from banks.models import Bank, Job, Server
from reviews.models import ReviewEntry
from tests import factories
from tests.conftest import People
from tests.reviews.queue_files import add, as_bytes, done

LOCAL = "http://localhost:8888"


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return tmp_path / "uploads"


@pytest.fixture
def server(bank: Bank) -> Server:
    bank.server.base_url = LOCAL
    bank.server.save()
    return bank.server


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    path = tmp_path / "review-queue.jsonl"
    path.write_bytes(as_bytes([add("a", baseUrl="http://127.0.0.1:8888"), "torn", done("a"), add("b", baseUrl=LOCAL)]))
    return path


def run(*arguments: Any, **options: Any) -> str:
    output = io.StringIO()
    call_command("import_queue", *map(str, arguments), stdout=output, **options)
    return output.getvalue()


def test_the_file_is_imported_and_reported(server: Server, people: People, queue: Path, uploads: Path) -> None:
    said = run(queue)
    assert "accepted    3  took effect" in said
    assert "line 2: not JSON" in said
    assert dict(ReviewEntry.objects.values_list("document_id", "state")) == {"a": "approved", "b": "pending"}
    assert Job.objects.get().owner == people.operator
    assert list(uploads.iterdir()) == []


def test_json_for_programs(server: Server, people: People, queue: Path) -> None:
    found = json.loads(run(queue, "--json"))
    assert (found["accepted"], found["skipped"], found["pending_in_the_tool"]) == (3, 1, 1)
    assert found["skipped_lines"] == [{"line": 2, "why": "not JSON"}]


def test_strict_makes_left_out_lines_an_error(server: Server, people: People, queue: Path) -> None:
    with pytest.raises(SystemExit) as end:
        run(queue, "--strict")
    assert end.value.code == 1
    assert ReviewEntry.objects.count() == 2  # the good lines have landed


def test_all_lines_to_one_server(server: Server, people: People, tmp_path: Path) -> None:
    other = factories.make_server(name="other")
    path = tmp_path / "q"
    path.write_bytes(as_bytes([add("a", baseUrl=LOCAL), add("b", baseUrl="")]))
    run(path, "--server", "other")
    assert set(ReviewEntry.objects.values_list("bank__server", flat=True)) == {other.pk}


def test_lines_count_where_the_named_person_may_review(server: Server, people: People, queue: Path) -> None:
    assert json.loads(run(queue, "--json", "--as", "eve"))["parked"] == 3
    assert not ReviewEntry.objects.exists()


def test_what_is_wrong_is_said(server: Server, people: People, queue: Path, settings: LazySettings) -> None:
    with pytest.raises(CommandError, match="No server is registered as nowhere"):
        run(queue, "--server", "nowhere")
    with pytest.raises(CommandError, match="Nobody here is called zoe"):
        run(queue, "--as", "zoe")
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        run(queue.with_name("missing"))
    factories.make_user("second", is_superuser=True)
    with pytest.raises(CommandError, match="--as USERNAME"):
        run(queue)
    settings.IMPORT_MAX_BYTES = 10
    with pytest.raises(CommandError, match="larger than"):
        run(queue, "--as", "root")
    assert not Job.objects.exists()
