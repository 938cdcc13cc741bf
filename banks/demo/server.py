"""The demo server: one request handler that behaves like Hindsight 1.1.0 for what memadmin calls.

The contract tests run one list of expectations against it and against the real server, so that it cannot drift. It is
used as a process (`python -m banks.demo`) and, without a network, as a transport of the client.
"""

import hmac
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from banks.demo import (
    banks,
    clone,
    config,
    directives,
    documents,
    dry_run,
    entities,
    facts,
    files,
    mental_models,
    operations,
    recall,
    reflect,
    retain,
    webhooks,
)
from banks.demo.http import Pace, Problem, Request
from banks.demo.store import Store

logger = logging.getLogger(__name__)

API_VERSION = "1.1.0"
Reply = tuple[int, dict[str, str], bytes]
Handler = Callable[[Request], dict[str, Any] | list[dict[str, Any]]]


def _now() -> datetime:
    return datetime.now(UTC)


def version(request: Request) -> dict[str, Any]:
    """`demo` is the one flag that the real server does not have."""
    return {"api_version": API_VERSION, "features": {"observations": True, "store_document_text": True, "demo": True}}


def health(request: Request) -> dict[str, Any]:
    return {"status": "healthy", "database": "connected"}


@dataclass(frozen=True, slots=True)
class _Route:
    method: str
    pattern: re.Pattern[str]
    handler: Handler
    query: frozenset[str]
    open: bool = False


def _route(method: str, path: str, handler: Handler, query: str = "", *, is_open: bool = False) -> _Route:
    """`{name}` is one segment, `{name:path}` everything: matched against the decoded path, as the real server does."""
    pattern = re.sub(r"\{(\w+):path\}", r"(?P<\1>.*)", path)
    pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)
    return _Route(method, re.compile(pattern), handler, frozenset(query.split()), is_open)


