"""When which bank's numbers are read, and by whom. Reads only.

One worker at a time reads the banks of a server, one after another, and few servers are read at once: a server that
works for people is not kept busy by counting, and a slow one takes no worker from the others.
"""

import logging
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain

from django.db.models import F, Min, Q, QuerySet
from django.utils import timezone

from banks import connections, pulse
from banks.crypto import CannotDecrypt
from banks.hindsight import HindsightClient, HindsightError, Unreachable
from banks.models import Bank, BankNumbers, Server
from banks.numbers.read import Listed, listed_by, read
from banks.numbers.store import fail, postpone, rows_for, store

logger = logging.getLogger(__name__)

SERVERS_AT_ONCE = 2
SLICE = timedelta(seconds=20)  # then others have the worker; the next sweep goes on
HANGS_AFTER = timedelta(minutes=5)
READ_TIMEOUT = 10.0  # seconds of one call
AT_ONCE = 500  # rows


def countable() -> QuerySet[Bank]:
    """The banks that a server can be asked about."""
    return Bank.objects.filter(gone_since=None).exclude(bank_id__contains="/")


def due() -> list[int]:
    """The servers with banks whose numbers want to be read and that nobody reads, longest waiting first."""
    now = timezone.now()
    free = SERVERS_AT_ONCE - Server.objects.filter(numbers_claimed_until__gt=now).count()
    if free <= 0:
        return []
    unclaimed = Q(server__numbers_claimed_until=None) | Q(server__numbers_claimed_until__lte=now)
    banks = countable().filter(unclaimed, Q(numbers=None) | Q(numbers__read_after__lte=now))
    answering = banks.exclude(server__health=Server.Health.REFUSED).exclude(server__closed_until__gt=now)
    servers = answering.order_by().values_list("server").annotate(oldest=Min("numbers__read_after"))
    ordered = servers.order_by(F("oldest").asc(nulls_first=True), "server")
    return [server for server, _ in ordered[:free]]


def look(server_id: int) -> str:
    """Reads what is due of one server. Idempotent: claimed by conditional update; returns a short word."""
    server = _claim(server_id)
    if server is None:
        return "not due"
    try:
        with pulse.held(lambda: _renew(server), at_most=HANGS_AFTER):
            return _look(server)
    finally:
        _held(server).update(numbers_claimed_until=None)


def _claim(server_id: int) -> Server | None:
    now = timezone.now()
    until = now + pulse.claim_time()
    free = Q(numbers_claimed_until=None) | Q(numbers_claimed_until__lte=now)
    if not Server.objects.filter(free, pk=server_id).update(numbers_claimed_until=until):
        return None
    server = Server.objects.get(pk=server_id)
    server.numbers_claimed_until = until  # never the token of a worker that was quicker
    return server


def _renew(server: Server) -> bool:
    until = timezone.now() + pulse.claim_time()
    renewed = bool(_held(server).update(numbers_claimed_until=until))
    if renewed:
        server.numbers_claimed_until = until
    return renewed


def _held(server: Server) -> QuerySet[Server]:
    return Server.objects.filter(pk=server.pk, numbers_claimed_until=server.numbers_claimed_until)


def _look(server: Server) -> str:
    rows_for(list(countable().filter(server=server, numbers=None)[:AT_ONCE]))
    rows = _due_of(server)
    first = next(rows, None)
    if first is None or connections.paused_until(server):
        return "nothing to read"
    failed: list[bool] = []
    try:
        with connections.talking_to(server, read_timeout=READ_TIMEOUT) as client:
            listed = listed_by(client)
            failed.extend(bool(_read_one(client, row, listed)) for row in chain([first], rows))
    except (HindsightError, CannotDecrypt) as error:
        postpone(server, str(error))
        logger.info("numbers of server %s: stopped after %d banks (%s)", server.pk, len(failed), type(error).__name__)
        return "stopped"
    return f"{failed.count(False)} read, {failed.count(True)} failed"


def _due_of(server: Server) -> Iterator[BankNumbers]:
    """One by one, the longest waiting first, until the slice is over. What was met is not met again."""
    began, met = timezone.now(), list[int]()
    while timezone.now() < began + SLICE:
        rows = BankNumbers.objects.filter(bank__in=countable().filter(server=server), read_after__lte=timezone.now())
        row = rows.exclude(pk__in=met).select_related("bank").order_by("read_after", "pk").first()
        if row is None:
            return
        met.append(row.bank_id)
        yield row


def _read_one(client: HindsightClient, row: BankNumbers, listed: Listed) -> str:
    """Why it could not be read, "" when it was. One bank that is refused hides no other, and says nothing of the key.

    Raises Unreachable, since the next one would be asked in vain.
    """
    try:
        told = read(client, row.bank.bank_id, listed)
    except Unreachable as error:
        fail(row, str(error))
        raise
    except HindsightError as error:
        fail(row, str(error))
        return str(error)
    store(row, told)
    return ""
