"""What is read for pages about banks and their write log."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404

from banks import access, writes
from banks.diffs import Diff, diff
from banks.models import Bank, Blob, Job, Role, Server, Write
from memadmin.counting import Count, count_of

State = Write.State
NEEDS_A_PERSON = [State.ATTENTION, State.CHANGED]


@dataclass(frozen=True)
class Look:
    """How a kind of write is shown."""

    glyph: str
    tone: str
    verb: str


def writes_seen_by(user: Any) -> QuerySet[Write]:
    """The one base of the log and of every count over it."""
    banks = access.bank_ids_for(user)
    return Write.objects.all() if banks is None else Write.objects.filter(bank__in=banks)


def mark_come_backs(rows: Iterable[Write]) -> None:
    """Sets `came_back` to the row that saw what a delete removed in the bank again, else None. One query."""
    deletes = {row.pk: row for row in rows if row.kind == "delete" and row.state == State.DONE}
    seen = Write.objects.filter(kind="reopen", undo_of__in=deletes).values_list("undo_of", "pk")
    found = dict(seen) if deletes else {}
    for row in deletes.values():
        row.came_back = found.get(row.pk)


def attention_count(user: Any) -> Count:
    """Writes that wait for a person."""
    return count_of(writes_seen_by(user).filter(state__in=NEEDS_A_PERSON))


def get_write(user: Any, pk: int, role: Role = Role.VIEWER) -> Write:
    """The row, when this person has at least this role on its bank: 404 for strangers, 403 for readers."""
    joined = ("bank__server", "token", "before", "request", "after", "undo_of")
    found = Write.objects.select_related(*joined).filter(pk=pk).first()
    if found is None:
        raise Http404("No such row.")
    access.require(user, found.bank, role)
    mark_come_backs([found])
    return found


def undone_by(write: Write) -> list[Write]:
    """The rows that took this one back, or answered it."""
    return list(write.undone_by.order_by("pk")[:20])


def group_size(user: Any, write: Write) -> Count | None:
    """How many rows the bulk action has; None for a row of its own."""
    return count_of(writes_seen_by(user).filter(group=write.group)) if write.group else None


def banks_seen_by(user: Any) -> list[Bank]:
    return list(access.banks_for(user).order_by("name", "id")[:300])


def writable_banks(user: Any) -> set[int]:
    """Primary keys of the banks on which this person may act."""
    return set(access.banks_for(user, Role.REVIEWER).values_list("pk", flat=True))


def look_of(kind: str) -> Look:
    """A kind that nobody registered is shown by its name."""
    try:
        found = writes.get(kind)
    except KeyError:
        return Look("?", "none", kind)
    return Look(found.glyph, found.tone, found.verb)


def diff_of(write: Write, before: Blob, after: Blob) -> Diff:
    if write.kind not in writes.names():
        return diff(before.text, after.text)
    readable = writes.get(write.kind).readable
    return diff(readable(before.text), readable(after.text))


def role_for(write: Write) -> Role:
    """What it takes to do such a thing, and so to have it tried again or given up. A reviewer's at least."""
    return writes.get(write.kind).role if write.kind in writes.names() else Role.REVIEWER


def servers_seen_by(user: Any) -> list[Server]:
    """The servers behind the banks this person may see, by name."""
    if getattr(user, "is_superuser", False):
        return list(Server.objects.all()[:50])
    seen = Q(banks__in=access.bank_ids_for(user) or []) | Q(pk__in=access.servers_for(user, Role.VIEWER).values("pk"))
    return list(Server.objects.filter(seen).distinct()[:50])


def get_job(user: Any, pk: int, kinds: Collection[str]) -> Job:
    """A work of these kinds: one's own, for an operator anybody's; everything else does not exist."""
    jobs = Job.objects.filter(pk=pk, kind__in=kinds)
    job = (jobs if user.is_superuser else jobs.filter(owner=user)).first()
    if job is None:
        raise Http404("No such work.")
    return job
