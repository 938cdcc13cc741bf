"""The kinds of writes about a bank as such. Whether it is there is read from the server's list, before and after."""

from typing import Any

from django.utils import timezone

from banks import access
from banks.hindsight import BankRow, HindsightClient, HindsightError, NotFound
from banks.models import Bank, Role, Webhook, Write
from banks.writes import ChangedSinceDecided, Done, Kind, NotDone, Stuck, after, register
from banks.writes.kind import bank_slot

THERE = "A bank of this id is on the server already. Nothing was sent, and nothing about it was changed."
NOT_MADE = "The server said yes, and its list of banks does not have it. Look at the server's own log, then retry."
NO_BANK = "This bank is not on its server. Nothing was sent. Discard this."
RENAMED = "It is called {!r} now: somebody else named it since it was shown to you. Nothing was changed."
NOT_RENAMED = "The server said yes, and goes on calling it {!r}."
STILL_THERE = "The server said that it deleted the bank, and its list still has it. Look at it, then retry or discard."
NO_ADMIN = "Who decided this is not an admin of the bank any more. Nothing was deleted; an admin can decide again."
GREW = (
    "It has {:,} documents now and had {:,} when this was decided. Nothing was deleted: look at what came, stop who "
    "writes there, and decide again."
)
ANOTHER = (
    "By its server this bank was made after it was decided to delete one of its id: it may be another one. Nothing was "
    "deleted. Look at what is there now, and decide again if it has to go."
)
SETTINGS_KEPT = 200  # names


def made_before(client: HindsightClient, write: Write) -> Done | None:
    """Before the bank of this row is made: None, or that an earlier try of it made it. Raises ChangedSinceDecided."""
    if client.has_bank(write.bank.bank_id):
        if write.outcome.get("tried"):  # ours, and the answer was lost
            return Done({"confirmed_by": "list"})
        raise ChangedSinceDecided(THERE)
    write.outcome = {**write.outcome, "tried": True}
    return None


class _OfBank(Kind):
    role = Role.ADMIN

    def slot(self, *, bank: Bank, **about: object) -> str:
        return bank_slot(bank)


@register
class CreateBank(_OfBank):
    """Create-only: a bank that is there is left as it is."""

    name, glyph, verb, past, tone = "bank-create", "+", "create bank", "bank created", "none"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        return made_before(client, write)

    def send(self, client: HindsightClient, write: Write) -> Done | Stuck:
        client.put_bank(write.bank.bank_id, name=str(write.params.get("name", "")))
        return Done({}) if client.has_bank(write.bank.bank_id) else Stuck(NOT_MADE)

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | Stuck:
        return Done({"confirmed_by": "list"}) if client.has_bank(write.bank.bank_id) else NotDone()


@register
class RenameBank(_OfBank):
    """The name is for people; nothing is found by it. `params`: name, and `was` where that is known."""

    name, glyph, verb, past, tone = "bank-rename", "✎", "rename bank", "bank renamed", "none"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = client.find_bank(write.bank.bank_id)
        if found is None:
            return Stuck(NO_BANK)
        wanted, was = str(write.params["name"]), write.params.get("was")
        if found.name == wanted:
            return Done({"already": wanted})
        if was and found.name != was:
            raise ChangedSinceDecided(RENAMED.format(found.name), {"name": found.name})
        write.outcome = {**write.outcome, "name_before": found.name, "settings_before": _settings(client, write.bank)}
        return None

    def send(self, client: HindsightClient, write: Write) -> Done | Stuck:
        try:
            client.rename_bank(write.bank.bank_id, str(write.params["name"]))
        except NotFound as error:
            if error.what != "bank":
                raise
            return Stuck(NO_BANK)
        return self._seen(client, write) or Stuck(NOT_RENAMED.format(write.outcome.get("name_before", "")))

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | Stuck:
        return self._seen(client, write) or NotDone()

    def _seen(self, client: HindsightClient, write: Write) -> Done | None:
        """Done where it is called so; and which of its own settings went with the act, which none should."""
        found = client.find_bank(write.bank.bank_id)
        if found is None or found.name != write.params["name"]:
            return None
        before, now = write.outcome.get("settings_before"), _settings(client, write.bank)
        vanished = sorted(set(before) - set(now)) if before is not None and now is not None else []
        return Done({"vanished": vanished} if vanished else {})


