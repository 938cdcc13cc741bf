"""What a retain takes, checked in one place before anything is stored: a queue that accepts cannot refuse later.

The rules are the server's, and a few of ours: it takes anything of any size, and a batch is refused as a whole for one
bad item.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from banks.hindsight import NotAddressable, check_document_id
from banks.hindsight.ids import is_shadowed

MOST_ITEMS = 64  # of one request
MOST_BYTES = 8 * 1024 * 1024  # of all contents of one request
LONGEST = {"context": 10_000, "document_id": 2_000, "strategy": 200, "timestamp": 64}  # characters
MOST_PAIRS, MOST_TAGS, MOST_ENTITIES, MOST_SCOPES = 64, 64, 100, 64
LONGEST_WORD = 1_000  # characters of a tag, a name, a value of the metadata
UNSET = "unset"  # as a timestamp: without any
SCOPES = ("combined", "shared", "per_tag", "all_combinations")
MODES = ("replace", "append")
MOST_PROBLEMS = 20  # told at once
ABOUT_FILES = ("document_id", "timestamp", "context", "metadata", "tags", "strategy")

_HALF = re.compile("[\ud800-\udfff]")
_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Item:
    """One memory as it was asked for. `document_id` "" = none was given; `context` None = that of the bank.

    `timestamp`: ISO 8601 with an offset, "unset", or "" for the time at which it is queued. `notes`: what was changed.
    """

    content: str
    document_id: str = ""
    timestamp: str = ""
    context: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    tags: Sequence[str] = ()
    update_mode: str = "replace"
    entities: Sequence[Mapping[str, str]] | None = None
    resolve_entities: bool | None = None
    observation_scopes: Any = None
    strategy: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """`item`: its place in the request, None where the request as a whole is meant; `field`: of the API.

    `of`: the list it has its place in; `called`: a name that people know it by, said instead of its place.
    """

    item: int | None
    field: str
    text: str
    too_large: bool = False
    of: str = "items"
    called: str = ""

    @property
    def path(self) -> str:
        """As the API names a place in the body."""
        place = "" if self.item is None else f"{self.of}.{self.item}"
        return ".".join(part for part in ("body", place, self.field) if part)

    def __str__(self) -> str:
        if self.called:
            return ": ".join(part for part in (f"“{self.called}”", self.field, self.text) if part)
        place = self.field if self.item is None else f"{self.of}[{self.item}].{self.field}".removesuffix(".")
        return f"{place}: {self.text}"


class Refused(Exception):
    """Nothing was stored. str() names the items and fields; `status` is 413 where something is too large, else 422."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        self.status = 413 if any(problem.too_large for problem in self.problems) else 422
        super().__init__(" ".join(str(problem) for problem in self.problems[:MOST_PROBLEMS]))


def parse(items: Any) -> list[Item]:
    """The items of a request as JSON gives them. Raises Refused with everything that is wrong with them."""
    if not isinstance(items, list) or not items:
        raise Refused([Problem(None, "items", "A list with at least one item.")])
    if len(items) > MOST_ITEMS:
        text = f"{len(items):,} items; at most {MOST_ITEMS} in one request. Nothing was stored; send them in parts."
        raise Refused([Problem(None, "items", text, too_large=True)])
    problems: list[Problem] = []
    parsed = [_Reader(number, item, problems).item() for number, item in enumerate(items)]
    whole = sum(len(item.content.encode()) for item in parsed)
    if whole > MOST_BYTES and not problems:
        text = f"{whole:,} bytes of content; at most {MOST_BYTES:,} in one request. Nothing was stored; send parts."
        problems.append(Problem(None, "items", text, too_large=True))
    if problems:
        raise Refused(problems)
    return parsed


def parse_about(given: Sequence[Any], names: Sequence[str]) -> list[Item]:
    """What is said about files, in their order: items without content. Raises Refused, which names the files."""
    problems: list[Problem] = []
    parsed = [_Reader(number, each, problems, ABOUT_FILES).item() for number, each in enumerate(given)]
    if problems:
        raise Refused([replace(each, of="files", called=names[each.item or 0]) for each in problems])
    return parsed


