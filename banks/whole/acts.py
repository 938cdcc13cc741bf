"""Making, naming and deleting a bank: one row of the log each, before anything is sent. Nothing here calls a server."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from banks import access, writes
from banks.hidden import has_hidden
from banks.hindsight import NotAddressable, check_bank_id
from banks.models import Bank, BankAlias, Role, Server, Write
from banks.services.refusal import Refusal
from banks.whole.selectors import deletion_of
from memadmin.accounts.models import User

GONE = "This bank is not on its server. Nothing was stored."
THERE = "This server has a bank of this id already. Nothing was sent."
ALIAS = "This server takes this id for another bank already. Nothing was sent."
OF_A_PERSON = "This is a person's bank, which few may see: it is not copied into one that more may. Nothing was stored."
UNDER_WAY = "This bank is being made already."
MAKING = ("bank-create", "bank-clone")
NOT_THE_ID = "Nothing was deleted, and nothing was sent: what was typed is not the id of this bank."


@transaction.atomic
def create(*, actor: User, server: Server, bank_id: str, name: str = "") -> Write:
    """Our row for the bank, as one that its server does not have yet, and the write that makes it. Raises Refusal."""
    bank = _new(actor, server, bank_id)
    return _record("bank-create", actor, bank, {"name": name})


@transaction.atomic
def clone(*, actor: User, source: Bank, bank_id: str, config: bool) -> Write:
    """As `create`, of a bank that is to have what this one has. `config`: its settings and directives, too."""
    access.require(actor, source, Role.ADMIN)
    if source.gone_since is not None or not source.addressable:
        raise Refusal(GONE)
    if source.personal:
        raise Refusal(OF_A_PERSON)
    bank = _new(actor, source.server, bank_id)
    params = {"source": source.bank_id, "config": config}
    return writes.record(kind="bank-clone", bank=bank, via=Write.Via.WEB, actor=actor, params=params)


@transaction.atomic
def rename(*, actor: User, bank: Bank, name: str) -> Write | None:
    """What the server calls it. None when it is called so, as far as is known. Raises Refusal."""
    access.require(actor, bank, Role.ADMIN)
    if bank.gone_since is not None or not bank.addressable:
        raise Refusal(GONE)
    was = "" if bank.named_here else bank.name
    if was == name:
        return None
    return _record("bank-rename", actor, bank, {"name": name, "was": was})


@transaction.atomic
def delete(*, actor: User, bank: Bank, typed: str, documents: int | None) -> Write:
    """Sent after the time of grace. `documents`: as many as were shown, None = unknown. Raises Refusal.

    The one that waits already, when there is one.
    """
    access.require(actor, bank, Role.ADMIN)
    if typed != bank.bank_id:
        raise Refusal(NOT_THE_ID, field="typed")
    if bank.gone_since is not None or not bank.addressable:
        raise Refusal(GONE)
    _alone(bank)
    if (waiting := deletion_of(bank)) is not None:
        return waiting
    grace = timedelta(minutes=settings.BANK_DELETE_MINUTES)
    params = {"bank": bank.bank_id[:500], "name": bank.name, "documents": documents}
    return writes.record(
        kind="bank-delete",
        bank=bank,
        via=Write.Via.WEB,
        actor=actor,
        params=params,
        not_before=timezone.now() + grace,
    )


def keep(*, actor: User, bank: Bank) -> bool:
    """Takes back a delete that has not been sent, and says so in the log. False when there is none any more."""
    access.require(actor, bank, Role.ADMIN)
    with transaction.atomic():
        waiting = deletion_of(bank)
        if waiting is None or not writes.cancel(write=waiting, unsent=True):
            return False
        writes.record(kind="undo", bank=bank, via=Write.Via.WEB, actor=actor, undo_of=waiting)
    return True


def _alone(bank: Bank) -> None:
    """Of two at once the second waits here for the end of the first's transaction, and then sees its row."""
    Bank.objects.filter(pk=bank.pk).update(gone_since=F("gone_since"))


def _record(kind: str, actor: User, bank: Bank, params: dict[str, str]) -> Write:
    return writes.record(kind=kind, bank=bank, via=Write.Via.WEB, actor=actor, params=params)


def _new(actor: User, server: Server, bank_id: str) -> Bank:
    access.get_server(actor, server.pk, Role.ADMIN)
    try:
        check_bank_id(bank_id)
    except NotAddressable as error:
        raise Refusal(error.detail, field="bank_id") from error
    if has_hidden(bank_id) or bank_id != bank_id.strip():
        raise Refusal("An id with hidden characters, or blanks at its ends, is never typed again.", field="bank_id")
    meant = BankAlias.objects.filter(server=server, alias_hash=Bank.hash_of(bank_id), bank__gone_since=None)
    if meant.exists():
        raise Refusal(ALIAS, field="bank_id")
    bank = Bank.objects.get_or_register(server=server, bank_id=bank_id, gone_since=timezone.now())
    if bank.gone_since is None:
        raise Refusal(THERE, field="bank_id")
    _alone(bank)
    if Write.objects.filter(bank=bank, kind__in=MAKING, state__in=Write.OPEN).exists():
        raise Refusal(UNDER_WAY, field="bank_id")
    return bank
