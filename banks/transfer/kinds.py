"""Making a new bank that has what another one has: a write of the new bank, and an operation of the other."""

from banks.hindsight import HindsightClient, Invalid, NotFound
from banks.models import Bank, Role, Write
from banks.whole.kinds import made_before
from banks.writes import Accepted, Done, Kind, NotDone, StillWorking, Stuck, after, register
from banks.writes.kind import bank_slot

OPERATION = "clone_bank"
LOOKED_AT = 200  # operations of the source, for those whose name was lost with an answer
NO_SOURCE = "The bank that was to be copied is not on its server. Nothing was sent. Discard this."
CANNOT = "This server cannot clone banks: its version is older than 1.1.0, or it is set so. Nothing was made."
NOT_MADE = "The server says that it is done, and its list of banks does not have the new one. Look at its own log."


@register
class CloneBank(Kind):
    """Create-only. `params`: source, the other bank's id; config, whether its settings and directives come along."""

    name, glyph, verb, past, tone = "bank-clone", "+", "clone bank", "bank cloned", "none"
    role = Role.ADMIN

    def slot(self, *, bank: Bank, **about: object) -> str:
        return bank_slot(bank)

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | StillWorking | None:
        if client.find_bank(_source(write)) is None:
            return Stuck(NO_SOURCE)
        if _running(client, write):
            return StillWorking({"status": "processing"})
        return made_before(client, write)

    def send(self, client: HindsightClient, write: Write) -> Accepted | Stuck:
        try:
            operation = client.clone_bank(_source(write), write.bank.bank_id, config=bool(write.params.get("config")))
        except NotFound as error:
            if error.what == "bank":
                return Stuck(NO_SOURCE)
            return Stuck(CANNOT)
        except Invalid as error:
            if error.status != 405:
                raise
            return Stuck(CANNOT)
        return Accepted({"operation": operation})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        operation_id = write.outcome.get("operation")
        known = client.get_operation(_source(write), operation_id) if operation_id else None
        if known is not None and not known.not_found:
            if not known.terminal:
                return StillWorking({"status": known.status})
            if known.status != "completed":
                return Stuck(f"The server ended it as {known.status}: {known.error}", {"status": known.status})
        elif _running(client, write):
            return StillWorking({"status": "processing"})
        if client.has_bank(write.bank.bank_id):
            return Done({"operation": operation_id} if operation_id else {"confirmed_by": "list"})
        return Stuck(NOT_MADE) if operation_id else NotDone()


@after("bank-clone")
def bank_cloned(write: Write) -> None:
    if write.state == Write.State.DONE:
        Bank.objects.filter(pk=write.bank_id).update(gone_since=None)


def _source(write: Write) -> str:
    return str(write.params["source"])


def _running(client: HindsightClient, write: Write) -> bool:
    """Whether the source is being cloned: by us, when our answer was lost; who else does, is waited for."""
    found = client.walk_operations(_source(write), type=OPERATION, most=LOOKED_AT)
    return any(not each.terminal for each in found.items)
