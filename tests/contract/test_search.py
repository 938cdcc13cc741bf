"""What the search in the banks relies on: parts of texts are found letter by letter, and looking creates no bank."""

from collections.abc import Iterator
from typing import Any

import pytest

from banks import searching
from banks.models import Bank as BankRow
from tests import factories
from tests.contract.conftest import Bank, Target, registered

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(target: Target, bank: Bank) -> Iterator[BankRow]:
    with registered(target, bank) as row:
        yield row


def look(row: BankRow, words: str) -> searching.Looked:
    found = [each for lot in searching.ask([row], words) for each in lot]
    ((_, looked),) = found
    return looked


def drawn(looked: searching.Looked) -> list[dict[str, Any]]:
    """Without the observations that servers make of facts in their own time."""
    return [each for each in looked.facts if each["type"] != "observation"]


def test_facts_and_documents_by_any_part_of_their_text_or_id(bank: Bank, row: BankRow) -> None:
    bank.store("notes/harbour-1.md", "Ann moved the old harbour to Lyon.")
    bank.store("notes/b.md", "Ben stayed.")
    for words in ("HARBOUR to ly", "arbour"):
        looked = look(row, words)
        assert (looked.failed, looked.document_count) == ("", 1), words
        assert [each["id"] for each in looked.documents] == ["notes/harbour-1.md"]
        (fact,) = drawn(looked)
        assert (fact["document"], "harbour" in fact["text"]) == ("notes/harbour-1.md", True)
    assert look(row, "harbour-1.md").document_count == 1
    assert look(row, "harbour Ann").any is False  # one phrase, in its order


@pytest.mark.parametrize("words", ["100%", "a_b", "c\\d", "天気", "שלום"])
def test_signs_stand_for_themselves(bank: Bank, row: BankRow, words: str) -> None:
    bank.store("a", "It is 100% a_b c\\d 天気 שלום here.")
    bank.store("b", "It is 1000 aXb cXd here.")
    looked = look(row, words)
    assert (looked.failed, [each["id"] for each in looked.documents]) == ("", ["a"])
    assert [each["document"] for each in drawn(looked)] == ["a"]
    assert all(words in each["text"] for each in looked.facts)


def test_a_bank_that_is_not_there_is_not_made(target: Target, row: BankRow) -> None:
    missing = factories.make_bank(f"{row.bank_id}-missing", server=row.server)
    assert look(missing, "anything").failed == searching.GONE
    with target.client() as client:
        assert missing.bank_id not in {each.bank_id for each in client.list_banks()}


def test_a_refused_key_is_said(target: Target, row: BankRow) -> None:
    row.server.api_key = "another"
    row.server.save()
    assert look(row, "anything").failed == searching.KEY_REFUSED
