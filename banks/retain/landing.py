"""Which memories of a batch the bank has, as its list of documents says."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from banks.hindsight import DocumentRow, HindsightClient
from banks.models import RetainItem, Write

PAGE = 200
LENGTHS, UNKNOWN = "lengths_before", -1
CLOCKS_DIFFER = timedelta(seconds=5)  # the server's and ours; by more, and the same is sent once more to no effect
MOST_PAGES = 5  # of the newest documents, and more while many are missing; what is further down is asked for one by one
WORTH_A_PAGE = 16  # documents: to ask for so many one by one takes longer than another page


@dataclass
class Landing:
    """`here` has what was sent, `other` a document with another text, `missing` none."""

    here: list[RetainItem] = field(default_factory=list)
    other: list[RetainItem] = field(default_factory=list)
    missing: list[RetainItem] = field(default_factory=list)

    @property
    def not_here(self) -> list[RetainItem]:
        return sorted([*self.other, *self.missing], key=lambda row: row.pk)


def look(client: HindsightClient, write: Write, rows: Iterable[RetainItem], *, completed: bool) -> Landing:
    """Reads the bank, and notes on each row that was found when, and how many facts it gave.

    `completed`: the server says that all of it is stored. Then a document with another text was written again since;
    else it is as it was before. What was seen once has arrived, whatever became of it later.
    """
    rows = list(rows)
    found = _listed(client, write, {row.document_id for row in rows})
    landing, now = Landing(), timezone.now()
    for row in rows:
        document = found.get(row.document_id)
        if document is not None and (completed or _is_ours(row, document, write)):
            row.seen_at, row.fact_count = row.seen_at or now, document.fact_count
        if row.seen_at is not None:
            landing.here.append(row)
        else:
            (landing.missing if document is None else landing.other).append(row)
    _keep(landing.here)
    return landing


def _keep(rows: Iterable[RetainItem]) -> None:
    """One statement for all that have as many facts: an expression for each row takes longer than reading the bank."""
    alike: dict[tuple[datetime | None, int | None], list[int]] = {}
    for row in rows:
        alike.setdefault((row.seen_at, row.fact_count), []).append(row.pk)
    with transaction.atomic():
        for (seen_at, fact_count), keys in alike.items():
            RetainItem.objects.filter(pk__in=keys).update(seen_at=seen_at, fact_count=fact_count)


def _is_ours(row: RetainItem, document: DocumentRow, write: Write) -> bool:
    """The server's hash is that of the text. What was appended made it longer, by its own length and a line end.

    The same text may have been there before, with other tags: each retain of it moves the time of its document.
    """
    if row.update_mode == RetainItem.Mode.REPLACE:
        stored = document.updated_at
        moved = stored is None or stored >= row.queued_at - CLOCKS_DIFFER
        return moved and document.content_hash == row.content_id
    before = write.outcome.get(LENGTHS, {}).get(str(row.pk), UNKNOWN)
    return before != UNKNOWN and document.text_length == row.content.length + (before + 1 if before else 0)


def lengths(client: HindsightClient, write: Write, rows: Iterable[RetainItem]) -> dict[str, int]:
    """Before anything is appended: how long each document is, 0 where there is none."""
    rows = list(rows)
    found = _listed(client, write, {row.document_id for row in rows})
    return {str(row.pk): found[row.document_id].text_length if row.document_id in found else 0 for row in rows}


def _listed(client: HindsightClient, write: Write, wanted: set[str]) -> dict[str, DocumentRow]:
    """What was just stored is at the beginning of the list; the newest first."""
    bank_id, found = write.bank.bank_id, dict[str, DocumentRow]()
    size = min(PAGE, len(wanted) + 8)
    for number in range(MOST_PAGES + len(wanted) // WORTH_A_PAGE):
        page = client.list_documents(bank_id, limit=size, offset=number * size)
        found.update((each.id, each) for each in page.items if each.id in wanted)
        missing = len(wanted) - len(found)
        if not missing or len(page.items) < size or number + 1 >= MOST_PAGES + missing // WORTH_A_PAGE:
            break
    for document_id in sorted(wanted - found.keys()):
        if (each := client.find_document(bank_id, document_id)) is not None:
            found[document_id] = each
    return found