_BANK = "/v1/default/banks/{bank}"
_DATES = "time_field start_date end_date"
_ROUTES = (
    _route("GET", "/version", version, is_open=True),
    _route("GET", "/health", health, is_open=True),
    _route("GET", "/health/(?:ready|live)", health, is_open=True),
    _route("GET", "/v1/default/banks", banks.list_banks, "q limit offset"),
    _route("PUT", _BANK, banks.put_bank),
    _route("PATCH", _BANK, banks.patch_bank),
    _route("DELETE", _BANK, banks.delete_bank),
    _route("GET", f"{_BANK}/export", config.export_bank),
    _route("GET", f"{_BANK}/stats", banks.stats, "refresh"),
    _route("GET", f"{_BANK}/stats/memories-timeseries", banks.timeseries, "period time_field"),
    _route("GET", f"{_BANK}/aliases", banks.list_aliases),
    _route("GET", f"{_BANK}/config", config.get_config),
    _route("PATCH", f"{_BANK}/config", config.patch_config),
    _route("POST", f"{_BANK}/memories", retain.post_memories),
    _route("POST", f"{_BANK}/memories/dry-run-extract", dry_run.post_dry_run),
    _route("POST", f"{_BANK}/memories/recall", recall.post_recall),
    _route("POST", f"{_BANK}/reflect", reflect.post_reflect),
    _route("POST", f"{_BANK}/files/retain", files.post_files),
    _route(
        "GET",
        f"{_BANK}/memories/list",
        facts.list_facts,
        f"q type state document_id entity_id consolidation_state tags tags_match limit offset {_DATES}",
    ),
    _route("GET", f"{_BANK}/memories/{{fact}}", facts.get_fact),
    _route("PATCH", f"{_BANK}/memories/{{fact}}", facts.patch_fact),
    _route("GET", f"{_BANK}/documents", documents.list_documents, f"q tags tags_match limit offset {_DATES}"),
    _route("GET", f"{_BANK}/documents/{{document:path}}/chunks", documents.list_chunks, "limit offset"),
    _route("GET", f"{_BANK}/documents/{{document:path}}/history", documents.list_history, "limit offset"),
    _route("POST", f"{_BANK}/documents/{{document:path}}/reprocess", retain.reprocess),
    _route("GET", f"{_BANK}/documents/{{document:path}}", documents.get_document),
    _route("PATCH", f"{_BANK}/documents/{{document:path}}", documents.patch_document),
    _route("DELETE", f"{_BANK}/documents/{{document:path}}", documents.delete_document),
    _route(
        "POST",
        f"{_BANK}/clone",
        clone.post_clone,
        "target_bank_id include_data include_bank_config include_history",
    ),
    _route("GET", f"{_BANK}/entities", entities.list_entities, "tags tags_match tag_groups limit offset"),
    _route("GET", f"{_BANK}/entities/{{entity}}", entities.get_entity, "tags tags_match tag_groups"),
    _route("GET", f"{_BANK}/directives", directives.list_directives, "tags tags_match active_only limit offset"),
    _route("POST", f"{_BANK}/directives", directives.create_directive),
    _route("GET", f"{_BANK}/directives/{{directive}}", directives.get_directive),
    _route("PATCH", f"{_BANK}/directives/{{directive}}", directives.patch_directive),
    _route("DELETE", f"{_BANK}/directives/{{directive}}", directives.delete_directive),
    _route("GET", f"{_BANK}/mental-models", mental_models.list_models, "detail tags tags_match limit offset"),
    _route("POST", f"{_BANK}/mental-models", mental_models.create_model),
    _route("GET", f"{_BANK}/mental-models/{{model}}", mental_models.get_model, "detail"),
    _route("PATCH", f"{_BANK}/mental-models/{{model}}", mental_models.patch_model),
    _route("DELETE", f"{_BANK}/mental-models/{{model}}", mental_models.delete_model),
    _route("GET", f"{_BANK}/mental-models/{{model}}/history", mental_models.history),
    _route("POST", f"{_BANK}/mental-models/{{model}}/refresh", mental_models.refresh_model),
    _route("POST", f"{_BANK}/mental-models/{{model}}/dry-run-refresh", mental_models.dry_run_refresh),
    _route("GET", f"{_BANK}/operations", operations.list_operations, "status type limit offset exclude_parents"),
    _route("GET", f"{_BANK}/operations/{{operation}}", operations.get_operation, "include_payload"),
    _route("DELETE", f"{_BANK}/operations/{{operation}}", operations.cancel_operation),
    _route("POST", f"{_BANK}/operations/{{operation}}/retry", operations.retry_operation),
    _route("DELETE", f"{_BANK}/operations/{{operation}}/delete", operations.delete_operation),
    _route("GET", f"{_BANK}/webhooks", webhooks.list_webhooks, "limit offset"),
    _route("POST", f"{_BANK}/webhooks", webhooks.create_webhook),
    _route("DELETE", f"{_BANK}/webhooks/{{webhook}}", webhooks.delete_webhook),
    _route("GET", f"{_BANK}/webhooks/{{webhook}}/deliveries", webhooks.list_deliveries, "limit cursor"),
)


