"""What the demo server's handlers share: the request, the reply, and its errors in the shapes of the real server."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from banks.demo.store import Store

_SURROGATE = re.compile("[\ud800-\udfff]")


class Problem(Exception):
    """An error answer. `detail`: text, or the list of a validation error."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast background work goes, in seconds. The real server: 0.5, 0.1 and more, 60 and 3."""

    pickup: float = 0.1
    work: float = 0.2
    backoff: float = 60.0
    retries: int = 3

    @classmethod
    def instant(cls) -> "Pace":
        """Everything is finished when the next request looks. For tests with a clock that stands still."""
        return cls(pickup=0.0, work=0.0, backoff=0.0)


@dataclass(slots=True)
class Request:
    """One call being handled. `path` is decoded, as the real server routes it; `args` come from the path."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    raw: bytes
    store: Store
    now: datetime
    pace: Pace
    parsers: tuple[str, ...] = ()
    args: dict[str, str] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    status: int = 200  # of the answer, when it is a good one

    @property
    def bank_id(self) -> str:
        return self.args["bank"]

    def text(self, name: str, default: str = "") -> str:
        values = self.query.get(name)
        return values[-1] if values else default

    def flag(self, name: str) -> bool:
        return self.text(name).lower() in {"1", "true", "yes", "on"}

    def number(self, name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
        """A whole number of the query within its limits."""
        given = self.text(name)
        if name not in self.query:
            return default
        place = ["query", name]
        try:
            value = int(given)
        except ValueError:
            message = "Input should be a valid integer, unable to parse string as an integer"
            raise invalid("int_parsing", place, message, given) from None
        if value < least:
            message = f"Input should be greater than or equal to {least}"
            raise invalid("greater_than_equal", place, message, given, {"ge": least})
        if most is not None and value > most:
            message = f"Input should be less than or equal to {most}"
            raise invalid("less_than_equal", place, message, given, {"le": most})
        return value

    def json(self, known: frozenset[str]) -> dict[str, Any]:
        """The body; names that are not `known` are noted for the X-Ignored-Params header."""
        try:
            body = json.loads(self.raw)
        except (ValueError, RecursionError):
            raise invalid("json_invalid", ["body", 1], "JSON decode error", {}) from None
        if not isinstance(body, dict):
            message = "Input should be a valid dictionary or object to extract fields from"
            raise invalid("model_attributes_type", ["body"], message, body)
        self.ignored += sorted(set(body) - known)
        return {name: _whole(value) for name, value in body.items()}


def _whole(value: Any) -> Any:
    """The value without half characters (lone surrogates), which no database can store."""
    match value:
        case str():
            return _SURROGATE.sub("", value)
        case list():
            return [_whole(each) for each in value]
        case dict():
            return {_whole(key): _whole(each) for key, each in value.items()}
    return value


def invalid(kind: str, place: Sequence[str | int], message: str, given: Any, context: Any = None) -> Problem:
    """A 422 as the real server words it."""
    entry = {"type": kind, "loc": list(place), "msg": message, "input": given}
    return Problem(422, [entry if context is None else entry | {"ctx": context}])


def wrong_value(place: Sequence[str | int], message: str, given: Any) -> Problem:
    return invalid("value_error", place, f"Value error, {message}", given, {"error": {}})


def parse_time(text: str, problem: Problem) -> datetime:
    """The moment in UTC; without an offset it is taken as UTC."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise problem from None
