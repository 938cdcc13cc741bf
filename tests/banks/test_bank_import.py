"""The import of an export: a preview that only reads, then what was chosen, through the queue of retains."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from banks import connections, jobs
from banks.models import Bank, Job, RetainItem
from tests.banks.conftest import LyingTransport, line, store
from tests.banks.retaining import work_off
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)
HEAD = {"memadmin_export": {"version": 1, "bank": "other"}}
END = {"end": {}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def document(document_id: object, text: object, **more: object) -> dict:
    return {"document": {"id": document_id, "text": text, **more}}


def written(*rows: object) -> SimpleUploadedFile:
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    return SimpleUploadedFile("x.jsonl", b"\n".join(lines) + b"\n")


def shown(client, bank: Bank, *rows: object) -> tuple[str, str]:
    """Address and text of the plan."""
    answer = client.post(f"/banks/{bank.pk}/import/", {"file": written(*rows)})
    assert answer.status_code == 303, answer.content.decode()
    jobs.run(Job.objects.latest("pk").pk)
    return answer["Location"], client.get(answer["Location"]).content.decode()


def begun(client, bank: Bank, plan: str, **more: str) -> str:
    data = {"job": plan.partition("job=")[2], **more}
    assert client.post(f"/banks/{bank.pk}/import/begin/", data).status_code == 303
    job = Job.objects.latest("pk")
    jobs.run(job.pk)
    return client.get(plan).content.decode()


def texts(bank: Bank) -> dict[str, str]:
    with connections.client_for(bank.server) as client:
        rows = client.list_documents(bank.bank_id, limit=500).items
        return {row.id: client.get_document(bank.bank_id, row.id).text for row in rows}


def test_what_is_new_is_brought_and_what_exists_left_alone(
    bank: Bank, line: LyingTransport, people: People, as_user, folder: Path
) -> None:
    client = as_user(people.owner)
    params = {"retain_params": {"context": "notes", "event_date": "2026-01-02T03:04:05+00:00"}, "tags": ["t"]}
    rows = [
        HEAD,
        document("notes/a.md", "Ann left."),
        document("new/ü", "Zoë came.\r\n\u202e", metadata={"k": "v"}, **params),
        {"fact": {"state": "valid"}},
        {"fact": {"state": "invalidated"}},
        END,
    ]
    before = texts(bank)
    plan, page = shown(client, bank, *rows)
    assert "1 new here" in page
    assert "1 with another text here" in page
    assert "2 facts of the file, 1 of them retired," in page
    assert "ends early" not in page
    assert line.sent("POST") == 0
    page = begun(client, bank, plan)
    assert "1 document was queued." in page
    work_off(bank)
    assert texts(bank) == before | {"new/ü": "Zoë came.\r\n\u202e"}
    with connections.client_for(bank.server) as server:
        found = server.get_document(bank.bank_id, "new/ü")
    assert (found.tags, found.metadata, found.retain_params["context"]) == (["t"], {"k": "v"}, "notes")
    assert found.retain_params["event_date"].startswith("2026-01-02T03:04:05")
    begun(client, bank, plan, replace="yes")
    assert Job.objects.filter(kind="bank-import").count() == 1
    assert list(folder.iterdir()) == []


def test_what_differs_is_replaced_when_chosen_and_still_as_it_was_seen(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    store(bank, "b", "Bob came.")
    client = as_user(people.owner)
    plan, page = shown(client, bank, HEAD, document("notes/a.md", "Ann left."), document("b", "Bob left."), END)
    assert "2 with another text here" in page
    assert "Replace 2 documents" in page
    store(bank, "b", "Bob came again.")
    page = begun(client, bank, plan, replace="yes")
    assert "1 queued" in page
    assert "1 not as it was seen, so left alone" in page
    work_off(bank)
    assert texts(bank) == {"notes/a.md": "Ann left.", "b": "Bob came again."}


def test_what_came_meanwhile_is_not_overwritten(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.owner)
    plan, _ = shown(client, bank, HEAD, document("new", "From the file."), END)
    store(bank, "new", "From an agent.")
    page = begun(client, bank, plan)
    assert "0 documents were queued." in page
    assert "1 not as it was seen" in page
    assert not RetainItem.objects.exists()


def test_an_export_of_the_same_bank_changes_nothing(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.owner)
    client.post(f"/banks/{bank.pk}/export/")
    jobs.run(Job.objects.get().pk)
    file = b"".join(client.get(f"/banks/{bank.pk}/export/file/").streaming_content)
    _, page = shown(client, bank, *file.splitlines())
    assert "1 here with the same text" in page
    assert "is here already" in page
    assert 'action="/banks/' not in page.partition('id="import-box"')[2]


def test_jobs_that_are_killed_bring_each_document_once(
    bank: Bank, line: LyingTransport, people: People, as_user, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("banks.transfer.importing.DOCUMENTS_AT_ONCE", 3)
    client = as_user(people.owner)
    file = written(HEAD, *[document(f"d{number}", f"Item {number} is kept.") for number in range(10)], END)
    plan = client.post(f"/banks/{bank.pk}/import/", {"file": file})["Location"]
    for data in (None, {"job": plan.partition("job=")[2]}):
        if data:
            client.post(f"/banks/{bank.pk}/import/begin/", data)
        starts = 0
        while jobs.run(Job.objects.latest("pk").pk, slice_seconds=0) == "goes on":
            starts += 1
        assert starts > 2
    assert sorted(RetainItem.objects.values_list("document_id", flat=True)) == sorted(f"d{n}" for n in range(10))


def test_files_from_anywhere_are_looked_through(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    rows = [
        HEAD,
        b"{not json",
        b"[]",
        {"document": []},
        document("", "x"),
        document(7, "x"),
        document("..", "x"),
        document("a\0b", "x"),
        document("no text", None),
        document("odd", "Fine.", tags="no list", metadata=[1], retain_params="x", created_at="yesterday"),
        document("odd", "Once more."),
        document(XSS, "Fine."),
        document("bad tags", "x", tags=[1]),
    ]
    client = as_user(people.owner)
    plan, page = shown(client, bank, *rows)
    assert "2 new here" in page
    assert "1 in the file a second time" in page
    assert "9 cannot be brought" in page
    assert "The file ends early." in page
    assert_harmless(page)
    assert_harmless(client.get(f"{plan}&which=refused").content.decode())
    begun(client, bank, plan)
    assert RetainItem.objects.count() == 2


@pytest.mark.parametrize("rows", [[], [b"hello"], [END], [{"memadmin_export": {"version": 99}}]])
def test_what_is_no_export_is_said(bank: Bank, line: LyingTransport, people: People, as_user, rows) -> None:
    _, page = shown(as_user(people.owner), bank, *rows)
    assert "This is no export of a bank" in page
    assert "Bring " not in page


def test_too_large_a_file_is_not_kept(bank: Bank, line: LyingTransport, people: People, as_user, settings) -> None:
    settings.IMPORT_MAX_BYTES = 10
    answer = as_user(people.owner).post(f"/banks/{bank.pk}/import/", {"file": written(HEAD)})
    assert answer.status_code == 413
    assert not Job.objects.exists()


def test_only_admins_import_and_only_from_their_own_previews(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    plan, _ = shown(as_user(people.owner), bank, HEAD, document("new", "x"), END)
    number = plan.partition("job=")[2]
    for person, status in (
        (people.stranger, 404),
        (people.viewer, 403),
        (people.reviewer, 403),
        (people.operator, 404),
    ):
        client = as_user(person)
        assert client.get(plan).status_code == status
        assert client.post(f"/banks/{bank.pk}/import/begin/", {"job": number}).status_code == status
    for person in (people.stranger, people.viewer, people.reviewer):
        assert as_user(person).post(f"/banks/{bank.pk}/import/", {"file": written(HEAD)}).status_code in (403, 404)
    assert not RetainItem.objects.exists()
