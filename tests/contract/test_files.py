"""Files, on servers without a converter: refused as a whole, and nothing is left behind."""

import io

import pytest

from banks.hindsight import Invalid, RetainFile


def file(document_id, **more):
    return RetainFile(f"{document_id}.txt", io.BytesIO(b"Alice works at Acme."), document_id, **more)


def test_a_server_without_a_converter_says_so_and_keeps_nothing(bank):
    with pytest.raises(Invalid, match=r"Parser\(s\) not available \(file 'a.txt'\): \['markitdown'\]. Available: \[\]"):
        bank.client.retain_files(bank.id, [file("a"), file("b")])
    assert bank.client.list_operations(bank.id).total == 0
    assert bank.client.list_documents(bank.id).total == 0


def test_a_converter_that_is_not_there_is_named(bank):
    with pytest.raises(Invalid, match=r"\(file 'b.txt'\): \['nope'\]|\(file 'a.txt'\)"):
        bank.client.retain_files(bank.id, [file("a"), file("b", parsers=["nope"])])


def test_no_bank_is_created(bank):
    missing = f"{bank.id}-missing"
    with pytest.raises(Invalid):
        bank.client.retain_files(missing, [file("a")])
    assert not bank.client.has_bank(missing)
