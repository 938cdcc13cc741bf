"""Looking at the banks' own lists of documents: works with every agent and every server.

The first look only sets a watermark. After that each look takes what was written since and has been quiet for the
bank's settle time; what is still being written moves up the list and is met by a later look. Reads only.
"""

import logging
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from banks import connections, pulse
from banks.hindsight import BadAnswer, DocumentRow, HindsightClient, HindsightError, NotFound
from banks.models import Bank, Server, Write
from reviews.curation import elsewhere
from reviews.models import ReviewEntry
from reviews.services.enqueue import Enqueued, enqueue
from reviews.services.quiet import is_quiet, server_time

logger = logging.getLogger(__name__)

HANGS_AFTER = timedelta(minutes=15)
PAGE = 200
MOST_PAGES = 5_000  # of one look: a million documents
# Two writes that were made at once may become visible one after the other.
OVERLAP = timedelta(minutes=2)
# How often all documents are looked at, for those that vanished without a word.
WALK_EVERY = timedelta(hours=1)
LONGEST_PAUSE = timedelta(minutes=10)


def due(*, limit: int = 100) -> list[int]:
    """The banks that want to be looked at and that nobody looks at, longest waiting first."""
    now = timezone.now()
    free = Q(poll_claimed_until=None) | Q(poll_claimed_until__lt=now)
    wanted = Bank.objects.filter(free, polled=True, poll_after__lte=now, gone_since=None)
    answering = wanted.exclude(server__health=Server.Health.REFUSED).exclude(server__closed_until__gt=now)
    return list(answering.order_by("poll_after", "pk").values_list("pk", flat=True)[:limit])


def poll(bank_id: int) -> str:
    """Looks at one bank once. Idempotent: claimed by conditional update; returns a short word."""
    bank = _claim(bank_id)
    if bank is None:
        return "not due"
    with pulse.held(lambda: _renew(bank), at_most=HANGS_AFTER):
        return _look(bank)


def _look(bank: Bank) -> str:
    if not bank.addressable:
        return _end(bank, "No server can address this bank: its id has a slash.", again=LONGEST_PAUSE)
    started = timezone.now()
    try:
        with connections.talking_to(bank.server) as client:
            if bank.watermark is None:
                return _first_look(client, bank, started)
            found = _new_since(client, bank, started)
            if bank.walked_at is None or bank.walked_at < started - WALK_EVERY:
                _walk(client, bank, started)
                elsewhere.start(bank)
    except NotFound as error:
        if error.what == "bank":
            Bank.objects.filter(pk=bank.pk, gone_since=None).update(gone_since=started)
        return _end(bank, str(error), again=LONGEST_PAUSE)
    except HindsightError as error:
        return _end(bank, str(error), again=_pause(bank))
    _end(bank, "")
    return f"{found.new} new, {found.changed} changed"


def _claim(bank_id: int) -> Bank | None:
    now = timezone.now()
    until = now + pulse.claim_time()
    free = Q(poll_claimed_until=None) | Q(poll_claimed_until__lt=now)
    if not Bank.objects.filter(free, pk=bank_id, polled=True, poll_after__lte=now).update(poll_claimed_until=until):
        return None
    bank = Bank.objects.select_related("server").get(pk=bank_id)
    bank.poll_claimed_until = until  # never the token of a worker that was quicker
    return bank


def _renew(bank: Bank) -> bool:
    until = timezone.now() + pulse.claim_time()
    if not Bank.objects.filter(pk=bank.pk, poll_claimed_until=bank.poll_claimed_until).update(poll_claimed_until=until):
        return False
    bank.poll_claimed_until = until
    return True


def _end(bank: Bank, error: str, *, again: timedelta | None = None, **changes: Any) -> str:
    """Stores how the look ended, if the bank is still ours."""
    now = timezone.now()
    pause = timedelta(seconds=settings.POLL_SECONDS * random.uniform(0.9, 1.1)) if again is None else again  # noqa: S311
    if not error:
        changes["polled_at"] = now
    _keep(bank, poll_claimed_until=None, poll_after=now + pause, poll_error=error[:300], **changes)
    return "failed" if error else "looked"


def _keep(bank: Bank, **changes: Any) -> None:
    """Stores how far the look has come, if the bank is still ours."""
    Bank.objects.filter(pk=bank.pk, poll_claimed_until=bank.poll_claimed_until).update(**changes)


def _pause(bank: Bank) -> timedelta:
    """Longer each time: the last good look tells how long it has been failing."""
    failing = timezone.now() - (bank.polled_at or bank.poll_after)
    return min(max(failing / 2, timedelta(seconds=settings.POLL_SECONDS)), LONGEST_PAUSE)


