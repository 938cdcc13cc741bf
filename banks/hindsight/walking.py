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
        if page.ends(offset) or len(found) == before:
            return list(found.values())
    raise errors.BadAnswer("The list does not end.")


def first_rows(
    page_at: Callable[[int, int], Page[Row]], key: Callable[[Row], str], *, most: int, at_once: int
) -> Page[Row]:
    """The first `most` rows of a list, each once; `page_at(offset, limit)`. `total`: how many there are."""
    found: dict[str, Row] = {}
    offset = 0
    while True:
        page = page_at(offset, min(at_once, most - len(found)))
        before = len(found)
        found.update((key(item), item) for item in page.items[: most - before])
        offset += len(page.items)
        if len(found) in (before, most) or page.ends(offset):
            total = page.total if page.counted else len(found)
            return Page(list(found.values()), total, page.ignored_params)
