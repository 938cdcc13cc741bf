"""A bank's policy: how we treat its memories. Kept by us; of it only missions reach the bank, where it has none."""

from typing import Any

from django.db import transaction

from banks import hooks
from banks.models import AdminEvent, Bank
from banks.services import events
from banks.services.refusal import ChangedMeanwhile, differences, fingerprint
from memadmin.accounts.models import User

FIELDS = (
    "language",
    "auto_approve_days",
    "expire_marked",
    "two_reviewers",
    "bars_writer",
    "settle_minutes",
    "polled",
    "reopen_on_change",
    "reapply",
    "retain_context",
    "retain_mission",
    "reflect_mission",
    "hold",
)
CHANGED = "Somebody changed this policy meanwhile. Nothing of yours was stored."


def values_of(bank: Bank) -> dict[str, Any]:
    """`name` is empty where the bank is called as its server says."""
    return {"name": bank.name if bank.named_here else "", **{name: getattr(bank, name) for name in FIELDS}}


def seen(bank: Bank) -> str:
    return fingerprint(values_of(bank))


@transaction.atomic
def change(*, actor: User, bank: Bank, shown: str, values: dict[str, Any]) -> bool:
    """False when nothing differs. `shown`: what `seen` said of the form's values. Raises ChangedMeanwhile."""
    now = Bank.objects.select_related("server").get(pk=bank.pk)
    if seen(now) != shown:
        raise ChangedMeanwhile(CHANGED)
    before, after = differences(values_of(now), values)
    if not after:
        return False
    stored = dict(after)
    if "name" in after:
        stored["named_here"] = bool(after["name"])
    as_shown = {name: getattr(now, name) for name in ("name", "named_here", *FIELDS)}
    if not Bank.objects.filter(pk=bank.pk, **as_shown).update(**stored):
        raise ChangedMeanwhile(CHANGED)
    now.refresh_from_db()
    events.record(what=AdminEvent.What.POLICY_CHANGED, actor=actor, bank=now, before=before, after=after)
    hooks.policy_changed(now, set(after))
    return True
