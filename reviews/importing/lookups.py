"""What the database knows about a lot of lines: a fixed number of queries per lot."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from banks.access import banks_for
from banks.bulk import rows_by
from banks.models import Role, Write
from memadmin.accounts.models import User
from reviews.importing.replay import Item, Memory
from reviews.models import Decision, ReviewEntry, SourceEvent, SourceFile

IN_ONE_QUERY = 2_000


@dataclass(slots=True)
class Stored:
    """The columns of an entry which an import may change, as they were read."""

    pk: int
    bank_id: int
    document_hash: str
    state: str
    version: int
    enqueued_at: datetime | None
    first_imported_at: datetime
    age_from: datetime | None
    project: str
    reason: str
    language: str
    sources: list[str]
    danger: bool
    text_by_id: int | None

    def memory(self) -> Memory:
        return Memory(
            self.state, self.enqueued_at, version=self.version, pk=self.pk, by_person=self.text_by_id is not None
        )


COLUMNS = tuple(Stored.__dataclass_fields__)


def recall(source: SourceFile, items: list[Item]) -> None:
    """Fills in which lines an earlier import of this source brought, and what became of them."""
    fresh = {item.identity: item for item in items if not item.pk}
    columns = ("identity", "id", "state", "entry_id")
    for identity, pk, state, entry_id in rows_by(SourceEvent, columns, ["identity"], [*fresh], source_id=source.pk):
        item = fresh[identity]
        item.pk, item.known, item.entry_id = pk, state, entry_id or 0


def recall_states(source: SourceFile, items: list[Item]) -> None:
    """Of a whole file: what its lines are known as now. Whoever acts on it recalls them in the same transaction."""
    if not SourceEvent.objects.filter(source=source).exists():
        return
    for start in range(0, len(items), IN_ONE_QUERY):
        lot = {item.identity: item for item in items[start : start + IN_ONE_QUERY]}
        found = rows_by(SourceEvent, ("identity", "state"), ["identity"], [*lot], source_id=source.pk)
        for identity, state in found:
            lot[identity].known = state


def entries_for(keys: Iterable[tuple[int, str]]) -> dict[tuple[int, str], Stored]:
    """Entries by (bank's pk, document_hash)."""
    wanted = [value for key in set(keys) for value in key]
    known = [pk for (pk,) in rows_by(ReviewEntry, ["id"], ["bank_id", "document_hash"], wanted)]
    rows = ReviewEntry.objects.filter(pk__in=known).order_by().values_list(*COLUMNS) if known else []
    return {(entry.bank_id, entry.document_hash): entry for entry in (Stored(*row) for row in rows)}


def recall_decisions(memories: dict[int, Memory], source: SourceFile) -> None:
    """Fills in the latest decision of each entry, and whether a line of this source claimed it."""
    rows = Decision.objects.filter(entry_id__in=list(memories)).order_by("pk")
    columns = ("entry_id", "verdict", "at", "event__identity", "event__source_id")
    for entry_id, verdict, at, identity, owner in rows.values_list(*columns):
        memory = memories[entry_id]
        memory.decided_at = at
        memory.reopened_at = at if verdict == Decision.Verdict.REOPENED else None
        memory.decided_by_line = identity if owner == source.pk else ""


def entries_of_source(source: SourceFile, document_ids: set[str], *, user: User) -> dict[str, list[ReviewEntry]]:
    """Entries with these document ids which this source brought to banks that the person may review."""
    found: dict[str, list[ReviewEntry]] = {}
    hashes = [Write.hash_of(document_id) for document_id in document_ids]
    for start in range(0, len(hashes), IN_ONE_QUERY):
        rows = ReviewEntry.objects.filter(
            bank__in=banks_for(user, Role.REVIEWER),
            document_hash__in=hashes[start : start + IN_ONE_QUERY],
            source_events__source=source,
        )
        for entry in rows.select_related("bank__server").distinct():
            found.setdefault(entry.document_id, []).append(entry)
    return found
