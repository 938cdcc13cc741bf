"""What a search shows of a row: the part of its texts with the words, and nothing of an erased one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from banks.excerpts import Excerpt, excerpt, marked_id
from banks.files.selectors import tell_files
from banks.log_excerpts import beginnings, texts_of
from banks.models import Bank, Write
from banks.retain.selectors import tell_batches
from banks.selectors import mark_come_backs
from memadmin.terms import Phrase
from reviews.models import FactDecision, ReviewEntry


@dataclass(frozen=True)
class Hit:
    """`title`: of the text it is about, None where there is none any more, or none yet. `beside`: another of its texts,
    where that has words which the title lacks; `where` says which."""

    kind: str  # as reviews.selectors.search_filters.OWN has them
    row: ReviewEntry | FactDecision | Write
    document: Excerpt
    title: Excerpt | None = None
    beside: Excerpt | None = None
    where: str = ""
    entry: int | None = None  # the card of a fact's document

    @property
    def bank(self) -> Bank:
        return self.row.bank

    @property
    def at(self) -> datetime | None:
        row = self.row
        if isinstance(row, ReviewEntry):
            return row.enqueued_at
        return row.at if isinstance(row, FactDecision) else row.occurred_at

    @property
    def best(self) -> Excerpt | None:
        return self.beside or self.title


def memory_hits(entries: Sequence[ReviewEntry], phrases: Sequence[Phrase]) -> Iterator[Hit]:
    """One query."""
    texts = beginnings([entry.text_id for entry in entries])
    for entry in entries:
        text, document = texts.get(entry.text_id or ""), marked_id(entry.document_id, phrases)
        if _only_by_what_was_erased(bool(entry.text_id) and text is None, [document]):
            continue
        yield Hit("memories", entry, document, excerpt(text, phrases) if text else None)


def fact_hits(decisions: Sequence[FactDecision], phrases: Sequence[Phrase]) -> Iterator[Hit]:
    """Two queries."""
    texts = beginnings([key for each in decisions for key in (each.extracted_id, each.current_id)])
    cards = _cards(decisions)
    for each in decisions:
        now, was = texts.get(each.text_id), texts.get(each.extracted_id)
        document = marked_id(each.document_id, phrases)
        title = excerpt(now, phrases) if now else None
        others = [("reason", each.reason)] if each.reason else []
        others += [("text before it was edited", was)] if was and each.current_id else []
        where, beside = _best_beside(title, others, phrases)
        if _only_by_what_was_erased(now is None or was is None, [document, title, beside]):
            continue
        card = cards.get((each.bank_id, each.document_hash))
        yield Hit("facts", each, document, title, beside, where, card)


def row_hits(writes: Sequence[Write], phrases: Sequence[Phrase]) -> Iterator[Hit]:
    """Eight queries."""
    mark_come_backs(writes)
    tell_batches(writes)
    tell_files(writes)
    texts = texts_of(writes)
    for write in writes:
        document, found = marked_id(write.document_id, phrases), texts[write.pk]
        where, beside = _best_beside(None, found.told, phrases)
        who = marked_id(write.actor_name, phrases)
        if _only_by_what_was_erased(found.erased, [document, beside, who]):
            continue
        yield Hit("log", write, document, None, beside, where)


def _best_beside(
    title: Excerpt | None, texts: Sequence[tuple[str, str]], phrases: Sequence[Phrase]
) -> tuple[str, Excerpt | None]:
    where, best, most = "", None, title.whats if title else 0
    for label, text in texts:
        if most == len(phrases):
            break
        part = excerpt(text, phrases)
        if part.whats > most:
            where, best, most = label, part, part.whats
    return where, best


def _only_by_what_was_erased(erased: bool, seen: Sequence[Excerpt | None]) -> bool:
    """The index may still have words of a text that is gone: that they were in it is not told either."""
    return erased and not any(each and each.whats for each in seen)


def _cards(decisions: Sequence[FactDecision]) -> dict[tuple[int, str], int]:
    """{(bank, hash of the document): its memory}"""
    wanted = {(each.bank_id, each.document_hash) for each in decisions if each.document_hash}
    entries = ReviewEntry.objects.filter(
        bank__in={bank for bank, _ in wanted}, document_hash__in={d for _, d in wanted}
    )
    return {(int(bank), document): pk for bank, document, pk in entries.values_list("bank", "document_hash", "pk")}
