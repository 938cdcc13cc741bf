"""What a list is narrowed by: the address of its page says it, and a link to the page asks the same again."""

from dataclasses import dataclass, fields, replace

from django.utils.http import urlencode


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
