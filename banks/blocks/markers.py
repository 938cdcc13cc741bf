"""Markers in a file of instructions for agents (AGENTS.md) that ask for what a user bank knows.

A marker is an HTML comment at the start of a line:

    <!-- hindsight:user -->                       the facts that the bank states
    <!-- hindsight:user model: user-profile -->   the text of a mental model
    <!-- hindsight:user query: … limit: 5 -->     what the bank recalls, of that at most so many facts

Its fields may stand on lines of their own, and mean the same there; the text of a query may go on over lines. What is
not understood as a whole is refused as a whole, and removed like one that cannot be answered: a marker is a note to
the program and never one to the model. A comment that is not closed is left as it is, and takes nothing with it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from banks.blocks.lengths import one_line
from banks.hindsight.errors import NotAddressable
from banks.hindsight.ids import check_model_id

MOST_LINES = 40  # of one marker, the first and the last among them
LONGEST_ID, LONGEST_QUERY, LARGEST_LIMIT = 200, 2_000, 1_000
FIELDS = ("model", "query", "limit", "bank")

Kind = Literal["facts", "model", "query"]

# What follows the name is no part of a longer one: `hindsight:username` is none of ours, `hindsight:user:x` is.
_OPENING = re.compile(r"(?:\A\ufeff?|(?<=\n))<!--\s*hindsight:user(?![A-Za-z0-9_]|-(?!->))")
_CLOSING, _ANOTHER = "-->", "<!--"
_OURS = "|".join(FIELDS)
# At the start of a line every word with a colon is a field, so that a mistyped one is refused; inside a line ours are.
_LINE_OF_A_FIELD = re.compile(rf"((?:{_OURS})(?=\s*:)|[A-Za-z][\w-]*(?=\s*:(?:\s|$)))\s*:\s*(.*)")
_FIELD_IN_A_LINE = re.compile(rf"(?:^|\s)({_OURS})\s*:")


class Refused(Exception):
    """Why a marker is not understood: a sentence for the person who wrote it."""


@dataclass(frozen=True, slots=True)
class Marker:
    """`value`: the id of the model, or the question; `limit`: None is as many as fit."""

    kind: Kind
    value: str = ""
    limit: int | None = None

    def __str__(self) -> str:
        """As it is written on one line: the same for all its spellings."""
        told = "" if self.kind == "facts" else f" {self.kind}: {self.value}"
        return f"<!-- hindsight:user{told}{'' if self.limit is None else f' limit: {self.limit}'} -->"


FACTS = Marker("facts")


@dataclass(frozen=True, slots=True)
class Found:
    """A marker at `start` to `end` of a text, on line `line`, from 1.

    marker: what it asks for; None: it is refused, or not closed, for the reason `why`.
    """

    start: int
    end: int
    line: int
    marker: Marker | None
    why: str = ""
    closed: bool = True


def find(text: str) -> list[Found]:
    """In their order. What stands inside a line, such as a sentence about markers, is none."""
    return [_found(text, opening) for opening in _OPENING.finditer(text)]


def read(text: str) -> Marker:
    """The one marker that this text is. Raises Refused."""
    found = find(text.strip())
    if len(found) != 1 or found[0].start > 1 or (found[0].closed and found[0].end != len(text.strip())):
        raise Refused("This is not one marker: <!-- hindsight:user --> and nothing around it.")
    if found[0].marker is None:
        raise Refused(found[0].why)
    return found[0].marker


def replaced(text: str, block_for: Callable[[Marker], str]) -> str:
    """The text as an agent gets it: blocks instead of markers, and neither refused nor empty ones."""
    done, parts = 0, []
    for found in find(text):
        if not found.closed:
            continue
        block = block_for(found.marker) if found.marker else ""
        parts += [text[done : found.start], block]
        done = found.end if block else _end_of_line(text, found.end)
    return "".join([*parts, text[done:]])


def _end_of_line(text: str, at: int) -> int:
    """Behind a line that nothing else stands on: with what is removed, it goes too."""
    rest = re.compile(r"[ \t]*(?:\r?\n|\Z)").match(text, at)
    return rest.end() if rest else at


def _found(text: str, opening: re.Match[str]) -> Found:
    start = opening.start() + opening[0].startswith("\ufeff")
    line = text.count("\n", 0, start) + 1
    end, another = text.find(_CLOSING, opening.end()), text.find(_ANOTHER, opening.end())
    lines = text.count("\n", start, end) + 1 if end >= 0 else 0
    if end < 0 or 0 <= another < end or lines > MOST_LINES:
        why = f"It is not closed: --> has to follow, within {MOST_LINES} lines and before the next comment begins."
        return Found(start, opening.end(), line, None, why, closed=False)
    try:
        marker = parse(text[opening.end() : end])
    except Refused as refused:
        return Found(start, end + len(_CLOSING), line, None, str(refused))
    return Found(start, end + len(_CLOSING), line, marker)


def parse(body: str) -> Marker:
    """What stands between `hindsight:user` and the end of the comment. Raises Refused."""
    if body and not body[0].isspace():
        raise Refused(f"After hindsight:user there is “{_short(body)}”, which means nothing.")
    given: dict[str, str] = {}
    for name, value in _fields(body):
        if name == "bank":
            raise Refused("A marker cannot name a bank: it is about the user bank of the agent.")
        if name not in FIELDS:
            raise Refused(f"There is no field “{_short(name)}”: there are model, query and limit.")
        if name in given:
            raise Refused(f"The field {name} is there twice.")
        given[name] = value
    return _marker(given)


def _marker(given: dict[str, str]) -> Marker:
    if "model" in given and "query" in given:
        raise Refused("It asks for a model and for a query: one of them.")
    if "limit" in given and "query" not in given:
        raise Refused("A limit belongs to a query.")
    if "model" in given:
        return Marker("model", _model(given["model"]))
    if "query" in given:
        return Marker("query", _query(given["query"]), _limit(given["limit"]) if "limit" in given else None)
    return FACTS


def _fields(body: str) -> Iterator[tuple[str, str]]:
    """(name, value) in their order. Raises Refused for text that belongs to no field."""
    begun: list[tuple[str, str]] = []  # what begins with a line; others may follow behind it
    for line in filter(None, map(one_line, body.splitlines())):
        begins = _LINE_OF_A_FIELD.fullmatch(line)
        if begins:
            begun.append((begins[1], begins[2]))
            continue
        name, text = begun[-1] if begun else ("", "")
        if [name, *_FIELD_IN_A_LINE.findall(text)][-1] != "query":  # only the text of a query goes on over lines
            raise Refused(f"“{_short(line)}” belongs to no field.")
        begun[-1] = (name, f"{text} {line}")
    for name, text in begun:
        pieces = _FIELD_IN_A_LINE.split(text)
        yield name, pieces[0].strip()
        yield from ((pieces[at], pieces[at + 1].strip()) for at in range(1, len(pieces), 2))


def _model(value: str) -> str:
    try:
        check_model_id(value)
    except NotAddressable as error:
        raise Refused(f"“{_short(value)}” is no id of a mental model.") from error
    if " " in value or len(value) > LONGEST_ID:
        raise Refused(f"“{_short(value)}” is no id of a mental model.")
    return value


def _query(value: str) -> str:
    if not re.search(r"\w", value):
        raise Refused("The query has no word in it." if value else "The query is empty.")
    if len(value) > LONGEST_QUERY:
        raise Refused(f"The query has more than {LONGEST_QUERY:,} characters.")
    return value


def _limit(value: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", value) or not int(value):
        raise Refused(f"The limit is “{_short(value)}”, which is no number from 1.")
    return min(int(value), LARGEST_LIMIT)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
