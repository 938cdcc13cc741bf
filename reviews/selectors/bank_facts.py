"""The facts of a bank as its server lists them now: a page at a time, while a fragment waits."""

from dataclasses import dataclass, replace

from banks.fact_kinds import seen_hash
from banks.hindsight import Entity, Fact
from banks.models import Bank, Write
from banks.reading import QUICK_SECONDS, Unread, reading
from reviews.models import ReviewEntry
from reviews.selectors.bank_fact_filters import BankFactFilters, not_applied
from reviews.selectors.facts import DOING, REPLACING, FactRow, fact_row, with_news
from reviews.selectors.places import Window
from reviews.services.document_facts import as_row

PAGE_SIZE = 50
WRITES_LOOKED_AT = 200


@dataclass(frozen=True)
class BankSheet:
    """One page. `facts` None: it could not be read, and `unread` says why.

    entity: the one asked for; not_applied: filters that the server left out; mark: of the writes under way in the bank.
    """

    facts: list[FactRow] | None
    window: Window[Fact] | None = None
    unread: Unread | None = None
    entity: Entity | None = None
    not_applied: tuple[str, ...] = ()
    working: bool = False
    mark: str = ""
    free: bool = True


def page_of(bank: Bank, filters: BankFactFilters) -> BankSheet:
    """One call, and a quick one before it where an entity is asked for."""
    writes = writes_of(bank)
    mark = _mark(writes)
    entity = None
    try:
        if filters.entity:
            with reading(bank, within=QUICK_SECONDS) as client:
                entity = client.get_entity(bank.bank_id, filters.entity)
        with reading(bank) as client:
            window = Window.read(
                filters,
                PAGE_SIZE,
                lambda limit, offset: client.list_facts(bank.bank_id, **filters.asked, limit=limit, offset=offset),
                lambda fact: fact.id,
            )
    except Unread as unread:
        return BankSheet(None, unread=unread, entity=entity, mark=mark)
    rows = with_news(bank.pk, [fact_row(as_row(fact)) for fact in window.rows], writes)
    rows = with_documents(bank, rows, {write.document_hash: write for write in writes if write.kind in REPLACING})
    return BankSheet(
        facts=rows,
        window=window,
        entity=entity,
        not_applied=not_applied(filters, window, entity),
        working=any(row.write and row.write.is_open for row in rows),
        mark=mark,
    )


def mark_of(bank: Bank) -> str:
    """Another one where a write of this bank began, went on or ended; the bank is not asked."""
    return _mark(writes_of(bank))


def with_documents(bank: Bank, rows: list[FactRow], replaced: dict[str, Write]) -> list[FactRow]:
    """With the memory of each fact's document, and the write that replaces all of its facts just now.

    replaced: {hash of the document: such a write}
    """
    hashes = {row.document_id: Write.hash_of(row.document_id) for row in rows if row.document_id}
    entries = ReviewEntry.objects.filter(bank=bank, document_hash__in=set(hashes.values()))
    known = dict(entries.order_by().values_list("document_hash", "pk"))
    return [
        replace(
            row,
            entry_id=known.get(hashes.get(row.document_id, "")),
            write=row.write or replaced.get(hashes.get(row.document_id, "")),
        )
        for row in rows
    ]


def writes_of(bank: Bank) -> list[Write]:
    """The newest that are under way, or need a person, oldest first."""
    open_ones = Write.objects.filter(bank=bank, state__in=Write.OPEN, kind__in=[*DOING, *REPLACING])
    states = [Write.State.ATTENTION, Write.State.CHANGED]
    stuck = Write.objects.filter(bank=bank, state__in=states, kind__in=DOING)
    names = ("kind", "state", "fact_ids", "document_hash", "actor_name", "via", "error_text", "occurred_at")
    found = [row for rows in (open_ones, stuck) for row in rows.only(*names).order_by("-pk")[:WRITES_LOOKED_AT]]
    return sorted(found, key=lambda write: write.pk)


def _mark(writes: list[Write]) -> str:
    return seen_hash("|".join(f"{write.pk}{write.state}" for write in writes))[:16]
