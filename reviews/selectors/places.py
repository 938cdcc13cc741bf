"""Lists that a bank's server gives by place, without a cursor: what is written meanwhile shifts them.

A page is named by how many rows come before it, since servers may give fewer than asked, and by the last row of the
page before: when that one is not where it was, the list has moved.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

from banks.fact_kinds import seen_hash
from banks.hindsight import Page
from memadmin.filtering import AddressFilters

Row = TypeVar("Row")
LAST_START = 5_000_000
PLACE = ("start", "after")


@dataclass(frozen=True)
class PlacedFilters(AddressFilters):
    """Base of what such a list is narrowed by. `start`: rows before the page; `after`: stands for the last of them."""

    start: str = ""
    after: str = ""

    @property
    def offset(self) -> int:
        return int(self.start or 0)

    @property
    def narrowed(self) -> bool:
        return any(name not in PLACE for name in self.values)

    def at(self, start: int, after: str = "") -> str:
        """The query of another page of the same list."""
        return self.query(start=str(start) if start else "", after=after if start else "")


def place_of(query: Mapping[str, str]) -> dict[str, str]:
    """`start` and `after` as an address says them; what is none is dropped."""
    start, after = query.get("start", ""), query.get("after", "")
    number = min(int(start), LAST_START) if start.isascii() and start.isdigit() and len(start) < 8 else 0
    known = len(after) == len(anchor_of("")) and after.isalnum()
    return {"start": str(number or ""), "after": after if known else ""}


def sayable(text: str) -> str:
    """Without what no server can be asked for."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode().strip()


def anchor_of(row_id: str) -> str:
    """Stands for a row in an address: ids are long, and not ours."""
    return seen_hash(row_id)[:16]


@dataclass(frozen=True)
class Window(Generic[Row]):
    """One page. `page`: what the server answered; `moved`: rows were written or deleted since the page before was read.

    `last`: stands for its last row; `final`: where the last page begins, None where the server stopped counting;
    `overfull`: more rows came than were asked for.
    """

    page: Page[Row]
    rows: list[Row] = field(default_factory=list)
    start: int = 0
    more: bool = False
    moved: bool = False
    overfull: bool = False
    last: str = ""
    final: int | None = None

    @classmethod
    def read(
        cls, filters: PlacedFilters, size: int, ask: Callable[[int, int], Page[Row]], row_id: Callable[[Row], str]
    ) -> Self:
        """One call of `ask` with limit and offset. From the second page on it begins with the row before."""
        start = filters.offset
        before = 1 if start and filters.after else 0
        page = ask(size + before, start - before)
        rows = page.items[before : size + before]
        end, full = start + len(rows), len(rows) == size
        return cls(
            page=page,
            rows=rows,
            start=start,
            more=bool(rows) and (end < page.total or (page.estimated and full)),
            moved=bool(before) and (not page.items or anchor_of(row_id(page.items[0])) != filters.after),
            overfull=len(page.items) > size + before,
            last=anchor_of(row_id(rows[-1])) if rows else "",
            final=None if page.estimated else max(page.total - 1, 0) // size * size,
        )

    @property
    def end(self) -> int:
        return self.start + len(self.rows)


@dataclass(frozen=True)
class Ways:
    """Addresses of the pages around one; "" where there is none."""

    first: str
    newer: str = ""
    older: str = ""
    final: str = ""

    @classmethod
    def around(cls, window: Window[Any] | None, filters: PlacedFilters, plain: str, size: int) -> Self:
        """`window` None: the page could not be read."""
        start, first = filters.offset, plain + filters.at(0)
        newer = plain + filters.at(max(start - size, 0)) if start else ""
        if window is None or not window.more:
            return cls(first, newer)
        far = window.final is not None and window.final > window.end
        return cls(
            first,
            newer,
            older=plain + filters.at(window.end, window.last),
            final=plain + filters.at(window.final or 0) if far else "",
        )
