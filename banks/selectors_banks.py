"""What is read for the list of banks: rows of ours alone, by a constant number of queries."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import Coalesce, Lower, NullIf
from django.utils import timezone

from banks import access, hooks, naming
from banks.models import Bank, BankAlias, BankNumbers, Role, Server, Write
from banks.retain.selectors import held_by_bank
from banks.selectors_operations import troubled_by_bank
from banks.whole.selectors import deletions_of
from memadmin.filtering import AddressFilters

BANKS_PER_PAGE, ALIASES_SHOWN = 50, 3
MOST_SORTED = 20_000  # banks; SQLite takes 32,000 numbers in one statement
TYPES = ("world", "experience", "observation")
# What a list may be sorted by, beside the name: most first, and what is unknown last.
SORTS = {
    "pending": "most pending",
    "documents": "most documents",
    "facts": "most facts",
    "retired": "most retired",
    "backlog": "most not consolidated",
    "written": "last written",
    "troubled": "most failed and stuck operations",
}
COLUMNS = {
    "documents": "document_count",
    "facts": "fact_count",
    "retired": "retired_count",
    "backlog": "numbers__backlog",
    "written": "numbers__last_write_at",
}
Key = tuple[Any, ...]


@dataclass
class BankRow:
    bank: Bank
    role: Role
    pending: int = 0
    oldest: datetime | None = None  # since when the oldest pending one waits; None = none, or none has a date
    held: int = 0
    failed_operations: int = 0
    stuck_operations: int = 0
    aliases: list[str] = field(default_factory=list)  # the first of them
    deletion: Write | None = None

    @property
    def administered(self) -> bool:
        return self.role == Role.ADMIN

    @property
    def numbers(self) -> BankNumbers | None:
        found: BankNumbers | None = getattr(self.bank, "numbers", None)
        return found

    @property
    def backlog(self) -> int | None:
        """Facts that are not consolidated; None = not known."""
        return self.numbers.backlog if self.numbers else None

    @property
    def last_write_at(self) -> datetime | None:
        return self.numbers.last_write_at if self.numbers else None

    @property
    def unread(self) -> str:
        """Why the last read failed, "" when it did not."""
        return self.numbers.error if self.numbers else ""

    @property
    def types(self) -> list[tuple[str, int]]:
        """Facts by type, those that everybody knows first."""
        counts = self.numbers.facts_by_type if self.numbers else {}
        places = {kind: place for place, kind in enumerate(TYPES)}
        return sorted(counts.items(), key=lambda each: (places.get(each[0], len(TYPES)), each[0]))

    @property
    def days(self) -> list[int] | None:
        """New facts of the last days until today; None = not known."""
        numbers = self.numbers
        if numbers is None or numbers.days is None or numbers.days_to is None:
            return None
        since = (timezone.now().astimezone(UTC).date() - numbers.days_to).days
        if since not in (0, 1):  # by a clock that is ahead, or of long ago
            return None
        days: list[int] = numbers.days
        return [*days[since:], *[0] * since]

    @property
    def old(self) -> bool:
        """Whether what the server counts was not read for long."""
        read = self.bank.counted_at
        return read is not None and read < timezone.now() - 3 * timedelta(seconds=settings.NUMBERS_SECONDS)

    @property
    def tone(self) -> str:
        """How it is with the bank in all, as a tone."""
        health, bad = self.bank.server.health, {Server.Health.REFUSED, Server.Health.UNREACHABLE}
        if self.bank.gone_since or self.failed_operations or health in bad:
            return "danger"
        unread = self.old or bool(self.unread)
        troubled = self.stuck_operations or health == Server.Health.DEGRADED or not self.bank.addressable
        return "attention" if unread or troubled else "approved" if self.bank.counted_at else "none"


@dataclass(frozen=True)
class BankPage:
    rows: list[BankRow] = field(default_factory=list)
    total: int = 0
    after: str = ""  # where the next page starts; "" = there is none


@dataclass(frozen=True)
class BankFilters(AddressFilters):
    """Empty = not asked for; an unknown order is the one by name. `after`: where the page starts."""

    q: str = ""
    sort: str = ""
    after: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "BankFilters":
        sort = str(query.get("sort", ""))
        return cls(
            q=str(query.get("q", "")).replace("\x00", "").strip()[:200],
            sort=sort if sort in SORTS else "",
            after=str(query.get("after", ""))[:60].replace("\x00", ""),
        )

    def rows(self, user: Any) -> QuerySet[Bank]:
        return naming.named(access.banks_for(user), self.q)


def bank_page(user: Any, filters: BankFilters) -> BankPage:
    """By as many queries for one bank as for thousands. A page starts behind a place, not behind a number of rows."""
    keys = _keys(user, filters)
    start = _start(keys, filters)
    shown = keys[start : start + BANKS_PER_PAGE]
    more = len(keys) > start + BANKS_PER_PAGE
    rows = _rows(user, [int(key[-1]) for key in shown])
    return BankPage(rows, len(keys), _address(shown[-1], filters) if more and shown else "")


def bank_row(user: Any, bank: Bank) -> BankRow:
    """The same of one bank, which this person may see."""
    return _rows(user, [bank.pk])[0]


def _keys(user: Any, filters: BankFilters) -> list[Key]:
    """What each bank is sorted by, its primary key last."""
    found = filters.rows(user).order_by("pk")
    if not filters.sort:
        called = Lower(Coalesce(NullIf("name", Value("")), "bank_id", output_field=TextField()))
        return sorted(found.annotate(called=called).values_list("called", "pk")[:MOST_SORTED])
    if column := COLUMNS.get(filters.sort):
        values = {pk: _number(value) for pk, value in found.values_list("pk", column)[:MOST_SORTED]}
    else:
        pks = list(found.values_list("pk", flat=True)[:MOST_SORTED])
        counted = _counted(filters.sort, pks)
        values = {pk: counted.get(pk, 0) for pk in pks}
    return sorted(_key(value, pk) for pk, value in values.items())


def _counted(sort: str, pks: Sequence[int]) -> dict[int, int]:
    if sort == "pending":
        return hooks.waiting(pks)
    return {pk: failed + stuck for pk, (failed, stuck) in troubled_by_bank(pks).items()}


def _number(value: int | datetime | None) -> int | None:
    return max(int(value.timestamp()), 0) if isinstance(value, datetime) else value


def _key(value: int | None, pk: int) -> Key:
    return (value is None, -(value or 0), pk)


def _address(key: Key, filters: BankFilters) -> str:
    """`pk`, or `pk~value`: the place stays where it was when the numbers of its bank change."""
    if not filters.sort:
        return str(key[-1])
    unknown, value, pk = key
    return f"{pk}~{'' if unknown else -value}"


def _start(keys: Sequence[Key], filters: BankFilters) -> int:
    """0 for what is no place of ours."""
    number, _, value = filters.after.partition("~")
    if not _is_number(number) or (value and not _is_number(value)):
        return 0
    pk = int(number)
    if filters.sort:
        return bisect_right(keys, _key(int(value) if value else None, pk))
    return next((place + 1 for place, key in enumerate(keys) if key[-1] == pk), 0)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 18


def _rows(user: Any, pks: list[int]) -> list[BankRow]:
    by_pk = Bank.objects.select_related("server", "person", "numbers").in_bulk(pks)
    banks = [by_pk[pk] for pk in pks if pk in by_pk]
    roles, pending, oldest = access.roles_on(user, banks), hooks.waiting(pks), hooks.oldest_waiting(pks)
    troubled, held, aliases = troubled_by_bank(pks), held_by_bank(pks), _aliases(pks)
    deletions = deletions_of(banks)
    return [
        BankRow(
            bank,
            roles[bank.pk],
            pending.get(bank.pk, 0),
            oldest.get(bank.pk),
            held.get(bank.pk, 0),
            *troubled.get(bank.pk, (0, 0)),
            aliases=aliases.get(bank.pk, []),
            deletion=deletions.get(bank.pk),
        )
        for bank in banks
        if bank.pk in roles
    ]


def _aliases(pks: list[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for bank, alias in BankAlias.objects.filter(bank__in=pks).order_by("alias").values_list("bank_id", "alias"):
        if len(found.setdefault(bank, [])) < ALIASES_SHOWN:
            found[bank].append(alias)
    return found
