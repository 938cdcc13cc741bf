"""What a person searches for in everything they may see; it travels in the query string."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_date

from banks import access
from memadmin.filtering import AddressFilters
from memadmin.terms import Phrase, is_word, phrases_of

LONGEST = 200
MOST_BANKS = 1_000  # that are asked at once
OWN = {"memories": "Memories", "facts": "Decided facts", "log": "Log rows"}
BANKS = "banks"
KINDS = {"": "Everything", **OWN, BANKS: "In the banks"}
YEARS = range(1970, 2200)
NO_WORD = "Only the banks themselves look for signs alone; what is stored here is found by letters and digits."
TOO_LONG = f"That is longer than {LONGEST} characters; its beginning is searched for."
ONE_SIGN = "One sign alone is searched for nowhere: it takes a letter, a digit, or two signs for the banks themselves."
TOO_SHORT = "The banks are asked for two characters or more: one alone is in nearly every text."


@dataclass(frozen=True)
class SearchFilters(AddressFilters):
    """Empty = not asked for."""

    q: str = ""
    kind: str = ""
    bank: str = ""  # primary keys
    server: str = ""
    since: str = ""  # days, both of them included
    until: str = ""

    @property
    def phrases(self) -> list[Phrase]:
        return phrases_of(self.q)

    @property
    def narrow(self) -> bool:
        return bool(replace(self, q="", kind="").values)

    @property
    def for_banks(self) -> bool:
        """Whether servers can be asked for it: they look for any part of a text."""
        return len(self.q) > 1 or is_word(self.q)

    @property
    def only_words(self) -> str:
        """The address without the bar's filters."""
        return SearchFilters(q=self.q, kind=self.kind).query()

    @property
    def for_job(self) -> dict[str, str]:
        """What of it the banks are asked."""
        return {name: value for name, value in self.values.items() if name in ("q", "bank", "server")}

    def askable(self, user: Any) -> list[int]:
        """The primary keys of the banks that are asked, by name."""
        rows, banks = access.banks_for(user), self.banks(user)
        rows = rows if banks is None else rows.filter(pk__in=banks)
        return list(rows.order_by("name", "bank_id", "pk").values_list("pk", flat=True)[:MOST_BANKS])

    def of_kind(self, kind: str) -> str:
        return self.query(kind=kind)

    def banks(self, user: Any) -> list[int] | None:
        """The primary keys of the banks that are asked for and that this person may see; None = all there are."""
        if self.server:
            rows = access.banks_for(user).filter(server=int(self.server)).order_by("pk")
            found = list(rows.values_list("pk", flat=True))
            return [pk for pk in found if not self.bank or pk == int(self.bank)]
        seen = access.bank_ids_for(user)
        if self.bank:
            return [pk for pk in [int(self.bank)] if seen is None or pk in seen]
        return seen

    def between(self, name: str) -> Q:
        """The days, of this column."""
        asked = Q()
        if self.since:
            asked &= Q(**{f"{name}__gte": _midnight(self.since)})
        if self.until:
            asked &= Q(**{f"{name}__lt": _midnight(self.until) + timedelta(days=1)})
        return asked


@dataclass(frozen=True)
class Asked:
    """`refused`: what of the address could not be asked for, or not as it stands, in words."""

    filters: SearchFilters
    refused: list[str] = field(default_factory=list)


def parse_search(query: Mapping[str, str]) -> Asked:
    refused: list[str] = []

    def checked(name: str, good: bool, said: str) -> str:
        value = text(name)
        if value and not good:
            refused.append(said)
        return value if good else ""

    def text(name: str) -> str:
        return str(query.get(name, "")).replace("\x00", "").strip()

    words = text("q")
    if len(words) > LONGEST:
        refused.append(TOO_LONG)
    filters = SearchFilters(
        q=words[:LONGEST].strip(),
        kind=checked("kind", text("kind") in KINDS, "Nothing of that kind is kept here."),
        bank=checked("bank", _is_key(text("bank")), "That is no bank."),
        server=checked("server", _is_key(text("server")), "That is no server."),
        since=checked("since", _is_day(text("since")), f"“{text('since')[:20]}” is no day; write 2026-03-16."),
        until=checked("until", _is_day(text("until")), f"“{text('until')[:20]}” is no day; write 2026-03-16."),
    )
    if filters.since and filters.until and filters.since > filters.until:
        refused.append("The first day is behind the last one, so nothing lies between them.")
    if filters.q and filters.kind != BANKS and not filters.phrases:
        refused.append(NO_WORD if filters.for_banks else ONE_SIGN)
    if filters.q and filters.kind == BANKS and not filters.for_banks:
        refused.append(TOO_SHORT)
    return Asked(filters, refused)


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 18


def _is_day(text: str) -> bool:
    try:
        found = parse_date(text)
    except ValueError:
        return False
    return found is not None and found.year in YEARS and found.isoformat() == text


def _midnight(day: str) -> datetime:
    return timezone.make_aware(datetime.combine(date.fromisoformat(day), time.min))
