"""The export of a bank: everything in it as lines, by a job that can be killed, and its file."""

import json
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
import time_machine
from django.utils import timezone

from banks import connections, jobs
from banks.models import Bank, Job, Write
from banks.transfer import exporting
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)
ANN = "Ann keeps the ledger."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def rows_of(answer) -> list[dict]:
    assert answer.status_code == 200
    data = b"".join(answer.streaming_content)
    assert len(data) == int(answer["Content-Length"])
    return [json.loads(text) for text in data.decode().split("\n")[:-1]]


def exported(client, bank: Bank) -> list[dict]:
    assert client.post(f"/banks/{bank.pk}/export/").status_code == 303
    jobs.run(Job.objects.latest("pk").pk)
    return rows_of(client.get(f"/banks/{bank.pk}/export/file/"))


def test_documents_facts_and_retired_facts_are_in_the_file(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    text = "Zoë says “Ann” \u2028 and\u202e more.\r\n"
    store(bank, "notes/ü", text, tags=["b", "a"], context="c", metadata={"k": "v"})
    with connections.client_for(bank.server) as server:
        ann = next(fact for fact in server.list_facts(bank.bank_id).items if fact.text == ANN)
        server.patch_fact(bank.bank_id, ann.id, state="invalidated", reason="she left")
    head, *rows, end = exported(as_user(people.owner), bank)
    assert head["memadmin_export"]["bank"] == bank.bank_id
    documents = {row["document"]["id"]: row["document"] for row in rows if "document" in row}
    assert documents.keys() == {"notes/a.md", "notes/ü"}
    assert documents["notes/ü"]["text"] == text
    assert (documents["notes/ü"]["tags"], documents["notes/ü"]["metadata"]) == (["a", "b"], {"k": "v"})
    facts = {row["fact"]["text"]: row["fact"] for row in rows if "fact" in row}
    assert (facts[ANN]["state"], facts[ANN]["invalidation_reason"]) == ("invalidated", "she left")
    assert facts["Ben reads it."]["document_id"] == "notes/a.md"
    assert end["end"]["counts"] == {"documents": 2, "valid": len(facts) - 1, "invalidated": 1}
    assert Write.objects.get().kind == "export"
    assert line.sent("GET") == len(line.calls) - line.sent("POST") - line.sent("PATCH")


def test_a_killed_export_goes_on_and_has_each_row_once(
    bank: Bank, line: LyingTransport, people: People, as_user, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "DOCUMENTS_AT_ONCE", 3)
    monkeypatch.setattr(exporting, "FACTS_AT_ONCE", 4)
    monkeypatch.setattr(exporting, "LOT_BYTES", 700)
    for number in range(12):
        store(bank, f"d{number}", f"Item {number} is kept.")
    client = as_user(people.owner)
    client.post(f"/banks/{bank.pk}/export/")
    job = Job.objects.get()
    starts = 0
    while jobs.run(job.pk, slice_seconds=0) == "goes on":
        starts += 1
    assert starts > 8
    rows = rows_of(client.get(f"/banks/{bank.pk}/export/file/"))
    ids = [row[kind]["id"] for row in rows for kind in ("document", "fact") if kind in row]
    assert len(ids) == len(set(ids))
    assert {f"d{number}" for number in range(12)} < set(ids)
    assert rows[-1]["end"]["shifted"] is False


def test_a_server_that_gives_few_at_once_is_read_to_the_end(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    class Capped(LyingTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if "limit" in request.url.params and int(request.url.params["limit"]) > 3:
                request.url = request.url.copy_set_param("limit", "3")
            return super().handle_request(request)

    for number in range(8):
        store(bank, f"d{number}", f"Item {number} is kept.")
    connections.TRANSPORTS[bank.server.base_url] = Capped(line.server)
    rows = exported(as_user(people.owner), bank)
    assert sum("document" in row for row in rows) == 9
    assert rows[-1]["end"]["shifted"] is False
    with connections.client_for(bank.server) as server:
        assert rows[-1]["end"]["counts"]["valid"] == server.count_facts(bank.bank_id, state="valid")


def test_rows_that_went_away_meanwhile_are_told(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    with connections.client_for(bank.server) as server:
        line.before_call["GET"] = lambda: None
        store(bank, "b", "Bob came.")

        class Deleting(LyingTransport):
            def handle_request(self, request: httpx.Request) -> httpx.Response:
                if request.url.path.endswith("/documents/b"):
                    server.delete_document(bank.bank_id, "b")
                return super().handle_request(request)

        connections.TRANSPORTS[bank.server.base_url] = Deleting(line.server)
        client = as_user(people.owner)
        rows = exported(client, bank)
    assert rows[-1]["end"]["vanished"] == 1
    assert "The bank changed while it was read." in client.get(f"/banks/{bank.pk}/export/").content.decode()


def test_the_page_tells_how_far_it_is_and_why_it_stopped(
    bank: Bank, line: LyingTransport, people: People, as_user, settings, folder: Path
) -> None:
    client = as_user(people.owner)
    here = f"/banks/{bank.pk}/export/"
    assert client.get(f"{here}file/").status_code == 404
    client.post(here)
    client.post(here)
    job = Job.objects.get()
    assert f'hx-get="{here}"' in client.get(here).content.decode()
    settings.EXPORT_MAX_BYTES = 300
    assert jobs.run(job.pk) == "failed"
    page = client.get(here).content.decode()
    assert "It grew above" in page
    assert list(folder.iterdir()) == []
    line.cut_before.append("GET")
    client.post(here)
    jobs.run(Job.objects.latest("pk").pk)
    assert "The bank could not be read" in client.get(here).content.decode()


def test_a_file_is_thrown_away_after_a_day(
    bank: Bank, line: LyingTransport, people: People, as_user, folder: Path
) -> None:
    client = as_user(people.owner)
    exported(client, bank)
    assert exporting.forget() == 0
    with time_machine.travel(timezone.now() + timedelta(hours=25), tick=False):
        assert exporting.forget() >= 1
        assert list(folder.iterdir()) == []
        assert client.get(f"/banks/{bank.pk}/export/file/").status_code == 303
        assert "was thrown away after a day" in client.get(f"/banks/{bank.pk}/export/").content.decode()


def test_only_admins_export_and_only_their_own_file(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    exported(as_user(people.owner), bank)
    for person, status in ((people.stranger, 404), (people.viewer, 403), (people.reviewer, 403)):
        assert as_user(person).get(f"/banks/{bank.pk}/export/").status_code == status
        assert as_user(person).post(f"/banks/{bank.pk}/export/").status_code == status
        assert as_user(person).get(f"/banks/{bank.pk}/export/file/").status_code == status
    assert as_user(people.operator).get(f"/banks/{bank.pk}/export/file/").status_code == 404
