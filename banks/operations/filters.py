"""What a person asks the list of operations for: the address of its page, and the rows that this means."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from banks.access import bank_ids_for
from banks.models import OperationLook, OperationSeen, Role
from memadmin.filtering import AddressFilters

Phase = OperationSeen.Phase
SHOW = ("open", "failed", "stuck")
STATUSES = ("pending", "processing", "retrying", "completed", "failed", "cancelled", "not_found")


@dataclass(frozen=True)
class OperationFilters(AddressFilters):
    """Empty = not asked for. Anything unknown is dropped, but for a status or type that a server may have."""

    show: str = ""
    q: str = ""
    server: str = ""  # primary keys
    bank: str = ""
    status: str = ""
    type: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "OperationFilters":
        def text(name: str, longest: int) -> str:
            return str(query.get(name, "")).replace("\x00", "").strip()[:longest]

        def number(name: str) -> str:
            given = text(name, 17)
            return given if given.isascii() and given.isdigit() else ""

        show = text("show", 10)
        return cls(
            show=show if show in SHOW else "",
            q=text("q", 200),
            server=number("server"),
            bank=number("bank"),
            status=text("status", 40),
            type=text("type", 60),
        )

    def rows(self, user: Any, role: Role = Role.VIEWER) -> QuerySet[OperationSeen]:
        """Parents, and those that have none, which are asked for themselves or by one of their parts."""
        rows = OperationSeen.objects.filter(self._where(user, role), parent=None)
        for asked in (self._shown(), self._called()):
            if asked:
                parts = OperationSeen.objects.filter(asked, parent__isnull=False)
                rows = rows.filter(asked | Q(pk__in=parts.values("parent")))
        return rows

    def looks(self, user: Any) -> QuerySet[OperationLook]:
        """When the banks that are asked for were looked at."""
        return OperationLook.objects.filter(self._where(user, Role.VIEWER), bank__gone_since=None)

    def _where(self, user: Any, role: Role) -> Q:
        banks = bank_ids_for(user, role)
        where = Q() if banks is None else Q(bank__in=banks)
        if self.server:
            where &= Q(bank__server=int(self.server))
        if self.bank:
            where &= Q(bank=int(self.bank))
        return where

    def _shown(self) -> Q:
        if self.show == "stuck":
            return Q(phase=Phase.OPEN, still_since__lte=timezone.now() - OperationSeen.stuck_before())
        return Q(phase=self.show) if self.show else Q()

    def _called(self) -> Q:
        asked = Q()
        for name in ("status", "type"):
            if value := getattr(self, name):
                asked &= Q(**{name: value})
        if self.q:
            asked &= Q(operation_id=str(found)) if (found := _uuid(self.q)) else _containing(self.q)
        return asked


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _containing(text: str) -> Q:
    names = ("operation_id", "document_id", "about", "error")
    found = Q()
    for name in names:
        found |= Q(**{f"{name}__icontains": text})
    return found
