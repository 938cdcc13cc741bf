"""What is read for the pages about operations: our rows alone, by a constant number of queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zlib import crc32

from django.db.models import Count as CountOf
from django.db.models import Max, Min, Prefetch, Q, QuerySet
from django.utils import timezone

from banks import access
from banks.models import Bank, Job, JobItem, OperationLook, OperationSeen, Role, Write
from banks.operations import acts
from banks.operations.filters import STATUSES, OperationFilters
from banks.operations.read import FAILED_READ, OPEN_READ
from memadmin.counting import Count, counts_of
from memadmin.paging import Cursor, Order, Page, page_of

ORDER = Order("began", descending=True, always_dated=True)
Phase = OperationSeen.Phase
PAGE_SIZE, PARTS_SHOWN, NAMED = 50, 20, 5
CAP = 1_000
OLD = timedelta(minutes=10)  # a look that is older tells about the workers, or about the server
WORDS_SHOWN = 100
# The page asks again after a quarter of the time in which nothing has changed, and at last no more.
SOONEST, LATEST = 5, 60  # seconds
GIVES_UP = timedelta(hours=1)
# Kinds whose rows say in their outcome what they are about.
SAYING = {*acts.KINDS.values(), "directive-create", "directive-edit", "directive-delete", "tags"}


@dataclass
class OperationRow:
    """`parts`: the first of `count` children. `lead`: whose status tells most; of a retain of one document its part."""

    seen: OperationSeen
    parts: list["OperationRow"] = field(default_factory=list)
    count: int = 0
    unfinished: int = 0
    failed: int = 0
    write: Write | None = None  # of ours, that began it
    act: Write | None = None  # a retry or cancel that is under way, or needs a person
    may_retry: bool = False
    may_cancel: bool = False
    may_forget: bool = False

    @property
    def lead(self) -> OperationSeen:
        return self.parts[0].seen if self.count == 1 else self.seen

    @property
    def version(self) -> str:
        """Another one when the row has to be shown anew."""
        acts = [(each.act.pk, each.act.state) for each in (self, *self.parts) if each.act]
        told = (
            self.seen.changed_at,
            self.write and (self.write.state, self.landing),
            self.may_retry,
            self.may_cancel,
            self.may_forget,
            acts,
            self.old,
        )
        return f"{crc32(repr(told).encode()):x}"

    @property
    def landing(self) -> str:
        """Of a batch of ours, what its operation alone does not tell: "looking" for its documents in the bank's list,
        "overdue", "missing" some, or ""."""
        write = self.write
        if write is None or write.kind != "retain":
            return ""
        if write.state == Write.State.ATTENTION:
            return "missing"
        if not write.is_open:
            return ""
        return "looking" if self.seen.phase != Phase.OPEN else "overdue" if write.outcome.get("overdue") else ""

    @property
    def old(self) -> bool:
        """Whether its bank was not read for long."""
        looked_at = self.seen.bank.operation_look.looked_at
        return looked_at is None or looked_at < timezone.now() - OLD


def operation_page(
    user: Any, filters: OperationFilters, cursor: Cursor | None, size: int = PAGE_SIZE
) -> Page[OperationSeen]:
    return page_of(_with_parts(filters.rows(user)), ORDER, cursor, size)


def rows_by_pk(user: Any, pks: Sequence[int]) -> list[OperationSeen]:
    """Those of the rows of a page that have not moved out of this person's sight."""
    return list(_with_parts(OperationFilters().rows(user)).filter(pk__in=pks))


def _with_parts(rows: QuerySet[OperationSeen]) -> QuerySet[OperationSeen]:
    parts = OperationSeen.objects.select_related("bank").order_by("pk")[:PARTS_SHOWN]
    return rows.select_related("bank__server", "bank__operation_look").prefetch_related(
        Prefetch("children", queryset=parts, to_attr="first_parts")
    )


