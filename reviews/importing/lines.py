"""From the lines of a queue file to events, by the rules of the tool that writes it. Nothing a file holds can raise."""

from typing import Any

from memadmin.jsonlines import SURROGATE, Skipped, record_of
from reviews.importing.events import Event, Same, event_of

LONGEST_LINE = 1024 * 1024  # bytes; a queue line has some 200
# The fields that name something: a character lost there would name something else.
_IDS = frozenset({"docId", "bank", "baseUrl", "namespace"})


def parse(data: bytes, same: Same | None = None) -> Event | Skipped | None:
    """The event of a line, why it is none, or None for a blank line. `same` as in `event_of`."""
    record = record_of(data, LONGEST_LINE, "events")
    if not isinstance(record, dict):
        return record
    if b"\\u" in data:  # only an escape can bring a NUL or half a character
        record = {key: _clean(key, value) for key, value in record.items()}
    return event_of(record, same) or Skipped(_why(record))


def _clean(key: str, value: Any) -> Any:
    """No database stores a NUL or half a character. In an id both are marked, so that it names nothing else."""
    if not isinstance(value, str):
        return value
    return SURROGATE.sub("\ufffd", value).replace("\0", "\ufffd" if key in _IDS else "")


def _why(record: dict[str, Any]) -> str:
    if record.get("ev") not in ("add", "done"):
        return "neither an add nor a done"
    return "no document id" if "docId" not in record else "the document id is not text"
