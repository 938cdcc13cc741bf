"""What banks answered to a search (banks.services.bank_search), as far as the person who looks may see them now."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.dateparse import parse_datetime

from banks import access
from banks.excerpts import ID_SHOWN, Excerpt, excerpt_of
from banks.log_excerpts import beginnings
from banks.models import Bank, Job, JobItem, Write
from banks.searching import Looked
from banks.services.bank_search import FAILED, FOUND
from memadmin.marking import literal_places
from reviews.models import ReviewEntry

BANKS_SHOWN = 25  # of those that have something
NAMED = 8  # banks that could not be asked, for each reason


@dataclass(frozen=True)
class BankHit:
    """`entry`: the memory of the document, `text` its words here. A document's own text is with the server alone."""

    id: str
    document_id: str
    document: Excerpt
    text: Excerpt | None
    type: str = ""
    in_context: bool = False
    facts: int | None = None
    at: datetime | None = None
    entry: int | None = None


@dataclass(frozen=True)
class BankFound:
    bank: Bank
    documents: list[BankHit]
    document_count: int
    facts: list[BankHit]
    fact_count: int


@dataclass(frozen=True)
class Silent:
    """Banks that could not be asked for one reason."""

    why: str
    banks: list[Bank]

    @property
    def more(self) -> int:
        return len(self.banks) - NAMED

    @property
    def named(self) -> list[Bank]:
        return self.banks[:NAMED]


@dataclass(frozen=True)
class Report:
    """`asked` and the rest count the banks that may be seen now. `later`: behind which number the next page begins."""

    asked: int
    done: int
    found: int
    later: int
    banks: list[BankFound] = field(default_factory=list)
    silent: list[Silent] = field(default_factory=list)


def report_of(user: Any, job: Job, after: int = 0) -> Report:
    """Five queries, however many banks."""
    numbers = dict(enumerate(job.params["banks"], start=1))
    visible = access.banks_for(user).select_related("server").filter(pk__in=list(numbers.values())).in_bulk()
    known = {number: visible[pk] for number, pk in numbers.items() if pk in visible}
    items = [each for each in _outcomes(job.items.order_by("number")) if each[0] in known]
    found = [number for number, outcome, _ in items if outcome == FOUND]
    page = [number for number in found if number > after][: BANKS_SHOWN + 1]
    later = page[BANKS_SHOWN - 1] if len(page) > BANKS_SHOWN else 0
    rows = job.items.filter(number__in=page[:BANKS_SHOWN]).order_by("number")
    reasons: dict[str, list[Bank]] = {}
    for number, outcome, why in items:
        if outcome == FAILED:
            reasons.setdefault(why, []).append(known[number])
    return Report(
        asked=len(known),
        done=len(items),
        found=len(found),
        later=later,
        banks=_banks(rows, known, job.params["words"]),
        silent=[Silent(why, banks) for why, banks in sorted(reasons.items())],
    )


def _outcomes(items: QuerySet[JobItem]) -> list[tuple[int, str, str]]:
    return list(items.values_list("number", "outcome", "reason"))


def _banks(rows: Iterable[JobItem], known: dict[int, Bank], words: str) -> list[BankFound]:
    told = [(known[row.number], Looked(**json.loads(bytes(row.raw)))) for row in rows]
    cards = _cards(told)
    texts = beginnings([text for _, text in cards.values()])
    made = []
    for bank, looked in told:
        documents = [_document(bank, each, cards, texts, words) for each in looked.documents]
        facts = [_fact(bank, each, cards, words) for each in looked.facts]
        made.append(BankFound(bank, documents, looked.document_count, facts, looked.fact_count))
    return made


Cards = dict[tuple[int, str], tuple[int, str | None]]


def _cards(told: Sequence[tuple[Bank, Looked]]) -> Cards:
    """{(bank, hash of the document): (its memory, the key of its text)}"""
    named = [(bank.pk, each["id"]) for bank, looked in told for each in looked.documents]
    named += [(bank.pk, each["document"]) for bank, looked in told for each in looked.facts if each["document"]]
    hashes = {Write.hash_of(document) for _, document in named}
    entries = ReviewEntry.objects.filter(bank__in={bank for bank, _ in named}, document_hash__in=hashes)
    rows = entries.values_list("bank", "document_hash", "pk", "text")
    return {(int(bank), document): (pk, text) for bank, document, pk, text in rows}


def _document(bank: Bank, told: dict[str, Any], cards: Cards, texts: dict[str, str | None], words: str) -> BankHit:
    entry, key = cards.get((bank.pk, Write.hash_of(told["id"])), (None, None))
    text = texts.get(key or "") or ""
    places = literal_places(text, words)
    return BankHit(
        id=told["id"],
        document_id=told["id"],
        document=_id(told["id"], words),
        text=excerpt_of(text, places) if places else None,
        facts=told["facts"],
        at=parse_datetime(told["at"]) if told["at"] else None,
        entry=entry,
    )


def _fact(bank: Bank, told: dict[str, Any], cards: Cards, words: str) -> BankHit:
    entry, _ = cards.get((bank.pk, Write.hash_of(told["document"])), (None, None))
    shown = excerpt_of(told["text"], literal_places(told["text"], words))
    before, after = told["cut"]
    return BankHit(
        id=told["id"],
        document_id=told["document"],
        document=_id(told["document"], words),
        text=Excerpt(shown.pieces, shown.whats, before=before or shown.before, after=after or shown.after),
        type=told["type"],
        in_context=told["in_context"],
        at=parse_datetime(told["at"]) if told["at"] else None,
        entry=entry,
    )


def _id(text: str, words: str) -> Excerpt:
    return excerpt_of(text[:ID_SHOWN], literal_places(text[:ID_SHOWN], words))
