"""From the queue to the door: all that waits for a bank goes out together, in order, one flush after the other.

Sixteen memories go at once, fewer after a few seconds. What is not sent yet stays a row of the queue: while a server is
away or a bank is gone nothing is put together, and everything goes out in few requests later.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import uuid4

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Exists, Min, OuterRef, QuerySet
from django.utils import timezone

from banks import connections
from banks.models import Bank, RetainItem, Server, Write
from banks.writes import dispatch, record
from banks.writes.kind import retain_slot

logger = logging.getLogger(__name__)
State = RetainItem.State

ENOUGH = 16  # memories that do not wait for more
# Of one request to the server. It takes the parts of a batch apart by itself; these bounds are about what has to be
# read back, and about a refusal, which is for the whole of it.
MOST_ITEMS, MOST_BYTES = 256, 4 * 1024 * 1024
LONGEST_DELAY = 5.0  # seconds that a message may wait; what has to wait longer is told by the sweep
# Asked after each request: building it by the ORM takes longer than answering it.
_WAITING = "SELECT id FROM banks_retainitem WHERE bank_id = %s AND state = 'queued' ORDER BY id LIMIT %s"

Routing = tuple[object, ...]


class _Overtaken(Exception):
    """Another worker took one of these rows: nothing is stored."""


def expect(bank_id: int, first: int) -> None:
    """After the commit: tells a worker when there are enough, or has it look when the first has waited long enough.

    `first` of the rows that were just stored. Each message is sent once: by whoever stored the row that counts.
    """
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, [bank_id, ENOUGH])
        keys = [pk for (pk,) in cursor.fetchall()]
    if len(keys) == ENOUGH and keys[-1] >= first:
        nudge(bank_id)
    elif keys[:1] == [first]:
        nudge(bank_id, delay=min(settings.RETAIN_WAIT_SECONDS, LONGEST_DELAY))


def due_from(now: datetime) -> datetime:
    """Until when what comes now waits for company."""
    return now + timedelta(seconds=settings.RETAIN_WAIT_SECONDS)


def nudge(bank_id: int, *, delay: float = 0.0) -> bool:
    """Has a worker look at this bank's queue. False when the broker is away: the sweep does it later."""
    from banks.tasks import flush_retains

    return dispatch.send(flush_retains, bank_id, delay=delay, what=f"the queue of bank {bank_id}")


def sweep(*, limit: int = 100) -> int:
    """Tells a worker of every bank whose first memory has waited long enough. Returns how many."""
    now = timezone.now()
    closed = [server.pk for server in Server.objects.all() if _is_closed(server)]
    waiting = RetainItem.objects.filter(state=State.QUEUED, bank__gone_since=None).exclude(bank__server__in=closed)
    due = waiting.order_by().values("bank").annotate(first=Min("not_before")).filter(first__lte=now)
    due = due.order_by("first")[:limit]
    told = 0
    for row in due:
        bank = Bank.objects.select_related("server").get(pk=row["bank"])
        if _why_not(bank) == "" and nudge(bank.pk):
            told += 1
    return told


def being_fed(*, since: datetime) -> set[int]:
    """The servers of banks with at least as many memories on their way, taken in since then, as are sent at once."""
    on_their_way = RetainItem.objects.filter(state__in=[State.QUEUED, State.SENT], queued_at__gt=since)
    counted = on_their_way.order_by().values_list("bank", "bank__server").annotate(count=Count("pk"))
    return {server for _, server, count in counted if count >= ENOUGH}


def flush(bank_id: int) -> str:
    """Puts together what is due and records it with the door. Safe to run twice and at once; returns a short word."""
    bank = Bank.objects.select_related("server").filter(pk=bank_id).first()
    if bank is None:
        return "no such bank"
    if why := _why_not(bank):
        return why
    try:
        with transaction.atomic():
            return _flush(bank, timezone.now())
    except _Overtaken:
        return "overtaken"


def _why_not(bank: Bank) -> str:
    if bank.gone_since is not None:
        return "bank gone"
    if _is_closed(bank.server):
        return "server closed"
    if Write.objects.filter(slot=retain_slot(bank), state__in=Write.OPEN).exists():
        return "one is on its way"  # its end looks again
    return ""


def _is_closed(server: Server) -> bool:
    """Also between two tries of a server that is away: what is put together then uses up its own tries."""
    away = server.failures >= connections.FAILURES_BEFORE_PAUSE
    return server.writes_paused or away or connections.paused_until(server) is not None


# All that is read of a memory to put it into a batch.
_SORTED_BY = (
    *("document_hash", "size", "operation_id", "alone", "document_tags", "strategy", "update_mode"),
    *("actor", "actor_name", "token", "via"),
)


