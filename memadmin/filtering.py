"""What a list is narrowed by: the address of its page says it, and a link to the page asks the same again."""

from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time

from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.http import urlencode

YEARS = range(1970, 2200)


@dataclass(frozen=True)
class AddressFilters:
    """Base of frozen dataclasses of words; "" = not asked for."""

    @property
    def values(self) -> dict[str, str]:
        """What is asked for."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name))}

    def query(self, **changes: str) -> str:
        """ "?bank=3&q=flags", or "" when nothing is asked for."""
        asked = replace(self, **changes).values
        return f"?{urlencode(asked)}" if asked else ""

    def __str__(self) -> str:
        return self.query()


def day_of(text: str) -> str:
    """The day as an address says it, "2026-03-16"; "" for what is none."""
    try:
        found = parse_date(text)
    except ValueError:
        return ""
    return text if found is not None and found.year in YEARS and found.isoformat() == text else ""


def number_of(text: str, *, digits: int = 17) -> int:
    """0 for what is no number or has more digits: int() refuses very long ones, and what only looks like a digit."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else 0


def midnight(day: str) -> datetime:
    """When this day begins here."""
    return timezone.make_aware(datetime.combine(date.fromisoformat(day), time.min))
