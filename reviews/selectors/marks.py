"""The marks of one memory for its card: by kind, each with its places."""

from dataclasses import dataclass, field

from banks.diffs import Diff, diff
from banks.hidden import Segment, segments
from banks.secrets.masking import masked
from reviews.models import Mark, ReviewEntry

AROUND = 24  # characters shown before and behind what was found
LONGEST = 160  # characters shown of it
SHOWN = 20


@dataclass(frozen=True)
class Place:
    mark: Mark
    before: list[Segment] = field(default_factory=list)
    found: list[Segment] = field(default_factory=list)
    after: list[Segment] = field(default_factory=list)
    cut: bool = False  # there is more of it than is shown
    other: ReviewEntry | None = None  # near-duplicates: the other memory, and how the two differ
    diff: Diff | None = None


@dataclass(frozen=True)
class Marks:
    """`open`: those that count. `dismissed`: what people said is no risk. `more`: open ones that are not listed."""

    open: list[Place]
    dismissed: list[Mark]
    secrets: int
    more: int


def marks_of(entry: ReviewEntry) -> Marks:
    rows = list(Mark.objects.filter(entry=entry).select_related("other__text"))
    waiting = sorted((row for row in rows if not row.dismissed), key=lambda row: (row.tone != "danger", row.start))
    text = entry.text.text if waiting and entry.text and not entry.text.erased else ""
    sheet = masked(text)
    return Marks(
        open=[_place(row, text if row.other else sheet) for row in waiting[:SHOWN]],
        dismissed=[row for row in rows if row.dismissed],
        secrets=sum(row.kind == "secret" for row in rows),
        more=max(len(waiting) - SHOWN, 0),
    )


def _place(mark: Mark, text: str) -> Place:
    if mark.other and mark.other.text and not mark.other.text.erased:
        return Place(mark, other=mark.other, diff=diff(mark.other.text.text, text))
    if not mark.end or not text:
        return Place(mark)
    end = min(mark.end, mark.start + LONGEST)
    return Place(
        mark,
        segments(text[max(mark.start - AROUND, 0) : mark.start]),
        segments(text[mark.start : end]),
        segments(text[mark.end : mark.end + AROUND]),
        cut=end < mark.end,
    )
