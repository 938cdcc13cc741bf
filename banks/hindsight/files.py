"""Files that the server turns into text by itself."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from banks.hindsight import ids
from banks.hindsight.transport import Form, encode

MOST_FILES, MOST_BYTES = 10, 100 * 1024 * 1024  # of one request
LONGEST_NAME = 200
_NOTHING_TO_SEE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


@dataclass(frozen=True, slots=True)
class RetainFile:
    """One file, which becomes one document. `stream` is read once, in pieces.

    `parsers`: names of the server's converters, tried in this order; none = its own choice. `timestamp`: ISO 8601 or
    "unset"; the server does not check it before it has converted the file. It keeps metadata as given, so give text.
    """

    name: str
    stream: BinaryIO
    document_id: str
    context: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    tags: Sequence[str] = ()
    timestamp: str | None = None
    strategy: str | None = None
    parsers: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"document_id": self.document_id}
        optional = {
            "context": self.context,
            "metadata": dict(self.metadata) or None,
            "tags": list(self.tags) or None,
            "timestamp": self.timestamp,
            "strategy": self.strategy,
            "parser": list(self.parsers) or None,
        }
        return body | {name: value for name, value in optional.items() if value is not None}


def safe_name(name: str) -> str:
    """The last part of a path, without what hides or turns a line around; "file" for nothing. Its ending stays."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(each for each in last if unicodedata.category(each) not in _NOTHING_TO_SEE).strip()
    if shown.strip(".") == "":
        return "file"
    _, dot, ending = shown.rpartition(".")
    if len(shown) <= LONGEST_NAME:
        return shown
    keep = len(ending) + 1 if dot and len(ending) < 20 else 0
    return shown[: LONGEST_NAME - keep] + (f".{ending}" if keep else "")


def form_of(files: Sequence[RetainFile]) -> Form:
    """One request for all of them. ValueError for too many, and for two of one document."""
    names = [file.document_id for file in files]
    if not 0 < len(names) <= MOST_FILES or len(set(names)) != len(names):
        raise ValueError(f"One to {MOST_FILES} files, and each document once.")
    for name in names:
        ids.check_document_id(name)
    asked = encode({"files_metadata": [file.as_json() for file in files]}).decode()
    return Form({"request": asked}, [("files", (safe_name(file.name), file.stream)) for file in files])
