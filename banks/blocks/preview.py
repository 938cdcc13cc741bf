"""What an agent would make of a file of instructions: which markers it has, and what would stand in their place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from banks.blocks import frozen, markers
from banks.blocks.markers import Found, Marker
from banks.blocks.profile import Profile
from banks.models import Bank
from banks.reading import Unread

LARGEST, MOST_MARKERS = 100_000, 20  # of a file: its characters; with a block for each it is one page
MOST_ASKED = 8  # different markers that are asked for; a page waits for each of them

Outcome = Literal["block", "nothing", "recalling", "unread", "refused", "left"]


@dataclass(frozen=True)
class Row:
    """A marker and what becomes of it. `text`: as it stands in the file; `why`: a sentence for what is no block."""

    found: Found
    text: str
    outcome: Outcome
    why: str = ""
    profile: Profile | None = None


@dataclass(frozen=True)
class Preview:
    """`after`: the file as an agent gets it, with a note where a block is not known here."""

    rows: list[Row]
    before: str
    after: str

    @property
    def recalling(self) -> list[Marker]:
        """Queries that a worker has to ask first, each once."""
        waiting = [row.found.marker for row in self.rows if row.outcome == "recalling"]
        return list(dict.fromkeys(each for each in waiting if each))


@dataclass
class _Asking:
    """Each marker once, and after a bank that cannot be read none."""

    bank: Bank
    recalled: Mapping[Marker, Profile]
    known: dict[Marker, Profile] = field(default_factory=dict)
    unread: str = ""

    def profile_of(self, marker: Marker) -> Profile | None:
        """None: not known."""
        if marker.kind == "query":
            return self.recalled.get(marker)
        if marker not in self.known and not self.unread and len(self.known) < MOST_ASKED:
            try:
                self.known[marker] = frozen.read(self.bank, marker)[0]
            except Unread as unread:
                self.unread = unread.sentence
        return self.known.get(marker)


def preview(bank: Bank, text: str, recalled: Mapping[Marker, Profile]) -> Preview:
    """Of a copy: no file is changed. `recalled`: what a worker found for queries; others are `recalling`."""
    text = text.replace("\r\n", "\n")  # forms send these
    asking = _Asking(bank, recalled)
    rows = [_row(asking, found, text[found.start : found.end]) for found in markers.find(text)]
    notes = {row.found.marker: _stands(row) for row in rows if row.found.marker}
    return Preview(rows, text, markers.replaced(text, lambda marker: notes[marker]))


def _row(asking: _Asking, found: Found, text: str) -> Row:
    if not found.closed:
        return Row(found, text, "left", found.why)
    if found.marker is None:
        return Row(found, text, "refused", found.why)
    profile = asking.profile_of(found.marker)
    if profile is None and found.marker.kind == "query":
        return Row(found, text, "recalling", "A worker asks the bank.")
    if profile is None:
        return Row(found, text, "unread", asking.unread or f"Only {MOST_ASKED} different markers are asked for here.")
    if not profile.text:
        return Row(found, text, "nothing", frozen.WHY[profile.reason], profile)
    return Row(found, text, "block", profile=profile)


def _stands(row: Row) -> str:
    if row.outcome == "recalling" and row.found.marker:
        return f"[Here stands what the bank recalls for: {row.found.marker.value}]"
    if row.outcome == "unread":
        return "[Here stands what the bank says; it is not known just now.]"
    return row.profile.text if row.profile else ""