@register
class DeleteBank(_OfBank):
    """The server forgets the bank with all that is in it. Done only when its list of banks has it no more.

    An id may be given again, so a bank is told from the next one by the time it was made: no later than the decision,
    and the same at each look. Nothing else is compared between the server's clock and ours.
    """

    name, glyph, verb, past, tone = "bank-delete", "✕", "delete bank", "bank deleted", "danger"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        role = access.role_on(write.actor, write.bank) if write.actor else None
        if role is None or role < Role.ADMIN:
            raise ChangedSinceDecided(NO_ADMIN)
        found = client.find_bank(write.bank.bank_id)
        if found is None:
            return Done({"already_gone": True})
        if _is_another(write, found) or (found.created_at is not None and found.created_at > write.created):
            raise ChangedSinceDecided(ANOTHER)
        stats, shown = client.stats(write.bank.bank_id), write.params.get("documents")
        if isinstance(shown, int) and stats.documents > shown:
            raise ChangedSinceDecided(GREW.format(stats.documents, shown), {"documents": stats.documents})
        had = {"documents": stats.documents, "facts": stats.facts, "settings_before": _settings(client, write.bank)}
        write.outcome = {**write.outcome, **had, "made": _made(found)}
        return None

    def send(self, client: HindsightClient, write: Write) -> Done | Stuck:
        deleted = client.delete_bank(write.bank.bank_id)
        gone = _gone(write, client.find_bank(write.bank.bank_id))
        return Done({"units_deleted": deleted.units_deleted, **gone}) if gone is not None else Stuck(STILL_THERE)

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | Stuck:
        gone = _gone(write, client.find_bank(write.bank.bank_id))
        return Done({"confirmed_by": "list", **gone}) if gone is not None else NotDone()


@after("bank-create")
def bank_made(write: Write) -> None:
    if write.state == Write.State.DONE:
        Bank.objects.filter(pk=write.bank_id).update(gone_since=None)
        _call_it(write, str(write.params.get("name", "")))


@after("bank-rename")
def bank_renamed(write: Write) -> None:
    if write.state == Write.State.DONE:
        _call_it(write, str(write.params["name"]))


@after("bank-delete")
def bank_deleted(write: Write) -> None:
    """Its entries, held and queued memories and its log stay: they wait where they are, and say that it is gone.

    Its webhook went with it, also where the id is another bank's by now: that one has none.
    """
    if write.state != Write.State.DONE:
        return
    Webhook.objects.filter(bank=write.bank_id, removed_at=None).update(removed_at=timezone.now())
    if not write.outcome.get("came_back"):
        Bank.objects.filter(pk=write.bank_id, gone_since=None).update(gone_since=timezone.now())


def _call_it(write: Write, name: str) -> None:
    """Where we call it otherwise than its server does, it keeps our name."""
    if name:
        Bank.objects.filter(pk=write.bank_id, named_here=False).update(name=name[:300])


def _gone(write: Write, found: BankRow | None) -> dict[str, Any] | None:
    """None while the bank is the one that was to be deleted. Somebody may have made a new one of that id since."""
    if found is None:
        return {}
    return {"came_back": True} if _is_another(write, found) else None


def _is_another(write: Write, found: BankRow) -> bool:
    """Than the one that was looked at before it was sent."""
    before = write.outcome.get("made")
    return before is not None and found.created_at is not None and before != _made(found)


def _made(found: BankRow) -> str | None:
    return found.created_at.isoformat() if found.created_at is not None else None


def _settings(client: HindsightClient, bank: Bank) -> list[str] | None:
    """The names of the bank's own settings; None where they could not be read, which stops nothing."""
    try:
        return sorted(client.bank_config(bank.bank_id).overrides)[:SETTINGS_KEPT]
    except HindsightError:
        return None
