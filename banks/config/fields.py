"""One setting in a form: how its value is typed in, and what a form that comes back asks for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MISSIONS = ("retain_mission", "reflect_mission", "observations_mission")
CHOICES = {
    "retain_extraction_mode": ("concise", "verbose", "custom", "verbatim", "chunks"),
    "recall_budget_function": ("fixed", "adaptive"),
}
# What servers have empty, and is neither text nor JSON then.
WHOLE = ("disposition_empathy", "disposition_literalism", "disposition_skepticism", "retain_structured_chunk_size")
ONE_LINE = 80  # characters; longer texts get several lines
LONGEST = 200_000  # characters of one value
GROUPS = (
    ("Missions", ("retain_mission", "reflect_mission", "observations_mission")),
    ("Retaining", ("retain_", "store_", "entit", "memory_defense", "audit_")),
    ("Recall", ("recall_", "enable_text", "enable_temporal", "enable_graph", "enable_reranking")),
    ("Observations", ("consolidation_", "enable_", "observation", "default_observation", "max_observations")),
    ("Answers and models", ("reflect_", "mental_model_", "disposition_", "knowledge_page_")),
    ("Others", ("",)),
)


class Unusable(ValueError):
    """What was typed in is no value of this setting; str() says why."""


@dataclass(frozen=True)
class Setting:
    """`text`: the value as a form shows it. `own`: set on this bank, else inherited from the server.

    kind: flag, choice, whole, number, line, lines or json.
    """

    name: str
    kind: str
    value: Any
    text: str
    own: bool
    options: tuple[str, ...] = ()
    number: int = 0  # of the elements in a page
    changed: bool = False
    error: str = ""


@dataclass(frozen=True)
class Group:
    title: str
    settings: list[Setting]

    @property
    def own(self) -> int:
        return sum(each.own for each in self.settings)

    @property
    def special(self) -> list[Setting]:
        """What the bank has of its own, or a form has changed. All missions: they are what most people come for."""
        if self.title == GROUPS[0][0]:
            return self.settings
        return [each for each in self.settings if each.own or each.changed]

    @property
    def folded(self) -> list[Setting]:
        """What it only inherits, where something else is to be seen."""
        special = {each.name for each in self.special}
        return [each for each in self.settings if each.name not in special]


@dataclass(frozen=True)
class Asked:
    """What a form asks for: `updates` as the server takes them, None = inherit again. `settings`: as typed in."""

    settings: list[Setting]
    updates: dict[str, Any] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        return sum(bool(each.error) for each in self.settings)


def settings_of(values: Mapping[str, Any], overrides: Mapping[str, Any]) -> list[Setting]:
    """All of them in the order of a page: group by group, by name."""
    names = sorted({*values, *overrides}, key=lambda name: (_group(name), name))
    found = [setting_of(name, values.get(name, overrides.get(name)), own=name in overrides) for name in names]
    return [replace(each, number=number) for number, each in enumerate(found, start=1)]


def setting_of(name: str, value: Any, *, own: bool) -> Setting:
    kind = kind_of(name, value)
    options = CHOICES.get(name, ()) if kind == "choice" else ()
    text = text_of(value)
    if kind == "choice" and text and text not in options:
        options = (text, *options)
    return Setting(name, kind, value, text, own, options)


def kind_of(name: str, value: Any) -> str:
    """By its value; where there is none, by its name."""
    match value:
        case bool():
            return "flag"
        case int():
            return "whole"
        case float():
            return "number"
        case str() | None if name in CHOICES:
            return "choice"
        case str():
            long = name.endswith(("_mission", "_instructions")) or len(value) > ONE_LINE
            return "lines" if long or not value.isprintable() else "line"
        case None if name.endswith(("_mission", "_instructions")):
            return "lines"
        case None if name == "retain_default_strategy":
            return "line"
        case None if name in WHOLE:
            return "whole"
    return "json"


def text_of(value: Any) -> str:
    """The value as text; nothing for none. Half characters, which no page can carry, are replaced."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    return text.encode("utf-8", "replace").decode()


def grouped(settings: list[Setting]) -> list[Group]:
    """Those that have any."""
    by_group: dict[int, list[Setting]] = {}
    for each in settings:
        by_group.setdefault(_group(each.name), []).append(each)
    return [Group(GROUPS[at][0], by_group[at]) for at in sorted(by_group)]


def asked_by(values: Mapping[str, Any], overrides: Mapping[str, Any], post: Mapping[str, str]) -> Asked:
    """Compares a form that came back with what it showed. What it does not name stays as it is.

    Ticked: set on this bank. Not ticked any more: inherited. Never ticked, but typed over: set.
    """
    asked = Asked([])
    for each in settings_of(values, overrides):
        typed = post.get(f"value.{each.name}")
        if typed is None:
            asked.settings.append(each)
            continue
        asked.settings.append(_asked(each, _lines(typed), f"own.{each.name}" in post, asked.updates))
    return asked


def _asked(each: Setting, typed: str, ticked: bool, updates: dict[str, Any]) -> Setting:
    untouched = typed == _lines(each.text)
    if untouched and ticked == each.own:
        return each
    if each.own and not ticked:
        updates[each.name] = None
        return replace(each, own=False, changed=True)
    shown = replace(each, text=typed, own=True, changed=True)
    try:
        value = each.value if untouched and each.value is not None else parse(each.kind, typed)
    except Unusable as problem:
        return replace(shown, error=str(problem))
    if each.own and same(value, each.value):
        return each
    updates[each.name] = value
    return shown


def parse(kind: str, text: str) -> Any:
    """Raises Unusable."""
    if len(text) > LONGEST:
        raise Unusable(f"At most {LONGEST:,} characters.")
    if "\0" in text:
        raise Unusable("It holds a NUL character, which no server can store.")
    if kind in ("line", "lines"):
        return text
    if not text.strip():
        raise Unusable("Say a value, or leave it to the server.")
    if kind == "choice":
        return text.strip()
    if kind == "flag":
        return _flag(text)
    return _number(kind, text) if kind in ("whole", "number") else _json(text)


def same(one: Any, other: Any) -> bool:
    """As JSON has it: 1 is 1.0, and neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    return bool(one == other)


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise Unusable("On or off.")
    return text == "true"


def _number(kind: str, text: str) -> int | float:
    try:
        return int(text) if kind == "whole" else _finite(float(text))
    except ValueError as error:
        raise Unusable("A whole number." if kind == "whole" else "A number.") from error


def _finite(number: float) -> float:
    if number - number != 0:
        raise ValueError("not finite")
    return number


def _json(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is no JSON")

    try:
        value = json.loads(text, parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise Unusable("This is no JSON. A text stands in double quotes.") from error
    if value is None:
        raise Unusable("“null” says nothing. Leave it to the server instead.")
    if "\\u0000" in text:
        raise Unusable("It holds a NUL character, which no server can store.")
    return value


def _lines(text: str) -> str:
    """Browsers send other line ends than they were shown."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _group(name: str) -> int:
    return next(at for at, (_, begins) in enumerate(GROUPS) if name.startswith(begins))