def _flush(bank: Bank, now: datetime) -> str:
    waiting = RetainItem.objects.filter(bank=bank, state=State.QUEUED).order_by("pk")
    first = list(waiting.values_list("not_before", flat=True)[:ENOUGH])
    if not first or (len(first) < ENOUGH and min(first) > now):  # what was held comes before others, and later
        return "not due"
    free = _free(waiting, bank).only(*_SORTED_BY)[:MOST_ITEMS]
    rows = _whole(_first_ones(list(free)))
    if not rows:
        return "their documents are busy"
    groups = _groups(rows)
    for group in groups:
        _record(bank, group)
    return f"{len(rows)} in {len(groups)}"


def requests_of(rows: Sequence[RetainItem]) -> list[list[RetainItem]]:
    """What flushes would make of these rows, stored or not, where nothing else waits: one request after the other."""
    left, found = list(rows), list[list[RetainItem]]()
    while left:
        now = _first_ones(left)
        found += _groups(now)
        taken = {id(row) for row in now}
        left = [row for row in left if id(row) not in taken]
    return found


def _first_ones(rows: Sequence[RetainItem]) -> list[RetainItem]:
    """What goes out together: each document once, the first that is meant for it."""
    found: dict[str, RetainItem] = {}
    for row in rows:
        if len(found) < MOST_ITEMS:
            found.setdefault(row.document_hash, row)
    return list(found.values())


def _free(waiting: "QuerySet[RetainItem]", bank: Bank) -> "QuerySet[RetainItem]":
    """What nothing else about its document comes before: each document once, and after what is under way on it.

    A caller's operation is one request: while one of its documents is busy the whole of it waits.
    """
    same = {"bank": bank, "document_hash": OuterRef("document_hash")}
    earlier = RetainItem.objects.filter(**same, state=State.QUEUED, pk__lt=OuterRef("pk"))
    under_way = RetainItem.objects.filter(**same, state=State.SENT)
    written = Write.objects.filter(**same, state__in=Write.OPEN)
    busy = waiting.filter(Exists(earlier) | Exists(under_way) | Exists(written))
    torn = set(busy.filter(operation_id__isnull=False, alone=False).values_list("operation_id", flat=True))
    free = waiting.filter(~Exists(earlier), ~Exists(under_way), ~Exists(written))
    return free.exclude(operation_id__in=torn, alone=False) if torn else free


def _whole(rows: list[RetainItem]) -> list[RetainItem]:
    """Without a caller's operation of which the rest did not fit in."""
    ours = Counter(row.operation_id for row in rows if row.operation_id and not row.alone)
    if not ours:
        return rows
    waiting = RetainItem.objects.filter(operation_id__in=list(ours), state=State.QUEUED, alone=False).order_by()
    all_of = dict(waiting.values_list("operation_id").annotate(count=Count("pk")))
    torn = {operation for operation, count in all_of.items() if count != ours[operation]}
    return [row for row in rows if row.alone or row.operation_id not in torn]


def _groups(rows: Sequence[RetainItem]) -> list[list[RetainItem]]:
    """One request for each routing, in the order of their first memories; more where it would be too large."""
    place = {id(row): number for number, row in enumerate(rows)}
    found: dict[Routing, list[list[RetainItem]]] = {}
    sizes: dict[Routing, int] = {}
    for row in rows:
        routing = _routing(row)
        parts, size = found.setdefault(routing, [[]]), sizes.get(routing, 0) + row.size
        if parts[-1] and size > MOST_BYTES:
            parts.append([])
            size = row.size
        parts[-1].append(row)
        sizes[routing] = size
    return sorted((part for parts in found.values() for part in parts), key=lambda part: place[id(part[0])])


def _routing(row: RetainItem) -> Routing:
    """What goes into one request. An append goes apart from what may be repeated, and so does a caller's operation."""
    return (
        tuple(row.document_tags),
        row.strategy,
        row.update_mode,
        row.operation_id,
        (row.pk or id(row)) if row.alone else None,
    )


def _record(bank: Bank, rows: list[RetainItem]) -> None:
    first = rows[0]
    one_sender = len({(row.actor_id, row.token_id, row.via) for row in rows}) == 1
    write = record(
        kind="retain",
        bank=bank,
        via=Write.Via(first.via) if len({row.via for row in rows}) == 1 else Write.Via.API,
        operation_id=first.operation_id if first.operation_id and not first.alone else uuid4(),
        params={"memories": len(rows)},
    )
    who = dict.fromkeys(row.actor_name for row in rows)
    Write.objects.filter(pk=write.pk).update(
        actor=first.actor_id if one_sender else None,
        token=first.token_id if one_sender else None,
        actor_name=", ".join(who)[:150],
    )
    keys = [row.pk for row in rows]
    if RetainItem.objects.filter(pk__in=keys, state=State.QUEUED).update(state=State.SENT, write=write) != len(keys):
        raise _Overtaken
