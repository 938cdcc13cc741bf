"""Putting the sample memories into a demo server, as if its agents had worked for a week."""

import json
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from banks.demo.samples.content import SampleBank, SampleDocument, load
from banks.demo.server import DemoServer

logger = logging.getLogger(__name__)

_CURATED_AFTER = timedelta(minutes=5)
_FAILED_AGO = timedelta(hours=2)
_QUERY = 300  # characters
_SPACES = "/v1/default/banks"
_DIRECTIVES: tuple[dict[str, Any], ...] = (
    {"name": "Dates", "content": "Say of every number from which date it is.", "priority": 10},
    {"name": "Incidents", "content": "Name who was on call, and nobody else.", "tags": ["incident"]},
    {"name": "Short answers", "content": "Answer in at most three sentences.", "is_active": False},
)


class SampleError(Exception):
    """The sample files do not fit the demo server."""


def fill(server: DemoServer, now: datetime) -> int:
    """Store all samples, oldest first, then curate and let one retain fail. Returns how many documents there are."""
    pairs = [(bank, document) for bank in load() for document in bank.documents]
    oldest = max(document.age for _, document in pairs) + timedelta(days=1)
    with server.at(now - oldest):
        for bank in load():
            _call(server, "PUT", _path(bank), {"name": bank.name})
    for bank, document in sorted(pairs, key=lambda pair: -pair[1].age):
        _store(server, bank, document, now - document.age)
    for bank in load():
        _model(server, bank, now - _FAILED_AGO)
        _directives(server, bank, now - _FAILED_AGO)
    _let_one_fail(server, now - _FAILED_AGO)
    return len(pairs)


def _store(server: DemoServer, bank: SampleBank, document: SampleDocument, moment: datetime) -> None:
    metadata = dict(document.metadata)
    if document.session:
        metadata["session_id"] = document.session
    item = {
        "content": document.text,
        "document_id": document.id,
        "timestamp": moment.isoformat(timespec="seconds"),
        "context": document.context or None,
        "tags": document.tags,
        "metadata": metadata | {"language": document.language},
    }
    with server.at(moment):
        _call(server, "POST", _path(bank, "/memories"), {"items": [item]})
    with server.at(moment + _CURATED_AFTER):
        for each in document.retire:
            body = {"state": "invalidated", "reason": each["reason"]}
            _call(server, "PATCH", _path(bank, f"/memories/{_fact(server, bank, document, each['find'])}"), body)
        for each in document.edit:
            path = _path(bank, f"/memories/{_fact(server, bank, document, each['find'])}")
            _call(server, "PATCH", path, {"text": each["text"]})


def _model(server: DemoServer, bank: SampleBank, moment: datetime) -> None:
    """Something that reads facts, so that retiring one has a consequence to be shown."""
    query = " ".join(document.text for document in bank.documents[:3])[:_QUERY]
    body = {"id": "overview", "name": f"Overview of {bank.name}", "source_query": query}
    with server.at(moment):
        _call(server, "POST", _path(bank, "/mental-models"), body)


def _directives(server: DemoServer, bank: SampleBank, moment: datetime) -> None:
    with server.at(moment):
        for body in _DIRECTIVES:
            _call(server, "POST", _path(bank, "/directives"), body)


def _let_one_fail(server: DemoServer, moment: datetime) -> None:
    """A background retain that has used up its attempts by now."""
    item = {"content": "[[FAIL]] Notes of the retrospective, second part.", "document_id": "plat-retro-part-2"}
    with server.at(moment):
        _call(server, "POST", f"{_SPACES}/platform-team/memories", {"items": [item], "async": True})
    with server.at(moment + timedelta(hours=1)):
        _call(server, "GET", "/health")


def _fact(server: DemoServer, bank: SampleBank, document: SampleDocument, part: str) -> str:
    query = urlencode({"document_id": document.id, "limit": 1000})
    rows = _call(server, "GET", _path(bank, f"/memories/list?{query}"))["items"]
    for row in rows:
        if part in row["text"]:
            return str(row["id"])
    raise SampleError(f"no fact of {document.id!r} says {part!r}")


def _path(bank: SampleBank, rest: str = "") -> str:
    return f"{_SPACES}/{quote(bank.bank_id, safe='')}{rest}"


def _call(server: DemoServer, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    raw = b"" if body is None else json.dumps(body).encode()
    status, _, answer = server.handle(method, path, {"content-type": "application/json"}, raw)
    data: dict[str, Any] = json.loads(answer)
    if status != 200:
        raise SampleError(f"{method} {path}: {status} {data.get('detail')}")
    return data
