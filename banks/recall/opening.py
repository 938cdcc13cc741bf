"""Where a job may ask a bank: who started it still may, and the bank is there. What goes wrong becomes words."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.utils import timezone

from banks import access, connections, jobs
from banks.crypto import CannotDecrypt
from banks.hindsight import HindsightClient, HindsightError, Timeout
from banks.models import Bank, Role

LOOK_TIMEOUT = 30.0  # seconds, for the list of banks
NO_RIGHT = "Who asked has not the right to it any more."
NO_BANK = "The bank is not on its server, so nothing was asked."
NOT_ADDRESSABLE = "Its id has a slash: no call can reach it."
NOT_ASKED = "The server does not answer just now, so it was not asked. Try again in a minute."
TOO_LONG = "The server did not answer within {:.0f} seconds. Nothing was changed."


@contextmanager
def asking(run: jobs.Run, needs: Role, *, read_timeout: float) -> Iterator[tuple[HindsightClient, Bank]]:
    """A client and the bank of the job, which the list of its server has. Raises JobError.

    That is looked at first, since some calls make a bank of an id that does not exist.
    """
    bank, waited = _bank_of(run, needs), LOOK_TIMEOUT
    try:
        with connections.talking_to(bank.server, read_timeout=waited) as client:
            there = client.has_bank(bank.bank_id)
        if not there:
            Bank.objects.filter(pk=bank.pk, gone_since=None).update(gone_since=timezone.now())
            raise jobs.JobError(NO_BANK)
        waited = read_timeout
        with connections.talking_to(bank.server, read_timeout=waited) as client:
            yield client, bank
    except Timeout:
        raise jobs.JobError(TOO_LONG.format(waited)) from None
    except (HindsightError, CannotDecrypt) as error:
        raise jobs.JobError(f"{error} Nothing was changed.") from error


def _bank_of(run: jobs.Run, needs: Role) -> Bank:
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    role = access.role_on(jobs.person_of(run.job), bank) if bank else None
    if bank is None or role is None or role < needs:
        raise jobs.JobError(NO_RIGHT)
    if not bank.addressable:
        raise jobs.JobError(NOT_ADDRESSABLE)
    if connections.paused_until(bank.server):
        raise jobs.JobError(NOT_ASKED)
    return bank
