"""Reading single fields of an answer: of the right type, or their empty value."""

from collections.abc import Mapping
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Any, overload

Row = Mapping[str, Any]
LARGEST = 2**31 - 1


class ShapeError(ValueError):
    """An answer without the fields that make it usable."""


def aware(moment: datetime) -> datetime:
    """The moment in UTC; one without a zone is taken as UTC, as the server does."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def mapping(value: Any) -> Row:
    if not isinstance(value, dict):
        raise ShapeError(f"expected an object, got {type(value).__name__}")
    return value


def required(row: Row, key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise ShapeError(f"no {key!r} in the answer")
    return value


def text(row: Row, key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def texts(row: Row, key: str) -> list[str]:
    value = row.get(key)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


@overload
def number(row: Row, key: str, default: int = 0) -> int: ...
@overload
def number(row: Row, key: str, default: None) -> int | None: ...
def number(row: Row, key: str, default: int | None = 0) -> int | None:
    """A count: what is less than nothing or more than a database column takes, is no number of anything."""
    value = row.get(key)
    return min(max(int(value), 0), LARGEST) if isinstance(value, int | float) else default


def decimal(value: Any) -> float | None:
    """A number as a float. JSON knows no largest one: what is none here is None, like what is no number at all."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def counts(row: Row, key: str) -> dict[str, int]:
    value = row.get(key)
    return {str(k): number(value, k) for k, v in value.items() if isinstance(v, int)} if isinstance(value, dict) else {}


def metadata(row: Row, key: str) -> dict[str, str]:
    value = row.get(key)
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def entities(value: Any) -> list[str]:
    if isinstance(value, str):
        return [name for part in value.split(",") if (name := part.strip())]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def when(row: Row, key: str) -> datetime | None:
    value = row.get(key)
    if not isinstance(value, str) or not value:
        return None
    try:
        moment = aware(datetime.fromisoformat(value))
    except (ValueError, OverflowError):
        return None
    return moment if MINYEAR < moment.year < MAXYEAR else None  # an hour more or less would break arithmetic