def tags(value: Any, name: str = "tags") -> list[str]:
    """Tags of a whole request. Raises Refused."""
    problems: list[Problem] = []
    found = _Reader(None, {name: value}, problems).words(name, MOST_TAGS)
    if problems:
        raise Refused(problems)
    return found


def operation(value: Any) -> UUID | None:
    """The operation id of a whole request, None without one. Raises Refused."""
    if value in (None, ""):
        return None
    try:
        return UUID(str(value))
    except ValueError:
        raise Refused([Problem(None, "operation_id", "A UUID, or nothing.")]) from None


class _Reader:
    """Reads the fields of one item; what is wrong is noted, and reading goes on with a harmless value."""

    def __init__(
        self, number: int | None, given: Any, problems: list[Problem], known: Collection[str] | None = None
    ) -> None:
        self.number, self.problems = number, problems
        self.given: Mapping[str, Any] = given if isinstance(given, dict) else {}
        self.known = _FIELDS.keys() if known is None else known
        self.replaced = 0
        if not isinstance(given, dict):
            self.wrong("", "An object with at least `content`." if "content" in self.known else "An object.")

    def wrong(self, name: str, text: str, *, too_large: bool = False) -> None:
        self.problems.append(Problem(self.number, name, text, too_large))

    def item(self) -> Item:
        if unknown := sorted(str(name)[:60] for name in self.given.keys() - set(self.known)):
            self.wrong(unknown[0], f"There is no such parameter. Known: {', '.join(self.known)}.")
        values = {"content": "", **{name: _FIELDS[name](self) for name in self.known}}
        if values.get("update_mode") == "append" and not values["document_id"]:
            self.wrong("update_mode", "To append needs the document_id of what is appended to.")
        how = "One character" if self.replaced == 1 else f"{self.replaced:,} characters"
        notes = [f"{how} that no bank can store: replaced by U+FFFD."] if self.replaced else []
        return Item(**values, notes=notes)

    def content(self) -> str:
        value = self.given.get("content")
        if not isinstance(value, str):
            self.wrong("content", "Text is needed here; lists with images are not taken.")
            return ""
        text = self.clean(value)
        size, most = len(text.encode()), settings.RETAIN_ITEM_BYTES
        if size > most:
            self.wrong("content", f"{size:,} bytes; at most {most:,} in one item.", too_large=True)
        elif not _INVISIBLE.sub("", text):
            self.wrong("content", "It is empty, or holds nothing that can be seen.")
        return text

    def document_id(self) -> str:
        value = self.text("document_id")
        if not value:
            return ""
        try:
            check_document_id(value)
        except NotAddressable as error:
            self.wrong("document_id", error.detail)
        if _CONTROL.search(value):
            self.wrong("document_id", "It holds control characters: no server finds such a document again.")
        if is_shadowed(value):
            self.wrong("document_id", "It ends in /chunks or /history: no server shows such a document again.")
        return value

    def timestamp(self) -> str:
        value = self.text("timestamp").strip()
        if value in ("", UNSET):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.wrong("timestamp", "Not a time: ISO 8601 such as 2026-03-16T10:00:00+01:00, “unset”, or nothing.")
            return ""
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if not 1 < moment.year < 9999:  # servers reckon with it, and would fail on the first step beyond the calendar
            self.wrong("timestamp", "A time in the years 2 to 9998, “unset” for none.")
        return moment.isoformat()

    def context(self) -> str | None:
        return None if self.given.get("context") is None else self.text("context")

    def metadata(self) -> dict[str, str]:
        value = self.given.get("metadata")
        if value is None:
            return {}
        if not isinstance(value, dict) or len(value) > MOST_PAIRS:
            self.wrong("metadata", f"An object with at most {MOST_PAIRS} names, each with a text.")
            return {}
        found = {}
        for name, each in value.items():
            if each is None:
                continue
            if not isinstance(each, str) or not name or max(len(name), len(each)) > LONGEST_WORD:
                self.wrong(f"metadata.{name[:60]}", f"A text of at most {LONGEST_WORD:,} characters, or null.")
            else:
                found[self.clean(name)] = self.clean(each)
        return found

    def tags(self) -> list[str]:
        return self.words("tags", MOST_TAGS)

    def words(self, name: str, most: int) -> list[str]:
        value = self.given.get(name)
        if value is None:
            return []
        found = list(self.each_word(name, value, most))
        return list(dict.fromkeys(found))

    def each_word(self, name: str, value: Any, most: int) -> Iterator[str]:
        if not isinstance(value, list) or len(value) > most:
            self.wrong(name, f"A list of at most {most} texts.")
            return
        for number, each in enumerate(value):
            if not isinstance(each, str) or not each.strip() or len(each) > LONGEST_WORD:
                self.wrong(f"{name}[{number}]", f"A text of 1 to {LONGEST_WORD:,} characters.")
            else:
                yield self.clean(each)

    def update_mode(self) -> str:
        value = self.given.get("update_mode")
        if value is not None and value not in MODES:
            self.wrong("update_mode", "replace or append.")
        return "append" if value == "append" else "replace"

    def entities(self) -> list[dict[str, str]] | None:
        value = self.given.get("entities")
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > MOST_ENTITIES:
            self.wrong("entities", f"A list of at most {MOST_ENTITIES} objects with `text` and perhaps `type`.")
            return None
        return [self.entity(number, each) for number, each in enumerate(value)]

    def entity(self, number: int, value: Any) -> dict[str, str]:
        found = value if isinstance(value, dict) and value.keys() <= {"text", "type"} else {}
        texts = {name: each for name, each in found.items() if not (name == "type" and each is None)}
        fine = all(isinstance(each, str) and 0 < len(each.strip()) <= LONGEST_WORD for each in texts.values())
        if "text" not in texts or not fine:
            self.wrong(f"entities[{number}]", f"{{text, type}}: texts of 1 to {LONGEST_WORD:,} characters.")
            return {}
        return {name: self.clean(each) for name, each in texts.items()}

    def resolve_entities(self) -> bool | None:
        value = self.given.get("resolve_entities")
        if not isinstance(value, bool | None):
            self.wrong("resolve_entities", "true or false.")
            return None
        return value

    def observation_scopes(self) -> Any:
        value = self.given.get("observation_scopes")
        if value is None or value in SCOPES:
            return value
        if not isinstance(value, list) or len(value) > MOST_SCOPES:
            self.wrong("observation_scopes", f"One of {', '.join(SCOPES)}, or at most {MOST_SCOPES} lists of tags.")
            return None
        return [
            list(self.each_word(f"observation_scopes[{number}]", each, MOST_TAGS)) for number, each in enumerate(value)
        ]

    def strategy(self) -> str:
        return self.text("strategy")

    def text(self, name: str) -> str:
        """A short text; "" for none."""
        value = self.given.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.wrong(name, "Text is needed here.")
            return ""
        if len(value) > LONGEST[name]:
            self.wrong(name, f"{len(value):,} characters; at most {LONGEST[name]:,}.", too_large=True)
            return ""
        return self.clean(value)

    def clean(self, text: str) -> str:
        """NUL is dropped by servers and half a character fits no UTF-8: what is stored is what will be there."""
        if not text.isascii():
            text, halves = _HALF.subn("\ufffd", text)
            self.replaced += halves
        if "\0" in text:
            self.replaced += text.count("\0")
            text = text.replace("\0", "\ufffd")
        return text


_FIELDS: dict[str, Callable[[_Reader], Any]] = {
    "content": _Reader.content,
    "document_id": _Reader.document_id,
    "timestamp": _Reader.timestamp,
    "context": _Reader.context,
    "metadata": _Reader.metadata,
    "tags": _Reader.tags,
    "update_mode": _Reader.update_mode,
    "entities": _Reader.entities,
    "resolve_entities": _Reader.resolve_entities,
    "observation_scopes": _Reader.observation_scopes,
    "strategy": _Reader.strategy,
}
