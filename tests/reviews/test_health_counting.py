"""Counting facts: what is one of which, in bounded memory, and what close words and languages are worth."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from banks.hindsight import Fact, Page, Timeout
from banks.hindsight.shapes import BankStats
from reviews.health import languages, reading, tally
from reviews.health.alike import alike
from reviews.health.tally import (
    EDITED,
    NO_CONTEXT,
    NO_ENTITIES,
    NO_METADATA,
    NOT_CONSOLIDATED,
    ONE_PROOF,
    SAME,
    Tally,
)

NOW = datetime(2026, 3, 16, 10, 0, tzinfo=UTC)


def fact(number: int, text: str = "", **fields: Any) -> Fact:
    told = {"id": f"f{number}", "text": text or f"Fact number {number}.", "fact_type": "world", "document_id": "d"}
    return Fact.parse({**told, **fields})


def test_each_fact_is_counted_for_what_it_lacks() -> None:
    counted = Tally()
    whole = {"context": "retro", "metadata": {"by": "pi"}, "entities": "Ann", "consolidated_at": NOW.isoformat()}
    counted.add(
        [
            fact(1, proof_count=1, **whole),
            fact(2, proof_count=3, edited_at=NOW.isoformat()),
            fact(3, fact_type="observation", document_id="", proof_count=2),
            fact(4, state="invalidated"),
        ]
    )
    assert (counted.read, counted.facts, counted.with_proofs) == (3, 2, 3)
    expected = {ONE_PROOF: 1, NO_CONTEXT: 1, NO_METADATA: 1, NO_ENTITIES: 1, NOT_CONSOLIDATED: 1, EDITED: 1}
    assert dict(counted.counts) == expected
    assert [row.fact_id for row in counted.kept[NO_CONTEXT]] == ["f2"]
    assert dict(counted.types) == {"world": 2, "observation": 1}


def test_a_fact_that_is_met_twice_counts_once() -> None:
    counted = Tally()
    assert counted.add([fact(1), fact(2)]) == 2
    assert counted.add([fact(2), fact(3)]) == 1
    assert counted.read == 3


def test_the_same_words_count_all_but_the_first() -> None:
    counted = Tally()
    texts = ("Ann  keeps the LEDGER.", "Ben reads.", "ann keeps the ledger", "Ann keeps the ledger.")
    counted.add([fact(number, text) for number, text in enumerate(texts)])
    counted.add([fact(9, "Ben reads.", fact_type="observation")])  # made from it: it repeats nobody
    assert counted.counts[SAME] == 2
    assert counted.groups == 1
    assert [(row.fact_id, row.told) for row in counted.kept[SAME]] == [("f0", "1"), ("f2", "1"), ("f3", "1")]


def test_what_is_kept_is_bounded_and_storable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "KEPT", 5)
    monkeypatch.setattr(tally, "COMPARED", 7)
    counted = Tally()
    counted.add(fact(number, f"{number} \x00" + "x" * 5_000, fact_type=f"kind {number}") for number in range(50))
    assert len(counted.kept[NO_CONTEXT]) == 5
    assert len(counted.sample) == 7
    assert any(int(row.fact_id[1:]) > 7 for row in counted.sample)  # not the first ones alone
    assert len(counted.types) == tally.TYPES_KEPT + 1
    assert sum(counted.types.values()) == 50
    assert all(len(row.text) <= tally.LONGEST_COMPARED and "\x00" not in row.text for row in counted.sample)


def test_close_words_with_another_number_name_or_negation_are_two_statements() -> None:
    texts = [
        "The timeout of the payment service is 30 s.",
        "The timeouts of the payment service is 30 s.",
        "The timeout of the payment service is 60 s.",
        "The timeout of the payment service is not 30 s.",
        "The timeout of the Checkout service is 30 s.",
        "Ben reads.",
    ]
    found = alike(texts)
    assert found.groups == [[0, 1]]
    assert (found.surplus, found.compared) == (1, 6)


def test_when_the_time_is_over_it_says_how_far_it_was() -> None:
    assert alike(["Ann keeps the ledger.", "Ann keeps the ledgers."], seconds=-1) == alike([], seconds=-1)


def test_languages_are_guessed_by_a_process_of_their_own() -> None:
    texts = [
        "The payment service retries three times before it gives up.",
        "Der Zahlungsdienst versucht es dreimal und gibt dann auf.",
        "Сервис платежей повторяет запрос три раза и потом сдаётся.",
        "checkoutService /srv/app/main.py HTTP_TIMEOUT=30 --retry",
        "ok",
    ]
    assert languages.guess(texts) == ["en", "de", "ru", "", ""]


@pytest.mark.parametrize(
    ("said", "code"), [("en", "en"), ("pt-BR", "pt"), ("zh_Hant", "zh"), ("DE", "de"), ("", ""), ("tlh", "")]
)
def test_a_banks_language_is_a_tag(said: str, code: str) -> None:
    assert languages.code_of(said) == code


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────


class Shelf:
    """A client of a bank with so many facts. `page`: the most that it gives at once."""

    def __init__(self, facts: Sequence[Fact], page: int = 10_000, breaks_at: int = 10**9) -> None:
        self.facts, self.page, self.breaks_at = facts, page, breaks_at
        self.asked: list[tuple[int, int]] = []

    def stats(self, bank_id: str) -> BankStats:
        return BankStats.parse({"total_documents": 1, "pending_consolidation": 4})

    def list_facts(self, bank_id: str, *, state: str = "valid", limit: int, offset: int = 0) -> Page[Fact]:
        if state == "invalidated":
            return Page([replace(self.facts[0], state=state)], 7)
        self.asked.append((offset, limit))
        if offset >= self.breaks_at:
            raise Timeout("The server did not answer in time.")
        return Page(list(self.facts[offset : offset + min(limit, self.page)]), len(self.facts))


def read(shelf: Shelf) -> tuple[Tally, reading.Told]:
    counted = Tally()
    return counted, reading.read(shelf, "b", counted, lambda done, total: None)  # type: ignore[arg-type]


@pytest.mark.parametrize("page", [500, 100])  # servers may give less than they are asked for
def test_all_facts_are_read_page_by_page(page: int) -> None:
    counted, told = read(Shelf([fact(number) for number in range(1_234)], page))
    assert counted.read == told.total == 1_234
    assert (told.retired, told.waiting, told.spread, told.stopped) == (7, 4, False, "")


def test_of_very_many_a_part_is_read_that_is_spread_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST", 1_000)
    monkeypatch.setattr(reading, "PAGE", 100)
    shelf = Shelf([fact(number) for number in range(20_000)])
    counted, told = read(shelf)
    assert counted.read == 1_000
    assert (told.total, told.spread, told.stopped) == (20_000, True, "")
    assert [offset for offset, _ in shelf.asked] == list(range(0, 20_000, 2_000))


def test_a_server_that_stops_in_between_leaves_what_was_read() -> None:
    counted, told = read(Shelf([fact(number) for number in range(1_200)], breaks_at=1_000))
    assert counted.read == 1_000
    assert told.total == 1_200
    assert "did not answer in time" in told.stopped


def test_a_list_that_begins_anew_ends() -> None:
    shelf = Shelf([fact(number) for number in range(500)])
    shelf.facts = [*shelf.facts] * 40
    counted, told = read(shelf)
    assert counted.read == 500
    assert told.stopped == reading.GOES_ROUND
    assert len(shelf.asked) == 2


def test_when_it_takes_too_long_it_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SECONDS", -1.0)
    counted, told = read(Shelf([fact(number) for number in range(1_200)]))
    assert counted.read == 500
    assert told.stopped == reading.TOO_LONG
