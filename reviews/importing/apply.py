"""Stores what a lot of lines says: the lines themselves, entries, claimed decisions, parked lines.

To be called inside a transaction. Nothing is overwritten blindly: an entry that changed since it was read makes the
whole lot start again (`Overtaken`), and lines that are already there are not stored a second time.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from operator import attrgetter, itemgetter
from typing import Any

from django.db import connection
from django.db.models import F
from django.utils import timezone

from banks.bulk import Inserter, reserve_ids
from banks.models import Bank, Job
from memadmin.accounts.models import User
from reviews import search
from reviews.importing.lookups import Stored, entries_for, recall, recall_decisions
from reviews.importing.placing import why_no_document
from reviews.importing.plan import Group
from reviews.importing.replay import Claim, Item, Line, Memory, Rules, replay
from reviews.models import Decision, Parked, ReviewEntry, SourceEvent, SourceFile
from reviews.services.expiry import expiry_of
from reviews.text import project_of

Load, State = ReviewEntry.Load, ReviewEntry.State

# A file's claim that something was deleted is checked, after what people wait for was loaded.
CHECK_DELETED_AFTER = timedelta(minutes=10)


_ENTRY_COLUMNS = (
    *("id", "bank_id", "document_id", "document_hash", "state", "version", "project", "reason", "language"),
    *("enqueued_at", "age_from", "expires_at", "load_state", "load_error", "load_after", "decided_via", "decided_at"),
)
_EVENT_COLUMNS = (
    *("id", "identity", "line", "ev", "document_id", "bank_id", "base_url", "namespace", "project", "reason"),
    *("language", "ts", "action", "by", "at", "raw", "state", "reason_text", "entry_id"),
)


class Overtaken(Exception):
    """Somebody decided in between: nothing of this lot was stored; read again and judge again."""


class Applier:
    """Applies lots of one source, on behalf of the person whose rights placed the lines."""

    def __init__(self, *, source: SourceFile, user: User, job: Job | None, raw_of: Callable[[Item], bytes]) -> None:
        self.source, self.user, self.job, self.raw_of = source, user, job, raw_of
        self.name = source.machine or "review queue"
        self.now = timezone.now()
        self._dates: dict[datetime, Any] = {}
        # As Django says it, without asking for the zone each time: all moments here are in UTC.
        self._moment = _as_text if connection.vendor == "sqlite" else connection.ops.adapt_datetimefield_value
        self._scratch = ReviewEntry(first_imported_at=self.now)
        self._prepare()

    def apply(self, groups: list[Group]) -> None:
        """One lot. Raises Overtaken, or IntegrityError where another import of the same lines was faster."""
        self.now = timezone.now()
        self._dates.clear()
        items = [item for group in groups for item in group.items]
        for item in items:
            item.forget()
        recall(self.source, items)
        placed = [group for group in groups if group.bank and any(item.counts for item in group.items)]
        entries = entries_for((group.bank.pk, group.document_hash) for group in placed if group.bank)
        memories = {entry.pk: entry.memory() for entry in entries.values()}
        if memories:
            recall_decisions(memories, self.source)
        created: list[tuple[Group, Memory]] = []
        changed: list[tuple[Stored, Memory, Group]] = []
        for group in placed:
            entry = entries.get((group.bank.pk, group.document_hash)) if group.bank else None
            memory = replay(memories[entry.pk] if entry else None, group.items, now=self.now, rules=_rules(group))
            if entry is not None and memory is not None:
                changed.append((entry, memory, group))
            elif memory is not None:
                created.append((group, memory))
        # Rows in the order that everybody keeps (see reviews.services.enqueue): nobody waits for each other.
        for each in sorted(changed, key=lambda each: each[0].pk):
            self._change(*each)
        self._create(created)
        self._store_items(groups, items)
        self._store_claims([memory for _, memory in created] + list(memories.values()))

    # ── entries ────────────────────────────────────────────────────────────────────────────────────────────

    def _create(self, created: list[tuple[Group, Memory]]) -> None:
        rows = []
        for pk, (group, memory) in zip(reserve_ids(ReviewEntry, len(created)), created, strict=True):
            memory.pk = pk
            for item in group.items:
                item.entry_id = pk
            rows.append(self._row(pk, group, memory))
        self._entries.insert(sorted(rows, key=itemgetter(1, 2)))  # by bank and document
        search.index_ids((memory.pk, group.document_id) for group, memory in created)

    def _row(self, pk: int, group: Group, memory: Memory) -> tuple[Any, ...]:
        assert memory.add is not None
        assert group.bank is not None
        event, age = memory.add.event, self._date(memory.enqueued_at)
        refusal = why_no_document(event.document_id)
        load = (Load.REFUSED, refusal, None) if refusal else (Load.LOADING, "", self._load_after(memory))
        latest = memory.claims[-1] if memory.state != State.PENDING else None
        return (
            pk,
            group.bank.pk,
            event.document_id,
            group.document_hash,
            memory.state,
            memory.version,
            project_of(event.project),
            event.reason[:200],
            event.language[:35],
            age,
            # In one import a memory that was closed and added again was never seen open: its age starts now.
            self._date(self._age(memory, memory.enqueued_at)),
            self._date(self._first_expiry(group.bank, memory)) if not refusal else None,
            *load,
            Decision.Via.FILE if latest else "",
            self._date(latest.at) if latest else None,
        )

    def _change(self, entry: Stored, memory: Memory, group: Group) -> None:
        changes = self._changes(entry, memory, group)
        if changes:
            rows = ReviewEntry.objects.filter(pk=entry.pk, version=entry.version, state=entry.state)
            if not rows.update(**changes):
                raise Overtaken
        for item in group.items:
            if item.state:
                item.entry_id = entry.pk

    def _changes(self, entry: Stored, memory: Memory, group: Group) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if memory.add is not None:
            event = memory.add.event
            fields: dict[str, Any] = {
                "project": project_of(event.project),
                "reason": event.reason[:200],
                "language": event.language[:35],
                "enqueued_at": memory.enqueued_at,
            }
            changes = {name: value for name, value in fields.items() if getattr(entry, name) != value}
            if self.name not in entry.sources:
                changes["sources"] = [*entry.sources, self.name]
        if memory.reopened or "enqueued_at" in changes:
            changes |= self._again(entry, memory, group)
        if memory.claims and memory.state != State.PENDING:  # perhaps opened again in between, and decided as before
            changes |= {"decided_by": "", "decided_via": Decision.Via.FILE, "decided_at": memory.claims[-1].at}
            changes["expires_at"] = None
            if memory.state == State.DELETED:
                changes["load_after"] = self.now + CHECK_DELETED_AFTER
        if memory.state != entry.state:
            changes["state"] = memory.state
        if memory.version != entry.version or "load_state" in changes:
            changes["version"] = F("version") + max(memory.version - entry.version, 1)
        return changes

    def _again(self, entry: Stored, memory: Memory, group: Group) -> dict[str, Any]:
        """It was stored once more: the text may be another one, nobody decides before it is loaded again."""
        assert group.bank is not None
        age = self._age(memory, memory.enqueued_at)
        # Edited, taken back or opened again since it was enqueued; what had no date kept no age, but a decision.
        restarted = entry.age_from if entry.age_from != entry.enqueued_at else memory.reopened_at
        if age is not None and restarted is not None:
            age = max(age, restarted)
        self._scratch.danger = entry.danger
        changes: dict[str, Any] = {"age_from": age}
        changes["expires_at"] = self._expiry(group.bank, age, entry.first_imported_at)
        self._scratch.danger = False
        if memory.reopened and memory.state == State.PENDING:
            changes |= {"decided_by": "", "decided_via": "", "decided_at": None}
        if not why_no_document(group.document_id):
            changes |= {"load_state": Load.LOADING, "load_after": self.now, "load_attempts": 0, "load_error": ""}
        return changes

    def _age(self, memory: Memory, enqueued_at: datetime | None) -> datetime | None:
        """What has no date has no age, however often it is opened again."""
        return max(enqueued_at, self.now) if memory.reopened and enqueued_at else enqueued_at

    def _expiry(self, bank: Bank, age_from: datetime | None, first_imported_at: datetime) -> datetime | None:
        self._scratch.age_from, self._scratch.first_imported_at = age_from, first_imported_at
        return expiry_of(entry=self._scratch, bank=bank)

    def _first_expiry(self, bank: Bank, memory: Memory) -> datetime | None:
        if memory.state != State.PENDING:
            return None
        return self._expiry(bank, self._age(memory, memory.enqueued_at), self.now)

    def _load_after(self, memory: Memory) -> Any:
        if memory.state == State.DELETED:
            return self._date(self.now + CHECK_DELETED_AFTER)
        # An approved text is read when somebody opens it.
        return self._date(self.now) if memory.state == State.PENDING else None

    # ── lines ──────────────────────────────────────────────────────────────────────────────────────────────

    def _store_items(self, groups: list[Group], items: list[Item]) -> None:
        for group in groups:
            if group.bank is None:
                verdict = (Line.SUPERSEDED, group.settled) if group.settled else (Line.PARKED, group.reason)
                for item in group.items:
                    if item.counts:
                        item.judge(*verdict)
        fresh = sorted((item for item in items if not item.pk), key=attrgetter("offset"))
        rows = []
        for pk, item in zip(reserve_ids(SourceEvent, len(fresh)), fresh, strict=True):
            item.pk = pk
            rows.append(self._event_row(item))
        self._events.insert(rows)
        self._park(groups)
        self._restate([item for item in items if item.known and item.state])

    def _event_row(self, item: Item) -> tuple[Any, ...]:
        return (
            item.pk,
            item.identity,
            item.number,
            *item.event,
            self._date(item.at),
            self.raw_of(item),
            item.state,
            item.why,
            item.entry_id or None,
        )

    def _restate(self, items: list[Item]) -> None:
        """Known lines of which something else became: a later line replaced them, or they found their place."""
        placed = []
        for item in items:
            values: dict[str, Any] = {"state": item.state, "reason_text": item.why, "entry": item.entry_id or None}
            if item.counts:
                values["job"] = self.job
                placed += [item.pk] if item.state != Line.PARKED else []
            SourceEvent.objects.filter(pk=item.pk).update(**values)
        Parked.objects.filter(event__in=placed, assigned_at=None).update(assigned_at=self.now, assigned_by=self.user)

    def _park(self, groups: list[Group]) -> None:
        rows = [
            (item.pk, item.why, group.server.pk if group.server else None)
            for group in groups
            for item in group.items
            if item.state == Line.PARKED and not item.known
        ]
        self._parked.insert(sorted(rows))

    def _store_claims(self, memories: list[Memory]) -> None:
        claims = [(memory.pk, claim) for memory in memories for claim in memory.claims]
        self._decisions.insert([self._claim_row(entry_id, claim) for entry_id, claim in claims])

    def _claim_row(self, entry_id: int, claim: Claim) -> tuple[Any, ...]:
        note = f"line {claim.item.number:,} of {self.name[:100]}"
        note = f"{note}, {claim.note}" if claim.note else note
        return entry_id, claim.verdict, claim.version, claim.item.pk, note[:300], self._date(claim.at)

    # ── how rows are written ───────────────────────────────────────────────────────────────────────────────

    def _date(self, value: datetime | None) -> Any:
        """As the database takes it. The same moments come again and again: a line's, its entry's, its decision's."""
        if value is None:
            return None
        if value not in self._dates:
            self._dates[value] = self._moment(value)
        return self._dates[value]

    def _prepare(self) -> None:
        self._entries = Inserter(
            ReviewEntry,
            _ENTRY_COLUMNS,
            sources=[self.name],
            first_imported_at=self.now,
            created=self.now,
        )
        self._events = Inserter(
            SourceEvent,
            _EVENT_COLUMNS,
            source=self.source,
            job=self.job,
            created=self.now,
        )
        self._parked = Inserter(Parked, ("event_id", "reason", "server_id"), owner=self.source.owner, created=self.now)
        self._decisions = Inserter(
            Decision,
            ("entry_id", "verdict", "version", "event_id", "note", "at"),
            decided_via=Decision.Via.FILE,
        )


def _rules(group: Group) -> Rules:
    assert group.bank is not None
    return Rules(group.bank.two_reviewers, group.bank.bars_writer)


def _as_text(moment: datetime) -> str:
    return str(moment.replace(tzinfo=None))
