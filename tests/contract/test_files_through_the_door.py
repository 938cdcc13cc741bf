"""Files through our own door: followed until they are there, also after a lost answer, and refused one by one."""

from dataclasses import replace

import httpx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from banks import connections, files
from banks.files import kind
from banks.files.following import note_before
from banks.files.selectors import state_of
from banks.models import RetainFile, Write
from banks.writes import run
from tests import factories
from tests.contract.conftest import Bank, Target, registered, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def row(target: Target, bank: Bank, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    with registered(target, bank) as row:
        yield row


class Losing(httpx.BaseTransport):
    """Passes everything on, and loses the answers to what is posted while told so."""

    def __init__(self, target: Target) -> None:
        self.line, self.posts, self.loses = target.transport or httpx.HTTPTransport(), 0, True

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self.line.handle_request(request)
        if request.method == "POST":
            self.posts += 1
            if self.loses:
                answer.read()
                raise httpx.ReadTimeout("no answer", request=request)
        return answer


def send(row, *given, about=None):
    person = factories.make_user(is_superuser=True)
    uploads = files.receive([SimpleUploadedFile(name, data) for name, data in given], kind="file")
    said = about or [{}] * len(given)
    return files.retain_files(user=person, bank=row, uploads=uploads, about=said, via=Write.Via.WEB).writes


def followed(write):
    """Until it has ended, as sweeps and workers do."""

    def step():
        Write.objects.filter(pk=write.pk).update(not_before=timezone.now())
        run(write.pk)
        write.refresh_from_db()
        return write

    return until(step, lambda write: not write.is_open)


def test_a_file_is_followed_into_the_bank_and_a_broken_one_says_why(row, bank, tmp_path):
    good, broken = send(row, ("a.md", b"Alice works at Acme."), ("b.png", b"\x89PNG\xff"))
    assert followed(good).state == "done"
    assert (good.outcome["facts"], bank.client.get_document(bank.id, good.document_id).text) == (
        1,
        "Alice works at Acme.",
    )
    assert (followed(broken).state, state_of(broken).word) == ("attention", "refused")
    assert "Failed to parse file 'b.png'" in broken.error_text
    assert "Traceback" not in broken.error_text
    assert [path.name for path in tmp_path.iterdir()] == [RetainFile.objects.get(write=broken).kept]


def test_after_a_lost_answer_only_what_has_come_since_is_ours_and_nothing_is_sent_twice(row, bank, target):
    (first,) = send(row, ("a.md", b"Alice works at Acme."), about=[{"document_id": "d"}])
    assert followed(first).state == "done"
    losing = connections.TRANSPORTS[target.url] = Losing(target)
    (again,) = send(row, ("a.md", b"Bob works at Acme."), about=[{"document_id": "d"}])
    assert run(again.pk) == "unknown"
    assert (followed(again).state, losing.posts) == ("done", 1)
    assert again.outcome["operation"] != first.outcome["operation"]
    assert bank.client.get_document(bank.id, "d").text == "Bob works at Acme."


def test_each_file_says_that_there_is_no_converter_and_nothing_is_left_there(row, bank, tmp_path, monkeypatch):
    sent = kind._on_the_wire
    monkeypatch.setattr(kind, "_on_the_wire", lambda *about: replace(sent(*about), parsers=["iris"]))
    for write in send(row, ("a.txt", b"Alice works at Acme."), ("b.md", b"Bob works at Acme.")):
        assert (followed(write).state, state_of(write).word) == ("attention", "refused")
        assert "has no converter" in write.error_text
        assert f"(file '{RetainFile.objects.get(write=write).name}')" in write.error_text
    assert bank.client.list_operations(bank.id).total == 0
    assert bank.client.list_documents(bank.id).total == 0
    assert len(list(tmp_path.iterdir())) == 2


def test_what_was_there_before_is_told_by_the_document(row, bank):
    """The server's lists name the document of an operation: what comes later is told from it."""
    bank.store("notes", "Alice works at Acme.")
    bank.quiet()
    write = Write.objects.create(kind="retain-files", bank=row, via="web", document_id="notes", slot="s")
    noted = note_before(bank.client, write)
    assert noted["document_before"]
    known = {
        operation.id: operation.document_id for operation in bank.client.list_operations(bank.id, type="retain").items
    }
    assert noted["before"] == [pk for pk, document_id in known.items() if document_id == "notes"]
    bank.store("notes", "Bob works at Acme.")
    assert note_before(bank.client, write)["document_before"] != noted["document_before"]
