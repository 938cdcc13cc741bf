"""What an agent would make of a file of instructions: which markers it has, and what would stand in their place.

Pure text: what the bank says for the markers is asked before, by a worker (banks.blocks.trials).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from banks.blocks import markers
from banks.blocks.markers import Found, Marker
from banks.blocks.profile import Profile

LARGEST, MOST_MARKERS = 100_000, 20  # of a file: its characters; with a block for each it is one page

Outcome = Literal["block", "nothing", "asked", "unread", "refused", "left"]


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
    def waits(self) -> bool:
        """Whether the bank has to be asked first."""
        return any(row.outcome == "asked" for row in self.rows)

    @property
    def asked(self) -> list[Marker]:
        """All that a bank is asked for, each once."""
        return list(dict.fromkeys(row.found.marker for row in self.rows if row.found.marker))


def preview(text: str, told: Mapping[Marker, Profile], *, unread: str = "") -> Preview:
    """Of a copy: no file is changed. `told`: what the bank says; `unread`: why it says nothing more."""
    text = text.replace("\r\n", "\n")  # forms send these
    rows = [_row(found, text[found.start : found.end], told, unread) for found in markers.find(text)]
    notes = {row.found.marker: _stands(row) for row in rows if row.found.marker}
    return Preview(rows, text, markers.replaced(text, lambda marker: notes[marker]))


def _row(found: Found, text: str, told: Mapping[Marker, Profile], unread: str) -> Row:
    if not found.closed:
        return Row(found, text, "left", found.why)
    if found.marker is None:
        return Row(found, text, "refused", found.why)
    profile = told.get(found.marker)
    if profile is None:
        return Row(found, text, "unread" if unread else "asked", unread)
    if not profile.text:
        return Row(found, text, "nothing", profile.why, profile)
    return Row(found, text, "block", profile=profile)


def _stands(row: Row) -> str:
    if row.profile is None:
        return "[Here stands what the bank says; it is not known just now.]"
    return row.profile.text
