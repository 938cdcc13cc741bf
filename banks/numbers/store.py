"""What was read becomes rows; what could not be read is said beside the numbers of before."""

import random
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from banks.models import Bank, BankAlias, BankNumbers, Server
from banks.numbers.read import Numbers

LONGEST_PAUSE = timedelta(hours=1)
SERVER_PAUSE = timedelta(minutes=1)
SOON = timedelta(seconds=10)  # in which many changes are one read


def rows_for(banks: list[Bank]) -> None:
    """Rows for those that have none yet: they are due."""
    rows = [BankNumbers(bank=bank) for bank in banks]
    BankNumbers.objects.bulk_create(rows, ignore_conflicts=True)


def store(row: BankNumbers, told: Numbers) -> bool:
    """False, and nothing is stored, when somebody else has read this bank meanwhile."""
    now = timezone.now()
    values = {
        "facts_by_type": told.facts_by_type,
        "backlog": told.backlog,
        "last_write_at": told.last_write_at,
        "days": told.days,
        "days_to": told.days_to,
        "failures": 0,
        "error": "",
        "read_after": now + _jittered(timedelta(seconds=settings.NUMBERS_SECONDS)),
    }
    counted = {
        "document_count": told.documents,
        "fact_count": told.facts,
        "retired_count": told.retired,
        "counted_at": now,
    }
    with transaction.atomic():
        if not _unread(row).update(**values):
            return False
        Bank.objects.filter(pk=row.bank_id).update(**counted)
        if told.aliases is not None:
            _store_aliases(row.bank, told.aliases)
    return True


def fail(row: BankNumbers, error: str) -> bool:
    """The numbers of before stay, with their age. It is tried again after a pause that doubles each time."""
    failures, usual = row.failures + 1, timedelta(seconds=settings.NUMBERS_SECONDS)
    pause = min(usual * 2.0 ** min(failures, 10), max(LONGEST_PAUSE, usual))
    again = timezone.now() + _jittered(pause)
    return bool(_unread(row).update(failures=failures, error=error[:300], read_after=again))


def postpone(server: Server, error: str) -> None:
    """The server is to blame, and no bank of it: all that is due there waits a minute, and others have their turn."""
    now = timezone.now()
    due = BankNumbers.objects.filter(bank__server=server, read_after__lte=now)
    due.update(read_after=now + _jittered(SERVER_PAUSE), error=error[:300])


def hurry(bank: Bank) -> None:
    """Something has changed there, as its server says: its numbers are read soon, and none later than planned."""
    soon = timezone.now() + SOON
    BankNumbers.objects.filter(bank=bank, read_after__gt=soon).update(read_after=soon)


def _unread(row: BankNumbers) -> QuerySet[BankNumbers]:
    return BankNumbers.objects.filter(pk=row.pk, read_after=row.read_after)


def _jittered(pause: timedelta) -> timedelta:
    return pause * random.uniform(0.9, 1.1)  # noqa: S311


def _store_aliases(bank: Bank, aliases: list[str]) -> None:
    """As the server says them now. One that is the id of a bank we know means that bank, whatever this one says."""
    wanted = {Bank.hash_of(alias): alias for alias in aliases}
    banks = Bank.objects.filter(server=bank.server_id, bank_hash__in=wanted, gone_since=None)
    for key in banks.values_list("bank_hash", flat=True):
        del wanted[key]
    mine = BankAlias.objects.filter(bank=bank)
    known = set(mine.values_list("alias_hash", flat=True))
    if known - set(wanted):
        mine.exclude(alias_hash__in=wanted).delete()
    new = {key: alias for key, alias in wanted.items() if key not in known}
    if new:
        # The server moved it here from another bank.
        BankAlias.objects.filter(server=bank.server_id, alias_hash__in=new).delete()
        BankAlias.objects.bulk_create(
            [BankAlias(bank=bank, server_id=bank.server_id, alias=alias, alias_hash=key) for key, alias in new.items()],
            ignore_conflicts=True,
        )
