"""Files: what is converted and retained, what is not, and servers without the converter that is asked for."""

import io

import pytest

from banks.hindsight import Invalid, NotFound, RetainFile
from tests.contract.conftest import until

OTHER = ["iris"]  # a converter that needs a service of its own


def file(document_id, content=b"Alice works at Acme.", **more):
    return RetainFile(f"{document_id}.txt", io.BytesIO(content), document_id, **more)


def about(bank, type_, document_id):
    page = bank.client.list_operations(bank.id, type=type_)
    return [operation for operation in page.items if operation.document_id == document_id]


def test_a_file_is_converted_then_retained_each_by_an_operation_of_its_document(bank):
    given = file("näme / x", tags=["t"], metadata={"k": "v"}, context="c", timestamp="unset")
    (conversion,) = bank.client.retain_files(bank.id, [given])
    assert bank.wait(conversion).status == "completed"
    assert [each.id for each in about(bank, "file_convert_retain", "näme / x")] == [conversion]
    (retain,) = until(lambda: about(bank, "retain", "näme / x"), lambda found: len(found) == 1)
    assert bank.wait(retain.id).status == "completed"
    document = bank.client.get_document(bank.id, "näme / x")
    assert (document.text, document.tags, document.metadata) == ("Alice works at Acme.", ["t"], {"k": "v"})


def test_a_file_that_cannot_be_converted_fails_at_once_and_alone(bank):
    broken, good = bank.client.retain_files(bank.id, [file("b", b"\xff\xfe broken"), file("g")])
    ended = bank.wait(broken)
    assert (ended.status, ended.retry_count, ended.document_id) == ("failed", 0, "b")
    assert "Failed to parse" in ended.error
    assert bank.wait(good).status == "completed"
    until(lambda: about(bank, "retain", "g"), lambda found: [each.status for each in found] == ["completed"])
    assert [row.id for row in bank.client.list_documents(bank.id).items] == ["g"]


def test_the_same_document_again_is_replaced(bank):
    for text in (b"Alice works at Acme.", b"Alice works at Bolt."):
        before = len(about(bank, "retain", "d"))
        bank.wait(bank.client.retain_files(bank.id, [file("d", text)])[0])
        until(
            lambda: [each.status for each in about(bank, "retain", "d")],
            lambda found, before=before: found == ["completed"] * (before + 1),
        )
    assert bank.client.get_document(bank.id, "d").text == "Alice works at Bolt."


def test_a_server_without_the_converter_says_so_and_keeps_nothing(bank):
    words = r"Parser\(s\) not available \(file 'a.txt'\): \['iris'\]. Available: \['markitdown'\]"
    with pytest.raises(Invalid, match=words):
        bank.client.retain_files(bank.id, [file("a", parsers=OTHER), file("b")])
    assert bank.client.list_operations(bank.id).total == 0
    assert bank.client.list_documents(bank.id).total == 0


def test_no_bank_is_created(bank):
    missing = f"{bank.id}-missing"
    with pytest.raises((Invalid, NotFound)):
        bank.client.retain_files(missing, [file("a", parsers=OTHER)])
    assert not bank.client.has_bank(missing)
