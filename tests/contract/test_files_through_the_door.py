"""Files through our own door, on servers without a converter: refused one by one, and kept here."""

import itertools

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from banks import connections, files
from banks.files.following import note_before
from banks.files.selectors import state_of
from banks.models import RetainFile, Write
from banks.writes import run
from tests import factories
from tests.contract.conftest import Bank, Target
from tests.hindsight.runner import KEY

pytestmark = pytest.mark.django_db(transaction=True)
_numbers = itertools.count(1)


@pytest.fixture
def row(target: Target, bank: Bank, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    server = factories.make_server(base_url=target.url, name=f"{target.name} files {next(_numbers)}")
    server.api_key = KEY
    server.save()
    if target.transport is not None:
        connections.TRANSPORTS[target.url] = target.transport
    yield factories.make_bank(bank.id, server=server)
    connections.TRANSPORTS.pop(target.url, None)


def test_each_file_says_that_there_is_no_converter_and_nothing_is_left_there(row, bank, tmp_path):
    person = factories.make_user(is_superuser=True)
    given = [SimpleUploadedFile(name, b"Alice works at Acme.") for name in ("a.txt", "b.md")]
    uploads = files.receive(given, kind="file")
    sent = files.retain_files(user=person, bank=row, uploads=uploads, about=[{}, {}], via=Write.Via.WEB)
    for write in sent.writes:
        assert run(write.pk) == "attention"
        write.refresh_from_db()
        assert state_of(write).word == "refused"
        assert f"(file '{RetainFile.objects.get(write=write).name}')" in write.error_text
        assert "kept here" in write.error_text
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
