"""Seeding of banks that have just appeared on a server whose policy says so. Nobody's act."""

from collections.abc import Sequence

from banks import jobs, writes
from banks.models import Bank, Job, Server, Write
from banks.seeds.job import KIND, Asked


def seed_new(*, server: Server, banks: Sequence[Bank]) -> Job | None:
    """None where the server's policy is to leave new banks alone, or there are none."""
    if not banks or not server.seed_new_banks:
        return None
    asked = Asked([bank.pk for bank in banks], server.seed_new_banks).as_params()
    params = {**asked, "policy": True, "via": str(Write.Via.HOUSEKEEPING)}
    return jobs.start(kind=KIND, owner=None, title="Seeding of new banks", params=params)


@writes.after("bank-create", "bank-clone")
def _made_here(write: Write) -> None:
    """Its row was there before the bank was, so no look at the server finds it new."""
    if write.state == Write.State.DONE:
        seed_new(server=write.bank.server, banks=[write.bank])
