"""What is read for pages about saved queries."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.http import Http404
from django.utils import timezone

from banks import access, connections
from banks.models import Bank, ExpectedFact, RecallCheck, Role
from banks.recall.asked import Asked

SHOWN = 200


@dataclass(frozen=True)
class Lost:
    """Expected facts that do not come back, of banks this person may see. `newest`: when the last of them went away."""

    facts: int
    banks: list[tuple[Bank, int]]
    newest: datetime | None

    def __bool__(self) -> bool:
        return self.facts > 0


def checks_of(bank: Bank) -> list[RecallCheck]:
    """Those that lost something first."""
    rows = RecallCheck.objects.filter(bank=bank).select_related("bank")
    return list(rows.order_by("-lost", "name", "pk")[:SHOWN])


def checks_seen_by(user: Any) -> list[RecallCheck]:
    """Of all banks this person may see; those that lost something first."""
    banks = access.bank_ids_for(user)
    seen = RecallCheck.objects.all() if banks is None else RecallCheck.objects.filter(bank__in=banks)
    return list(seen.select_related("bank__server").order_by("-lost", "bank", "name", "pk")[:SHOWN])


def get_check(user: Any, pk: int, role: Role = Role.VIEWER) -> RecallCheck:
    """404 for strangers of its bank, 403 where the role is too low."""
    check = RecallCheck.objects.select_related("bank__server").filter(pk=pk).first()
    if check is None:
        raise Http404("No such saved query.")
    access.require(user, check.bank, role)
    return check


def expected_of(check: RecallCheck) -> list[ExpectedFact]:
    """Those that did not come back first."""
    return sorted(check.expected.all(), key=lambda each: (each.place is not None, each.pk))


def asked_of(check: RecallCheck) -> Asked:
    return Asked.parse(check.asked)


def is_asking(check: RecallCheck) -> bool:
    """Whether a worker asks it now, or is about to: not while its bank is gone, or its server away."""
    now, bank = timezone.now(), check.bank
    if check.claimed_until is not None and check.claimed_until > now:
        return True
    return check.run_after <= now and bank.gone_since is None and not connections.paused_until(bank.server)


def lost_for(user: Any) -> Lost:
    """What is lost for this person, by their rights now."""
    banks = access.bank_ids_for(user)
    return _lost(None if banks is None else {"recall_check__bank__in": banks})


def lost_on(server: int) -> Lost:
    """The same for all of a server, without persons' banks: those are in nobody's message."""
    return _lost({"recall_check__bank__server": server, "recall_check__bank__kind": Bank.Kind.PROJECT})


def _lost(among: dict[str, Any] | None) -> Lost:
    gone = ExpectedFact.objects.filter(
        **among or {}, missing_since__isnull=False, recall_check__bank__gone_since__isnull=True
    )
    rows = list(gone.values_list("recall_check__bank", flat=True)[:10_000])
    if not rows:
        return Lost(0, [], None)
    banks = Bank.objects.in_bulk(set(rows))
    counts = Counter(rows)
    found = sorted(((banks[pk], count) for pk, count in counts.items()), key=lambda each: (-each[1], str(each[0])))
    return Lost(len(rows), found, gone.aggregate(newest=Max("missing_since"))["newest"])
