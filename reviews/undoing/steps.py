"""A person's last actions as the write log has them: a row each, and one step for all rows of a bulk action."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from banks import access, writes
from banks.models import Job, Write
from memadmin import words
from reviews.bulk import deciding, undoing
from reviews.curation import archive

REACH = timedelta(hours=24)
# Of a person's own rows the latest so many are looked at, those that took something back among them.
LOOKED_AT = 200
FRESH = timedelta(seconds=10)
# Bulk actions, which are jobs: what each of their rows is.
BULK = {"bulk-restore": "restore", "bulk-approve": "approve", "bulk-delete": "delete"}
BULK_RESTORE = "bulk-restore"
# What a person does on pages. Imports, notes and what happens by itself are nobody's last action; a put-back, which
# takes a delete back, is undone by deleting anew.
KINDS = frozenset(
    {"approve", "vouch", "delete", "gone", "edit", "retire", "restore", "edit-fact", "reject", "edit-held"}
)
ABOUT_FACTS = frozenset({"retire", "restore", "edit-fact"})


@dataclass(frozen=True)
class Step:
    """One action. `name` is what a form posts: "w12" for a row, "j3" for a bulk action."""

    name: str
    pk: int
    kind: str
    at: datetime
    bank_id: int | None = None
    document_id: str = ""
    document_hash: str = ""
    facts: int = 0
    memories: int = 0
    sent_at: datetime | None = None  # until when a delete waits
    hidden: bool = False  # of a bank that this person may not see any more: nothing of it is shown

    @property
    def verb(self) -> str:
        return writes.get(self.row_kind).verb

    @property
    def did(self) -> str:
        return writes.get(self.row_kind).past.capitalize()

    @property
    def glyph(self) -> str:
        return writes.get(self.row_kind).glyph

    @property
    def tone(self) -> str:
        return writes.get(self.row_kind).tone

    @property
    def row_kind(self) -> str:
        """The kind of its row of the log, or of each of its rows."""
        return BULK.get(self.kind, self.kind)

    @property
    def facts_said(self) -> str:
        """ "2 facts" where it is about facts; an edit is always of one, and its verb says so."""
        if self.kind not in ("retire", "restore", BULK_RESTORE):
            return ""
        return f"{self.facts:,} fact{'' if self.facts == 1 else 's'}"

    @property
    def said(self) -> str:
        """ "approve of notes/1.md", "retire of 2 facts in notes/1.md": what would be taken back, in words."""
        if self.hidden:
            return f"{self.verb} in a bank that you can no longer see"
        return f"{self.verb} of {self.what}"

    @property
    def what(self) -> str:
        if self.memories:
            return f"{self.memories:,} {'memory' if self.memories == 1 else 'memories'}"
        where = " in ".join(part for part in (self.facts_said, self.document_id) if part)
        return where or "a fact of a document that is not known"

    @property
    def fresh(self) -> bool:
        """Just done, or a delete that still waits: shown as a toast."""
        now = timezone.now()
        return self.sent_at > now if self.sent_at is not None else now - self.at < FRESH

    @property
    def left(self) -> str:
        """Until a delete is sent."""
        now = timezone.now()
        return words.span(self.sent_at - now) if self.sent_at is not None and self.sent_at > now else ""


def stack(user: Any) -> list[Step]:
    """The last actions of this person, newest first, without those that they took back. Two queries."""
    since = timezone.now() - REACH
    return sorted([*_rows(user, since), *_bulk(user, since)], key=lambda step: step.at, reverse=True)


def top(user: Any, passed: Collection[str] = ()) -> Step | None:
    """What "undo" means now. `passed`: names of steps that were refused, and said so to this person."""
    return next((step for step in stack(user) if step.name not in passed), None)


def _rows(user: Any, since: datetime) -> list[Step]:
    own = Write.objects.filter(actor=user, group__isnull=True).order_by("-pk")
    fields = ("pk", "kind", "via", "state", "occurred_at", "not_before", "bank_id", "document_id", "document_hash")
    rows = list(own.values(*fields, "fact_ids", "undo_of_id", "undo_of__actor_id")[:LOOKED_AT])
    undone = {row["undo_of_id"] for row in rows if row["state"] != Write.State.CANCELLED}
    seen = access.bank_ids_for(user)
    return [
        _step(row, hidden=seen is not None and row["bank_id"] not in seen)
        for row in rows
        if row["kind"] in KINDS
        and row["via"] == Write.Via.WEB
        and row["occurred_at"] >= since
        and row["pk"] not in undone
        # What takes back somebody else's act is an act of its own.
        and (row["undo_of_id"] is None or row["undo_of__actor_id"] != user.pk)
    ]


def _step(row: dict[str, Any], *, hidden: bool) -> Step:
    waits = row["kind"] == "delete" and row["state"] == Write.State.QUEUED
    return Step(
        name=f"w{row['pk']}",
        pk=row["pk"],
        kind=row["kind"],
        at=row["occurred_at"],
        bank_id=row["bank_id"],
        document_id="" if hidden else row["document_id"],
        document_hash=row["document_hash"],
        facts=len(row["fact_ids"]),
        sent_at=row["not_before"] if waits else None,
        hidden=hidden,
    )


def _bulk(user: Any, since: datetime) -> list[Step]:
    """Bulk actions; what took one back is a job as well, and names it."""
    kinds = [archive.RESTORE, archive.RETIRE, deciding.KIND, undoing.KIND]
    jobs = Job.objects.filter(owner=user, kind__in=kinds, created__gte=since)
    fields = ("pk", "kind", "state", "created", "params__job", "params__total", "params__verdict", "params__send_at")
    rows = list(jobs.order_by("-pk").values(*fields)[:LOOKED_AT])
    undone = {row["params__job"] for row in rows if row["state"] != Job.State.FAILED}
    return [
        _bulk_step(row) for row in rows if row["kind"] in (archive.RESTORE, deciding.KIND) and row["pk"] not in undone
    ]


def _bulk_step(row: dict[str, Any]) -> Step:
    name, total = f"j{row['pk']}", row["params__total"] or 0
    if row["kind"] == archive.RESTORE:
        return Step(name, row["pk"], BULK_RESTORE, row["created"], facts=total)
    sent_at = parse_datetime(row["params__send_at"] or "")
    return Step(name, row["pk"], f"bulk-{row['params__verdict']}", row["created"], memories=total, sent_at=sent_at)