def _first_look(client: HindsightClient, bank: Bank, started: datetime) -> str:
    """What is there already is nobody's work to review, unless somebody asks for it (look_back)."""
    newest = client.list_documents(bank.bank_id, limit=1).items
    times = [row.updated_at for row in newest if row.updated_at]
    now = server_time(client, started)
    # By the server's own clock: what it writes from now on is later than its newest document. Later looks begin a
    # little before the watermark, and must not meet that one.
    begin = min(times[0], now + OVERLAP) + OVERLAP if times else now - timedelta(days=1)
    _end(bank, "", watermark=begin, walked_at=started)
    return "watermark set"


def _new_since(client: HindsightClient, bank: Bank, started: datetime) -> Enqueued:
    """Enqueues what was written after the watermark and is quiet. The watermark moves when all of it was met."""
    assert bank.watermark is not None
    found = Enqueued()
    newest = bank.watermark
    now = started
    for rows in _pages(client, bank, since=bank.watermark - OVERLAP):
        now = server_time(client, started)
        settled = [row for row in rows if is_quiet(row, bank, now)]
        _note_live(bank, [row for row in rows if not is_quiet(row, bank, now)], now)
        found += enqueue(bank=bank, rows=settled)
        newest = max([newest, *(row.updated_at for row in settled if row.updated_at and row.updated_at <= now)])
    if bank.watermark > now + 2 * OVERLAP:  # the server's clock was put back: what it writes now seems to be old
        newest = min(now - bank.settle_time, (bank.polled_at or now) + (now - started))
    _keep(bank, watermark=newest)
    return found


def _pages(client: HindsightClient, bank: Bank, *, since: datetime | None) -> Iterator[list[DocumentRow]]:
    """The documents written since then (None = all), newest first, page by page, by the lengths returned.

    What is removed meanwhile pulls later rows over the edge of a page: then the next page begins as much earlier. A
    document may be met twice. BadAnswer when the list does not end.
    """
    offset, total, before = 0, 0, set[str]()
    for _ in range(MOST_PAGES):
        page = client.list_documents(bank.bank_id, limit=PAGE, offset=offset)
        if page.total < total:
            offset, total = max(offset - (total - page.total), 0), page.total
            continue
        ids = {row.id for row in page.items}
        if ids and ids == before and page.total == total:
            raise BadAnswer("The server sends the same page of its list of documents again and again.")
        offset, total, before = offset + len(page.items), page.total, ids
        yield [row for row in page.items if since is None or row.updated_at is None or row.updated_at > since]
        # A full page may be followed by another, whatever the total says: it may be an estimate.
        if not page.items or (offset >= total and len(page.items) < PAGE):
            return
        if since is not None and any(row.updated_at and row.updated_at <= since for row in page.items):
            return
    raise BadAnswer("The list of documents does not end.")


def _note_live(bank: Bank, rows: list[DocumentRow], now: datetime) -> None:
    """Memories under review that an agent is just replacing: a badge says so until the text has settled."""
    hashes = {Write.hash_of(row.id): row for row in rows}
    pending = ReviewEntry.objects.filter(bank=bank, document_hash__in=hashes, state=ReviewEntry.State.PENDING)
    for entry in pending.exclude(content_hash="").only("document_hash", "content_hash"):
        row = hashes[entry.document_hash]
        if row.content_hash != entry.content_hash and row.updated_at:
            ReviewEntry.objects.filter(pk=entry.pk).update(live_until=min(row.updated_at, now) + bank.settle_time)


def _walk(client: HindsightClient, bank: Bank, started: datetime) -> None:
    """All documents once: entries that the list lacks, has again, or has with another text, are then looked at one by
    one by `load`.
    """
    listed: dict[str, str] = {}  # hash of the text; "" = not known, or still being written
    for rows in _pages(client, bank, since=None):
        now = server_time(client, started)
        listed.update((Write.hash_of(row.id), row.content_hash if is_quiet(row, bank, now) else "") for row in rows)
    State, Load = ReviewEntry.State, ReviewEntry.Load  # noqa: N806
    entries = ReviewEntry.objects.filter(bank=bank, item=None, load_after=None, created__lt=started)
    open_ones = entries.filter(state__in=[State.PENDING, State.APPROVED])
    here, away = open_ones.filter(load_state=Load.LOADED), open_ones.filter(load_state=Load.MISSING)
    held = here.values_list("pk", "document_hash", "content_hash")
    doubtful = [pk for pk, key, text in held if key not in listed or (text and listed[key] not in ("", text))]
    gone = away | entries.filter(state=State.DELETED)
    back = [pk for pk, key in gone.values_list("pk", "document_hash") if key in listed]
    for start in range(0, len(lot := doubtful + back), 500):
        entries.filter(pk__in=lot[start : start + 500]).update(load_after=timezone.now(), load_attempts=0)
    _keep(bank, walked_at=started)
