"""“Read now”: a job, so that no page waits for a server. It reads the banks that its owner asked for, one by one."""

from dataclasses import dataclass
from typing import Any

from banks import access, connections, jobs, naming
from banks.crypto import CannotDecrypt
from banks.hindsight import HindsightClient, HindsightError, Unreachable
from banks.models import Bank, BankNumbers, Job, JobItem, Server
from banks.numbers.look import READ_TIMEOUT, countable
from banks.numbers.read import Listed, Numbers, listed_by, read
from banks.numbers.store import fail, rows_for, store
from memadmin.accounts.models import User

KIND = "read-numbers"
SHOWN = 20
REFUSED = "The server refuses our key: replace it first."
CLOSED = "The server does not answer. It is tried again by itself."


@dataclass(frozen=True)
class Unread:
    """`of_bank`: it is about this bank, and not about its server."""

    why: str
    of_bank: bool = False


def start(*, user: User, q: str = "") -> Job:
    """The one of this person that is under way, when there is one."""
    found = last_of(user)
    if found is not None and not found.ended:
        return found
    return jobs.start(kind=KIND, owner=user, title="Read the numbers of banks", params={"q": q})


def last_of(user: User) -> Job | None:
    return Job.objects.filter(kind=KIND, owner=user).order_by("-pk").first()


def unread_of(user: User, job: Job) -> list[tuple[Bank, str]]:
    """The first banks that could not be read and that this person still sees, and why. Two queries."""
    reasons = dict(job.items.order_by("number").values_list("number", "reason")[:SHOWN])
    banks = access.banks_for(user).filter(pk__in=reasons).order_by("pk")
    return [(bank, reasons[bank.pk]) for bank in banks]


def _run(run: jobs.Run) -> dict[str, Any]:
    person = jobs.person_of(run.job)
    banks = naming.named(countable().filter(pk__in=access.banks_for(person).values("pk")), run.params["q"])
    banks = banks.select_related("server").order_by("pk")
    total, lists = banks.count(), dict[int, Listed | Unread]()
    while (bank := banks.filter(pk__gt=run.cursor.get("after", 0)).first()) is not None:
        rows_for([bank])
        row = BankNumbers.objects.select_related("bank").get(bank=bank)
        told = _read(bank, lists)
        with run.step(done=run.job.done + 1, cursor={"after": bank.pk}, total=max(total, run.job.done + 1)):
            _store(run.job, row, told)
    unread = run.job.items.count()
    return {"read": run.job.done - unread, "unread": unread}


def _store(job: Job, row: BankNumbers, told: Numbers | Unread) -> None:
    if isinstance(told, Numbers):
        store(row, told)
        return
    if told.of_bank:
        fail(row, told.why)
    JobItem.objects.create(job=job, number=row.pk, outcome="unread", reason=told.why[:300])


def _read(bank: Bank, lists: dict[int, Listed | Unread]) -> Numbers | Unread:
    """What the server said, or why it could not be asked. A list that cannot be had is not asked for once more."""
    listed = lists.get(bank.server_id)
    if isinstance(listed, Unread):
        return listed
    if connections.paused_until(bank.server):
        return Unread(REFUSED if bank.server.health == Server.Health.REFUSED else CLOSED)
    try:
        with connections.talking_to(bank.server, read_timeout=READ_TIMEOUT) as client:
            if listed is None:
                listed = lists[bank.server_id] = listed_by(client)
            return _read_bank(client, bank, listed)
    except (HindsightError, CannotDecrypt) as error:
        trouble = lists[bank.server_id] = Unread(str(error))
        return trouble


def _read_bank(client: HindsightClient, bank: Bank, listed: Listed) -> Numbers | Unread:
    """A bank that is refused says nothing about the key for the others."""
    try:
        return read(client, bank.bank_id, listed)
    except Unreachable:
        raise
    except HindsightError as error:
        return Unread(str(error), of_bank=True)


jobs.register(KIND, _run)