class DemoServer:
    """A Hindsight server in one object. Safe to share between threads; requests are handled one after another.

    state_file: where the banks are kept, None for memory. clock: what time it is, aware. pace: how fast background work
    goes. api_key: when given, every call but health and version needs it. parsers: converters of files, () for none.
    """

    def __init__(
        self,
        state_file: Path | None = None,
        *,
        clock: Callable[[], datetime] = _now,
        pace: Pace = Pace(),  # noqa: B008  # a frozen value
        api_key: str = "",
        parsers: tuple[str, ...] = (files.PARSER,),
    ) -> None:
        self._store = Store(state_file)
        self._clock, self._pace, self._api_key, self._parsers = clock, pace, api_key, parsers
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            self._store.close()

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> Reply:
        """One HTTP exchange. `target`: raw path with query as sent; header names in any case. Never raises."""
        with self._lock:
            request = self._request(method, target, headers, body)
            self._store.begin()
            try:
                status, data = self._answer(request)
            except Exception:  # a server answers, whatever it was sent
                logger.exception("the demo server failed")
                self._store.rollback()
                return _reply(500, {"detail": "Internal Server Error"}, [])
            self._store.commit()
            return _reply(status, data, request.ignored if status < 300 else [])

    @property
    def is_filled(self) -> bool:
        """Whether the sample memories were put in once; deleting them later does not bring them back."""
        with self._lock:
            return self._store.row("SELECT 1 FROM notes WHERE key = 'filled'") is not None

    def mark_filled(self) -> None:
        with self._lock:
            self._store.insert("notes", {"key": "filled", "value": "yes"}, replace=True)

    @contextmanager
    def at(self, moment: datetime) -> Iterator[None]:
        """Let the clock stand at this moment: for filling the server with a past."""
        with self._lock:
            clock, self._clock = self._clock, lambda: moment
            try:
                yield
            finally:
                self._clock = clock

    def settle(self) -> None:
        """Finish all background work now, waiting for nothing: retries too."""
        with self._lock:
            request = self._request("GET", "/", {}, b"")
            self._store.begin()
            while due := operations.last_due(request):
                request.now = max(due, request.now)
                operations.catch_up(request)
            self._store.commit()

    def deliver(self, send: Callable[[str, dict[str, str], bytes], int]) -> int:
        """Call the webhooks for what has happened. `send(url, headers, body)`: the status, 0 when nobody answers.

        Returns how many calls were made. Other requests are handled meanwhile.
        """
        with self._working() as request:
            operations.catch_up(request)
            calls = webhooks.due(request)
        for call in calls:
            status = send(call.url, call.headers, call.body)
            with self._working() as request:
                webhooks.settle(request, call.delivery, status)
        return len(calls)

    @contextmanager
    def _working(self) -> Iterator[Request]:
        with self._lock:
            self._store.begin()
            try:
                yield self._request("GET", "/", {}, b"")
            except BaseException:
                self._store.rollback()
                raise
            self._store.commit()

    def _request(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Request:
        path, _, query = target.partition("?")
        return Request(
            method=method,
            path=unquote(path),
            query=parse_qs(query, keep_blank_values=True),
            headers={name.lower(): value for name, value in headers.items()},
            raw=body,
            store=self._store,
            now=self._clock(),
            pace=self._pace,
            parsers=self._parsers,
        )

    def _answer(self, request: Request) -> tuple[int, dict[str, Any] | list[dict[str, Any]]]:
        operations.catch_up(request)
        self._store.commit()  # what was due has happened, whatever becomes of this request
        self._store.begin()
        try:
            data = self._dispatch(request)
            return request.status, data
        except Problem as problem:
            self._store.rollback()
            self._store.begin()
            return problem.status, {"detail": problem.detail}

    def _dispatch(self, request: Request) -> dict[str, Any] | list[dict[str, Any]]:
        if "\0" in request.path:
            raise Problem(500, 'invalid byte sequence for encoding "UTF8": 0x00')
        matches = [(route, found) for route in _ROUTES if (found := route.pattern.fullmatch(request.path))]
        if not matches:
            raise Problem(404, "Not Found")
        for route, found in matches:
            if route.method == request.method:
                if not route.open:
                    self._check_key(request)
                request.args = found.groupdict()
                request.ignored = sorted(set(request.query) - route.query)
                return route.handler(request)
        raise Problem(405, "Method Not Allowed")

    def _check_key(self, request: Request) -> None:
        if not self._api_key:
            return
        given = re.sub(r"(?i)^bearer\s+", "", request.headers.get("authorization", ""))
        if not hmac.compare_digest(given.encode(), self._api_key.encode()):
            raise Problem(401, "Authentication failed: Invalid API key")


def _reply(status: int, data: dict[str, Any] | list[dict[str, Any]], ignored: list[str]) -> Reply:
    raw = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
    headers = {"content-type": "application/json", "content-length": str(len(raw))}
    if ignored:
        headers["x-ignored-params"] = ",".join(ignored)
    return status, headers, raw
