from typing import Any

from django.db import transaction

from banks.models import AdminEvent, Bank, Group, Server
from memadmin.accounts.models import User


def record(
    *,
    what: AdminEvent.What,
    actor: User | None,
    server: Server | None = None,
    bank: Bank | None = None,
    person: User | None = None,
    group: Group | None = None,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    reason: str = "",
) -> AdminEvent:
    """Keeps for ever who changed what. Must run inside the transaction of the change: both are stored, or neither."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("record() belongs into the transaction of its change")
    server = bank.server if bank is not None else server
    return AdminEvent.objects.create(
        what=what,
        actor=actor,
        actor_name=actor.display_name if actor else "",
        server=server,
        server_name=server.name if server else "",
        bank=bank,
        bank_name=_name_of(bank) if bank else "",
        person=person,
        person_name=person.display_name if person else "",
        group=group,
        group_name=group.name if group else "",
        before=before or {},
        after=after or {},
        reason=reason[:300],
    )


def _name_of(bank: Bank) -> str:
    """Names are not unique: the id belongs to it."""
    return f"{bank.name} ({bank.bank_id})" if bank.name and bank.name != bank.bank_id else bank.bank_id