def as_rows(user: Any, found: Iterable[OperationSeen]) -> list[OperationRow]:
    """Four queries."""
    found = list(found)
    everything = [each for row in found for each in (row, *row.first_parts)]  # type: ignore[attr-defined]
    counts = _counts([row.pk for row in found])
    writes, busy = _writes(everything), acts.under_way(everything, [*Write.OPEN, Write.State.ATTENTION])
    rights = {act: access.bank_ids_for(user, acts.ROLES[act]) for act in acts.ROLES}

    def row_of(seen: OperationSeen, parts: Sequence[OperationSeen] = ()) -> OperationRow:
        total, unfinished, failed = counts.get(seen.pk, (0, 0, 0))
        row = OperationRow(seen, [row_of(part) for part in parts], total, unfinished, failed)
        row.write = writes.get((seen.bank_id, seen.operation_id))
        row.act = busy.get(acts.slot_of(seen))
        may = {act: banks is None or seen.bank_id in banks for act, banks in rights.items()}
        idle = row.act is None or not row.act.is_open
        row.may_retry = idle and may["retry"] and any(each.may_be_retried for each in (seen, *parts))
        row.may_forget = idle and may["forget"] and seen.may_be_forgotten and seen.parent_id is None
        row.may_cancel = idle and may["cancel"] and any(each.may_be_cancelled for each in (seen, *parts))
        return row

    return [row_of(row, row.first_parts) for row in found]  # type: ignore[attr-defined]


def _counts(pks: list[int]) -> dict[int, tuple[int, int, int]]:
    rows = OperationSeen.objects.filter(parent__in=pks).order_by().values_list("parent")
    counted = rows.annotate(
        total=CountOf("pk"),
        unfinished=CountOf("pk", filter=Q(phase=Phase.OPEN)),
        failed=CountOf("pk", filter=Q(phase=Phase.FAILED)),
    )
    return {parent: (total, unfinished, failed) for parent, total, unfinished, failed in counted}


def _writes(rows: Iterable[OperationSeen]) -> dict[tuple[int, str], Write]:
    """Our writes by the operations that they began."""
    ids = [found for row in rows if (found := _uuid(row.operation_id))]
    writes = Write.objects.filter(operation_id__in=ids).only("bank", "operation_id", "kind", "state", "outcome")
    return {(write.bank_id, str(write.operation_id)): write for write in writes}


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class Counts:
    found: Count
    open: Count
    failed: Count
    stuck: Count


def counts(user: Any, filters: OperationFilters) -> Counts:
    """Of the list and of each view of it. One query."""
    asked = [filters, *(OperationFilters(**{**filters.values, "show": show}) for show in ("open", "failed", "stuck"))]
    return Counts(*counts_of([(each.rows(user), CAP) for each in asked]))


def troubled(user: Any) -> tuple[Count, Count]:
    """(failed, stuck) of all banks, for the first page. One query."""
    views = [OperationFilters(show=show).rows(user) for show in ("failed", "stuck")]
    failed, stuck = counts_of([(rows, CAP) for rows in views])
    return failed, stuck


def troubled_by_bank(banks: Sequence[int]) -> dict[int, tuple[int, int]]:
    """{bank: (failed, stuck)} of the banks that have any. One query."""
    stuck = Q(phase=Phase.OPEN, still_since__lte=timezone.now() - OperationSeen.stuck_before())
    failed = Q(phase=Phase.FAILED)
    rows = OperationSeen.objects.filter(failed | stuck, bank__in=banks, parent=None).order_by().values_list("bank")
    counted = rows.annotate(of_failed=CountOf("pk", filter=failed), of_stuck=CountOf("pk", filter=stuck))
    return {bank: (failed, stuck) for bank, failed, stuck in counted}


# ── how fresh it is ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Freshness:
    """`oldest`: the look that is longest ago; `never`: banks not read yet; `broken`, `more`: the first few."""

    banks: int
    oldest: datetime | None
    never: int
    broken: list[OperationLook]
    broken_count: int
    more: list[OperationLook]
    reading: bool

    @property
    def old(self) -> bool:
        return self.oldest is not None and self.oldest < timezone.now() - OLD


def freshness(user: Any, filters: OperationFilters) -> Freshness:
    """Three queries."""
    now, looks = timezone.now(), filters.looks(user)
    reading = Q(look_after__lte=now) | Q(claimed_until__gt=now)
    told = looks.aggregate(
        banks=CountOf("pk"),
        oldest=Min("looked_at"),
        read=CountOf("looked_at"),
        broken=CountOf("pk", filter=~Q(error="")),
        reading=CountOf("pk", filter=reading),
    )
    broken = looks.exclude(error="").select_related("bank").order_by("looked_at", "pk")[:NAMED]
    beyond = Q(open_total__gt=2 * OPEN_READ) | Q(failed_total__gt=FAILED_READ)
    return Freshness(
        banks=told["banks"],
        oldest=told["oldest"],
        never=told["banks"] - told["read"],
        broken=list(broken) if told["broken"] else [],
        broken_count=told["broken"],
        more=list(looks.filter(beyond).select_related("bank").order_by("pk")[:NAMED]),
        reading=bool(told["reading"]) and bool(filters.bank),
    )


