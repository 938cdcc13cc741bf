"""Files: taken, turned into text, and retained, each step an operation of its own, as on the real server.

The demo's one converter reads text. A server without any refuses a request before it stores something.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from uuid import uuid4

from banks.demo.banks import require_bank
from banks.demo.http import Problem, Request, invalid
from banks.demo.store import Row, pack, stamp, unpack

PARSER = "markitdown"  # what the real server takes when it was not told
CONVERSION = "file_convert_retain"
_MOST_FILES, _MOST_MB = 10, 100


def post_files(request: Request) -> dict[str, Any]:
    found = list(_parts(request))
    files = [(name, content) for field, name, content in found if field == "files"]
    if not files:
        raise invalid("missing", ["body", "files"], "Field required", None)
    asked = _asked(next((content for field, _, content in found if field == "request"), b""))
    if len(files) > _MOST_FILES:
        raise Problem(400, f"Too many files. Maximum {_MOST_FILES} files per request.")
    about = asked.get("files_metadata") or [{} for _ in files]
    if len(about) != len(files):
        raise Problem(400, f"files_metadata count ({len(about)}) must match files count ({len(files)})")
    _check_parsers(request, asked.get("parser"), "request-level parser")
    for (name, _), each in zip(files, about, strict=True):
        _check_parsers(request, each.get("parser") or asked.get("parser") or PARSER, f"file '{name}'")
    size = sum(len(content) for _, content in files) / 1024**2
    if size > _MOST_MB:
        raise Problem(400, f"Total batch size ({size:.1f}MB) exceeds maximum of {_MOST_MB}MB")
    require_bank(request)
    return {
        "operation_ids": [
            _submit(request, name, content, each) for (name, content), each in zip(files, about, strict=True)
        ]
    }


def convert(request: Request, row: Row) -> str:
    """Has the text of a converted file retained. Returns why it could not be converted, "" when it was."""
    (item,) = unpack(row["items"])
    if error := item.pop("error"):
        return f"RuntimeError: Failed to parse file '{item['name']}': {error}"
    name = item.pop("name")
    assert name
    _insert(request, "retain", item)
    return ""


def _submit(request: Request, name: str, content: bytes, about: dict[str, Any]) -> str:
    kept = {key: about[key] for key in ("context", "metadata", "tags", "timestamp", "strategy") if about.get(key)}
    error, text = "", ""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        error = f"Failed to parse '{name}': not text"
    if not error and not text.strip():
        error = f"No content extracted from '{name}'"
    item = {"document_id": about.get("document_id") or f"file_{uuid4()}", "content": text, "name": name, "error": error}
    return _insert(request, CONVERSION, kept | item)


def _insert(request: Request, kind: str, item: dict[str, Any]) -> str:
    now, operation_id = stamp(request.now), str(uuid4())
    row = {
        "id": operation_id,
        "bank_id": request.bank_id,
        "type": kind,
        "status": "pending",
        "items": pack([item]),
        "items_count": 0,
        "document_id": item["document_id"],
        "created_at": now,
        "updated_at": now,
        "due_at": stamp(request.now + timedelta(seconds=request.pace.pickup)),
    }
    request.store.insert("operations", row)
    return operation_id


def _check_parsers(request: Request, given: Any, where: str) -> None:
    names = [given] if isinstance(given, str) else list(given or [])
    if unknown := [name for name in names if name not in request.parsers]:
        raise Problem(400, f"Parser(s) not available ({where}): {unknown}. Available: {list(request.parsers)}")


def _asked(raw: bytes) -> dict[str, Any]:
    """Names that are not known are dropped without a word, also an operation_id."""
    try:
        asked = json.loads(raw)
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        raise Problem(400, "Invalid request JSON: 1 validation error for FileRetainRequest")
    return asked


def _parts(request: Request) -> Iterator[tuple[str, str, bytes]]:
    """(field, file name, content)"""
    head = f"Content-Type: {request.headers.get('content-type', '')}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + request.raw)
    for part in message.iter_parts() if message.is_multipart() else ():
        field = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        yield str(field), part.get_filename("") or "", content if isinstance(content, bytes) else b""
