"""Two files, one answer: the project's file wins over the person's, key by key, and both over the environment.

The tool checks next to nothing of what a file says, so neither is anything corrected here: what it will take as it is
stands there as it is, with a word about what is wrong with it.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from reviews.agentconfig.keys import GROUPS, KEYS, Key

Place = Literal["project", "global"]
PLACES: dict[Place, str] = {"project": "project file", "global": "global file"}

MOST_BYTES = 1024 * 1024
LONGEST = 600  # characters of a value on the page
LONGEST_SLUG = 64


class Malformed(Exception):
    """The tool takes this file for empty. str() says why."""


@dataclass(frozen=True)
class Layer:
    """One file. `values` None = there is none, or it is malformed (`trouble`)."""

    place: Place
    values: dict[str, Any] | None = None
    trouble: str = ""

    @property
    def title(self) -> str:
        return PLACES[self.place]

    @property
    def known(self) -> dict[str, Any]:
        return {name: value for name, value in (self.values or {}).items() if name in KEYS}

    @property
    def unknown(self) -> list[str]:
        """Keys that the tool keeps and does not read. Their values are nobody's business here."""
        return sorted(set(self.values or {}) - set(KEYS))


@dataclass(frozen=True)
class Effective:
    """What holds for one key. `layer` "" = neither file sets it: the agent's environment says, or else the default."""

    key: Key
    text: str
    layer: Place | Literal[""]
    shadowed: str = ""  # what the other file says in vain
    wrong: str = ""

    @property
    def origin(self) -> str:
        return PLACES[self.layer] if self.layer else "environment or default"


@dataclass(frozen=True)
class Group:
    title: str
    rows: list[Effective]

    @property
    def set_here(self) -> int:
        return sum(bool(row.layer) for row in self.rows)


@dataclass(frozen=True)
class Config:
    project: Layer
    global_: Layer
    groups: list[Group]
    bank: str  # the id that is used, "" = none is declared
    bank_says: str
    language: str | None  # None = neither file says

    @property
    def layers(self) -> list[Layer]:
        return [self.project, self.global_]


def parse(raw: bytes) -> dict[str, Any]:
    """Raises Malformed."""
    if len(raw) > MOST_BYTES:
        raise Malformed("It is larger than any configuration.")
    try:
        found = json.loads(raw.decode("utf-8"), parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise Malformed("It is not UTF-8 text.") from error
    except json.JSONDecodeError as error:
        raise Malformed(f"It is no JSON: line {error.lineno}, column {error.colno}.") from error
    except (ValueError, RecursionError) as error:
        raise Malformed("It is no JSON that the tool can read.") from error
    if not isinstance(found, dict):
        raise Malformed("It is JSON, but no object.")
    return found


def _refused(constant: str) -> NoReturn:
    raise ValueError(constant)


def layer_of(place: Place, raw: bytes | None) -> Layer:
    """`raw` None = there is no such file."""
    if raw is None:
        return Layer(place)
    try:
        return Layer(place, parse(raw))
    except Malformed as error:
        return Layer(place, trouble=str(error))


def merged(project: Layer, global_: Layer, *, folder: str = "") -> Config:
    """`folder`: the project's, by its name; a bank that is called `auto` is called so."""
    groups = [Group(title, [_effective(key, project, global_) for key in keys]) for title, keys in GROUPS]
    bank, says = _bank(project.known.get("bankId"), global_.known.get("bankId"), folder)
    files = global_.known | project.known
    language = files.get("memoryLanguage")
    return Config(project, global_, groups, bank, says, language if isinstance(language, str) else None)


def _effective(key: Key, project: Layer, global_: Layer) -> Effective:
    own, other = project.known, global_.known
    if key.name == "bankId":  # the one key that is no plain merge
        declared = isinstance(own.get(key.name), str) and own[key.name].strip()
        if not declared and other.get(key.name) != "auto":
            unused = next((said[key.name] for said in (own, other) if key.name in said), None)
            return Effective(key, "", "", wrong="" if unused is None else NO_BANK)
        own = own if declared else {}
    if key.name in own:
        shadowed = shown_of(key, other[key.name]) if key.name in other else ""
        return Effective(key, shown_of(key, own[key.name]), "project", shadowed, wrong_with(key, own[key.name]))
    if key.name in other:
        return Effective(key, shown_of(key, other[key.name]), "global", wrong=wrong_with(key, other[key.name]))
    return Effective(key, shown_of(key, key.default), "")


SHORTENED = "Ids are shortened to small letters, digits and “-”."
NO_BANK = "What stands there declares no bank: the global file may say “auto” and nothing else, and a blank is none."


def _bank(own: Any, other: Any, folder: str) -> tuple[str, str]:
    """(id, what to know about it)."""
    declared = own.strip() if isinstance(own, str) else ""
    unless = "" if declared else " A bank that its environment names comes first."
    declared = declared or ("auto" if other == "auto" else "")
    if not declared:
        return "", "No bank is declared in these files: unless its environment names one, the tool is dormant."
    if declared != "auto":
        return slug(declared), "" if slug(declared) == declared else SHORTENED
    if not folder:
        return "", f"The bank is called like the project's folder, whose name is not known here.{unless}"
    return slug(folder), f"Called like the project's folder: two folders of one name share a bank.{unless}"


def slug(name: str) -> str:
    """As the tool does it: what is not Latin at all becomes `default`."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_SLUG] or "default"


def shown_of(key: Key, value: Any) -> str:
    """For the page, bounded. A password in an address is left out."""
    if isinstance(value, str):
        text = re.sub(r"(?<=//)[^/@\s]*@", "…@", value) if key.name == "baseUrl" else value
    elif value is None:
        text = ""
    elif isinstance(value, bool):
        text = "on" if value else "off"
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        text = ", ".join(value)
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def wrong_with(key: Key, value: Any) -> str:
    """What the tool takes and should not get; "" for a good value."""
    if isinstance(value, str) and not value.strip() and key.kind in {"text", "mission"} and key.name != "userBankId":
        return "Blank is not “inherit”: the tool takes it for an empty value. Removing the key inherits."
    if not _fits(key, value):
        return f"The tool takes it as it is, but it should be {WANTED[key.kind]}."
    if key.kind == "choice" and value not in key.options:
        return f"The tool knows {', '.join(key.options)}."
    return ""


WANTED = {
    "text": "text",
    "mission": "text",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "choice": "text",
    "list": "a list of texts",
    "object": "an object",
}


def _fits(key: Key, value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match key.kind:
        case "text" | "mission" | "choice":
            return isinstance(value, str)
        case "whole":
            return number and value % 1 == 0  # of any length: some are longer than a float has
        case "number":
            return number
        case "flag":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))
        case "object":
            return isinstance(value, dict)