@dataclass(frozen=True)
class Asking:
    """Whether and when the page asks again. `delay`: seconds, 0 = no more; `why_not`: "", "over" or "still"."""

    delay: int
    why_not: str = ""


def asking(user: Any, filters: OperationFilters, *, reading: bool, rows: Sequence[OperationRow] = ()) -> Asking:
    """Backs off while nothing changes; ends when nothing is open, or nothing has changed for an hour. One query.

    `rows`: those on the page. A batch whose documents are being looked for is not over.
    """
    unfinished = filters.rows(user).filter(phase=Phase.OPEN)
    told = unfinished.aggregate(newest=Max("changed_at"), count=CountOf("pk"))
    if reading:
        return Asking(SOONEST if told["count"] else 2)
    moved = [told["newest"], *(row.seen.changed_at for row in rows if row.landing == "looking")]
    newest = max((each for each in moved if each), default=None)
    if newest is None:
        return Asking(0, "over")
    quiet = timezone.now() - newest
    if quiet > GIVES_UP:
        return Asking(0, "still")
    return Asking(int(min(max(quiet.total_seconds() / 4, SOONEST), LATEST)))


# ── options, acts, jobs ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Options:
    banks: list[Bank]
    servers: list[tuple[int, str]]
    statuses: list[str]
    types: list[str]


def options(user: Any, filters: OperationFilters) -> Options:
    """What the selects of the filter bar offer; what is asked for is among it. Three queries."""
    seen = OperationFilters().rows(user) if filters.values else filters.rows(user)
    mine = OperationSeen.objects.filter(bank__in=seen.order_by().values("bank").distinct())
    words = set(mine.order_by().values_list("status", "type").distinct()[:WORDS_SHOWN])
    banks = list(access.banks_for(user).select_related("server").order_by("name", "id")[:300])
    if filters.bank and int(filters.bank) not in {bank.pk for bank in banks}:
        banks += access.banks_for(user).select_related("server").filter(pk=int(filters.bank))
    unknown = sorted({status for status, _ in words} | ({filters.status} if filters.status else set()) - {""})
    types = {kind for _, kind in words} | {filters.type}
    return Options(
        banks=banks,
        servers=sorted({(bank.server_id, bank.server.name) for bank in banks}, key=lambda each: each[1].lower()),
        statuses=[*STATUSES, *(status for status in unknown if status not in STATUSES)],
        types=sorted(types - {""}),
    )


def picked(user: Any, picks: Sequence[int], filters: OperationFilters | None, role: Role) -> list[OperationSeen]:
    """The rows that a person picked, parts among them, or all that match; one more than allowed tells of more."""
    if filters is not None:
        rows = filters.rows(user, role)
    else:
        banks = access.bank_ids_for(user)
        rows = OperationSeen.objects.filter(pk__in=picks)
        rows = rows if banks is None else rows.filter(bank__in=banks)
    return list(rows.select_related("bank__server").order_by("-began", "-pk")[: acts.MOST + 1])


@dataclass(frozen=True)
class Progress:
    """A group of writes as they stand."""

    done: int
    refused: int
    cancelled: int
    waiting: int

    @property
    def handled(self) -> int:
        return self.done + self.refused + self.cancelled


def progress_of(job: Job) -> Progress:
    states = dict(rows_of(job).order_by().values_list("state").annotate(CountOf("pk")))
    return Progress(
        done=states.get(Write.State.DONE, 0),
        refused=states.get(Write.State.ATTENTION, 0) + states.get(Write.State.CHANGED, 0),
        cancelled=states.get(Write.State.CANCELLED, 0),
        waiting=sum(states.get(state, 0) for state in Write.OPEN),
    )


def rows_of(job: Job) -> QuerySet[Write]:
    return Write.objects.filter(group=job.params["group"]).select_related("bank").order_by("pk")


def skipped_of(job: Job) -> list[JobItem]:
    return list(job.items.order_by("number")[:WORDS_SHOWN])


def said(write: Write) -> str:
    """One line about an operation, a directive or tags: which one, and what is known. Reads the outcome alone."""
    if write.kind not in SAYING:
        return ""
    told = [str(write.outcome.get(name, "")) for name in ("about", "said")]
    return ": ".join(each for each in told if each)
