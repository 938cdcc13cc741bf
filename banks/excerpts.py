"""A part of a text with the words in it marked that were searched for, and hidden characters visible."""

from collections.abc import Sequence
from dataclasses import dataclass

from banks.hidden import Segment, segments
from banks.secrets.masking import masked
from memadmin.marking import Part, Place, part_of, places_of
from memadmin.terms import Phrase

ID_SHOWN = 160  # characters


@dataclass(frozen=True)
class Piece:
    text: str
    hit: bool = False

    @property
    def segments(self) -> list[Segment]:
        return segments(self.text)


@dataclass(frozen=True)
class Excerpt:
    """`whats`: how many of the phrases it has. `before`, `after`: the text goes on there."""

    pieces: list[Piece]
    whats: int
    before: bool = False
    after: bool = False

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def marks(self) -> list[tuple[int, int]]:
        """[start, end) of what is marked, in characters of `text`."""
        found, at = [], 0
        for piece in self.pieces:
            if piece.hit:
                found.append((at, at + len(piece.text)))
            at += len(piece.text)
        return found


def excerpt(text: str, phrases: Sequence[Phrase]) -> Excerpt:
    return excerpt_of(text, places_of(text, phrases))


def excerpt_of(text: str, places: Sequence[Place]) -> Excerpt:
    return _cut(masked(text), part_of(text, places))


def marked_id(text: str, phrases: Sequence[Phrase]) -> Excerpt:
    """An id as lists show it: its beginning."""
    end = min(len(text), ID_SHOWN)
    inside = [each for each in places_of(text, phrases) if each.start < end]
    return _cut(text, Part(0, end, [Place(each.start, min(each.end, end), each.what) for each in inside]))


def _cut(text: str, part: Part) -> Excerpt:
    pieces, at = [], part.start
    for place in part.places:
        pieces += [Piece(text[at : place.start]), Piece(text[place.start : place.end], hit=True)]
        at = place.end
    pieces.append(Piece(text[at : part.end]))
    return Excerpt([each for each in pieces if each.text], part.whats, part.start > 0, part.end < len(text))
