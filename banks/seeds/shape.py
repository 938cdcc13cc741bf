"""What a seed is made of, and which values it may have: for forms, for files, and for what is built in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from banks.hidden import has_hidden
from banks.retain.scope import GLOBAL, MODES, PER_PROJECT, TAGGED

ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # NUL and halves of a character: no database, or no UTF-8, takes them
SAID_BACK = 60  # characters of a name that a file made up
LONGEST_ID, LONGEST_NAME, LONGEST_QUERY = 64, 200, 8_000
LEAST_TOKENS, MOST_TOKENS, TOKENS = 256, 8_192, 2_048  # servers refuse others; what they take where none is said
MOST_TAGS, LONGEST_TAG = 20, 200
REFRESHES = ("full", "delta")
TAGS_MATCH = ("any", "all", "any_strict", "all_strict", "exact")
LARGEST = 1_000_000

# What of a trigger a seed may say: servers ignore, or refuse, anything else.
_TRIGGER: dict[str, tuple[type, tuple[str, ...]]] = {
    "mode": (str, REFRESHES),
    "refresh_after_consolidation": (bool, ()),
    "exclude_mental_models": (bool, ()),
    "tags_match": (str, TAGS_MATCH),
    "include_chunks": (bool, ()),
    "keep_trace": (bool, ()),
    "recall_max_tokens": (int, ()),
    "recall_chunks_max_tokens": (int, ()),
    "min_refresh_interval_seconds": (int, ()),
}
_SAID: dict[type, str] = {bool: "true or false", int: "a whole number", str: "a word"}
# How files of others call the same.
_ALSO = {"query": "source_query", "projectTagged": "project_tagged", "maxTokens": "max_tokens", "tags": "extra_tags"}
_NAMES = ("id", "name", "source_query", "scopes", "project_tagged", "extra_tags", "max_tokens", "trigger")


@dataclass(frozen=True, slots=True)
class SeedSpec:
    """A seed as it is meant. `scopes`: of banks.retain.scope; `project_tagged`: in a tagged scope it is one project's.

    Servers refresh a model with tags from what carries all of them, so tags that no memory has make an empty text.
    """

    id: str
    name: str
    source_query: str
    scopes: tuple[str, ...]
    project_tagged: bool = False
    extra_tags: tuple[str, ...] = ()
    max_tokens: int = TOKENS
    trigger: Mapping[str, Any] = field(default_factory=dict)
    built_in: bool = False

    def as_json(self) -> dict[str, Any]:
        """As it stands in a file."""
        return {
            "id": self.id,
            "name": self.name,
            "source_query": self.source_query,
            "scopes": list(self.scopes),
            "project_tagged": self.project_tagged,
            "extra_tags": list(self.extra_tags),
            "max_tokens": self.max_tokens,
            "trigger": dict(self.trigger),
        }


class NotASeed(ValueError):
    """`problems`: {field: what is wrong with it}; str() is all of it on one line."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = problems


def checked(values: Mapping[str, Any]) -> SeedSpec:
    """The seed that these values, of a form or a file, describe. Raises NotASeed."""
    given = {_ALSO.get(name, name): value for name, value in values.items()}
    problems = {_said_back(name): "Unknown." for name in given if name not in _NAMES}
    for name, check in _CHECKS.items():
        if said := check(given.get(name)):
            problems[name] = said
    if problems:
        raise NotASeed(problems)
    spec = SeedSpec(
        id=given["id"],
        name=given["name"].strip(),
        source_query=given["source_query"].strip(),
        scopes=tuple(mode for mode in MODES if mode in given["scopes"]),
        project_tagged=bool(given.get("project_tagged", False)),
        extra_tags=tuple(dict.fromkeys(given.get("extra_tags") or [])),
        max_tokens=given.get("max_tokens") or TOKENS,
        trigger=dict(given.get("trigger") or {}),
    )
    if spec.project_tagged and GLOBAL in spec.scopes:
        raise NotASeed({"scopes": "A project's model is not wanted where projects are not told apart (global)."})
    return spec


def _said_back(name: Any) -> str:
    return _UNSTORABLE.sub("\ufffd", str(name))[:SAID_BACK]


def _id(value: Any) -> str:
    if not isinstance(value, str) or not ID.fullmatch(value) or len(value) > LONGEST_ID:
        return f"Lower-case letters, digits and single hyphens between them, at most {LONGEST_ID}."
    return ""


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME:
        return f"A name of at most {LONGEST_NAME} characters."
    return "It holds hidden characters. Type it instead of pasting it." if _hides(value) else ""


def _query(value: Any) -> str:
    if not isinstance(value, str) or not re.search(r"\w", value) or len(value) > LONGEST_QUERY:
        return f"A question of at most {LONGEST_QUERY:,} characters, with a word in it."
    return "It holds a NUL character, or half a character." if _UNSTORABLE.search(value) else ""


def _scopes(value: Any) -> str:
    if not isinstance(value, list | tuple) or not value or not all(each in MODES for each in value):
        return f"At least one of {', '.join(MODES)}."
    return ""


def _flag(value: Any) -> str:
    return "" if value is None or isinstance(value, bool) else "true or false."


def _tags(value: Any) -> str:
    if value is None:
        return ""
    good = isinstance(value, list | tuple) and all(isinstance(tag, str) and tag.strip() == tag for tag in value)
    if not good or len(value) > MOST_TAGS or not all(0 < len(tag) <= LONGEST_TAG for tag in value):
        return f"At most {MOST_TAGS} tags of up to {LONGEST_TAG} characters, without blanks around them."
    if any(_hides(tag) for tag in value):
        return "A tag is one line without hidden characters."
    return ""


def _hides(line: str) -> bool:
    """Whether what should be one line of words is none, or holds what nobody sees or stores."""
    return len(line.splitlines()) > 1 or has_hidden(line) or _UNSTORABLE.search(line) is not None


def _tokens(value: Any) -> str:
    if value is None or (type(value) is int and LEAST_TOKENS <= value <= MOST_TOKENS):
        return ""
    return f"From {LEAST_TOKENS:,} to {MOST_TOKENS:,}."


def _trigger(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, dict):
        return "An object."
    for name, given in value.items():
        kind, words = _TRIGGER.get(name, (None, ()))
        if kind is None:
            return f"“{_said_back(name)}” is nothing that a seed can say. Known: {', '.join(_TRIGGER)}."
        too_large = isinstance(given, int) and not 0 <= given <= LARGEST
        if type(given) is not kind or (words and given not in words) or too_large:
            return f"{name}: {', '.join(words) or _SAID[kind]}."
    return ""


_CHECKS = {
    "id": _id,
    "name": _name,
    "source_query": _query,
    "scopes": _scopes,
    "project_tagged": _flag,
    "extra_tags": _tags,
    "max_tokens": _tokens,
    "trigger": _trigger,
}

__all__ = ["GLOBAL", "PER_PROJECT", "TAGGED", "NotASeed", "SeedSpec", "checked"]
