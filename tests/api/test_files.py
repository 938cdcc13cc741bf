"""POST /api/v1/retain/files: files by a program."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.http import HttpResponse
from django.test import Client

from banks.models import Bank, RetainFile, Role, Write
from tests import factories
from tests.api.asking import Program
from tests.banks.filing import archive, upload
from tests.conftest import People

PATH = "/retain/files"


@pytest.fixture(autouse=True)
def folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return tmp_path / "uploads"


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def post(program: Program, bank: Bank, *files: Any, headers: Any = None, **values: Any) -> HttpResponse:
    asked = {"bank": bank.bank_id, **values}
    fields = {"request": json.dumps(asked), "files": list(files) or [upload()]}
    return program.upload(PATH, fields, **(headers or {}))


def said(answer: HttpResponse) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.content)
    return found


def test_files_are_queued_each_with_a_row_of_its_own(program: Program, bank: Bank, folder: Path) -> None:
    about = [{"document_id": "a", "tags": ["team"], "metadata": {"k": "v", "none": None}}, {}]
    answer = post(program, bank, upload("a.md"), upload("b.md"), files_metadata=about)
    assert answer.status_code == 202
    body = said(answer)
    assert (body["count"], body["message"]) == (2, "2 files queued.")
    assert [each["name"] for each in body["files"]] == ["a.md", "b.md"]
    first, second = Write.objects.order_by("pk")
    assert [each["id"] for each in body["files"]] == [first.pk, second.pk]
    assert (first.document_id, first.params["tags"], first.params["metadata"]) == ("a", ["team"], {"k": "v"})
    assert second.document_id.startswith("memadmin-")
    assert kept(folder) == sorted(RetainFile.objects.values_list("kept", flat=True))
    assert said(program.get(f"/writes/{first.pk}"))["stage"] == "waiting"


def test_the_same_key_stores_once_and_keeps_no_second_copy(program: Program, bank: Bank, folder: Path) -> None:
    key = {"Idempotency-Key": "k"}
    first, again = (post(program, bank, headers=key) for _ in range(2))
    assert (first.content, first.status_code) == (again.content, again.status_code)
    assert (Write.objects.count(), len(kept(folder))) == (1, 1)
    other = post(program, bank, upload("notes.md", b"Other words."), headers=key)
    assert (other.status_code, Write.objects.count(), len(kept(folder))) == (422, 1, 1)


@pytest.mark.parametrize(
    ("files", "values", "status", "words"),
    [
        ([upload("a.md"), upload("bad.exe")], {}, 422, "“bad.exe”"),
        ([upload("empty.md", b"")], {}, 422, "“empty.md”: It is empty."),
        ([upload("x.docx", archive(a=70 * 1024**2))], {}, 422, "“x.docx”: It would become 70 MB"),
        ([upload("a.md")], {"files_metadata": [{}, {}]}, 422, "2 for 1 files"),
        ([upload("a.md")], {"files_metadata": [{"timestamp": "monday"}]}, 422, "“a.md”: timestamp: Not a time"),
        ([upload("a.md")], {"files_metadata": [{"content": "x"}]}, 422, "body.request.files_metadata.0.content"),
        ([upload("a.md")], {"files_metadata": [{"document_id": "x/chunks"}]}, 422, "“a.md”: document_id: It ends in"),
        ([upload("a.md")], {"scope": "all"}, 422, "body.request.scope"),
        ([upload(f"{number}.md") for number in range(11)], {}, 413, "“10.md” is the first that is too many"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_name_and_nothing_is_kept(
    program: Program, bank: Bank, folder: Path, files: list[Any], values: dict[str, Any], status: int, words: str
) -> None:
    for file in files:
        file.seek(0)
    answer = post(program, bank, *files, **values)
    assert (answer.status_code, words in said(answer)["detail"]) == (status, True), answer.content
    assert (Write.objects.exists(), kept(folder)) == (False, [])


def test_what_is_too_large_is_never_kept(program: Program, bank: Bank, folder: Path, settings: LazySettings) -> None:
    settings.FILES_MAX_BYTES = 2_000
    for size in (1_500, 3_000_000):  # beyond the files, beyond the whole request
        answer = post(program, bank, upload("a.md", b"x" * 1_000), upload("b.md", b"x" * size))
        assert answer.status_code == 413
    assert (Write.objects.exists(), kept(folder)) == (False, [])


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"files": upload()}, 422),
        ({"request": "{}"}, 422),
        ({"request": "no json", "files": upload()}, 422),
        ({"request": "[]", "files": upload()}, 422),
    ],
)
def test_a_form_that_lacks_something_says_what(program: Program, bank: Bank, fields: Any, status: int) -> None:
    answer = program.upload(PATH, fields)
    assert (answer.status_code, Write.objects.exists()) == (status, False)


def test_a_torn_form_is_no_fault_of_ours(program: Program, bank: Bank) -> None:
    answer = Client().post(
        f"/api/v1{PATH}",
        b"torn",
        content_type="multipart/form-data",
        headers={"Authorization": f"Bearer {program.token}"},
    )
    assert answer.status_code == 400
    assert "cannot be read" in said(answer)["detail"]


def test_a_bank_that_is_closed_and_one_of_two_servers(
    program: Program, people: People, bank: Bank, folder: Path
) -> None:
    twin = factories.make_bank(bank.bank_id)
    factories.grant(people.reviewer, twin, Role.REVIEWER)
    answer = post(program, bank)
    assert (answer.status_code, sorted(said(answer)["servers"])) == (409, sorted([bank.server.name, twin.server.name]))
    Bank.objects.filter(pk=bank.pk).update(gone_since="2026-03-01T00:00Z")
    answer = post(program, bank, server=bank.server.name)
    assert (answer.status_code, "not on its server any more" in said(answer)["detail"]) == (409, True)
    assert (Write.objects.exists(), kept(folder)) == (False, [])
