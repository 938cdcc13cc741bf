"""A list to its end."""

from collections.abc import Callable
from typing import TypeVar

from banks.hindsight import errors
from banks.hindsight.shapes import Page

Row = TypeVar("Row")

MOST_PAGES = 1_000


def every_row(page_at: Callable[[int], Page[Row]], key: Callable[[Row], str]) -> list[Row]:
    """Every row of a list once, by the lengths returned: servers cap pages without saying so."""
    found: dict[str, Row] = {}
    offset = 0
    for _ in range(MOST_PAGES):
        page = page_at(offset)
        before = len(found)
        found.update((key(item), item) for item in page.items)
        offset += len(page.items)
        if not page.items or offset >= page.total or len(found) == before:
            return list(found.values())
    raise errors.BadAnswer("The list does not end.")
