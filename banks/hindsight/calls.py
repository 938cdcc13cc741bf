"""How a call is made: what is sent for it, and what becomes of its answer."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from banks.hindsight import errors, ids
from banks.hindsight.fields import ShapeError
from banks.hindsight.shapes import Page
from banks.hindsight.transport import Answer, Sender, Timeouts, Told

Parsed = TypeVar("Parsed")

PAGE = 100  # rows asked for at once where a client walks all pages; also the most that lists of operations allow


class Calls:
    """One server as seen with one key; what it is asked for stands in the classes made of this one."""

    def __init__(
        self,
        base_url: str,
        *,
        namespace: str = "default",
        api_key: str = "",
        timeouts: Timeouts = Timeouts(),  # noqa: B008  # a frozen value
        transport: httpx.BaseTransport | None = None,
        told: Told | None = None,
    ) -> None:
        self._namespace = namespace
        self._sender = Sender(base_url, api_key=api_key, timeouts=timeouts, transport=transport, told=told)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<HindsightClient {self._sender.base}>"

    def close(self) -> None:
        self._sender.close()

    @property
    def clock_ahead(self) -> float | None:
        """By how many seconds the server's clock is ahead of ours, as its latest answer said; None when it did not."""
        return self._sender.clock_ahead

    def _bank(self, bank_id: str, *rest: str) -> bytes:
        return ids.bank_path(self._namespace, bank_id, *rest)

    def _send(
        self,
        method: str,
        path: bytes,
        *,
        query: ids.Query | None = None,
        body: dict[str, Any] | None = None,
        listed: bool = False,
    ) -> Answer:
        return self._sender.send(method, path, query=query, body=body, listed=listed)

    def _get(self, path: bytes, parse: Callable[[Any], Parsed], query: ids.Query | None = None) -> Parsed:
        return self._parse(self._send("GET", path, query=query), parse, method="GET", path=path.decode("ascii"))

    def _parsed(
        self, method: str, path: bytes, parse: Callable[[Any], Parsed], *, body: dict[str, Any] | None = None
    ) -> Parsed:
        answer = self._send(method, path, body=body)
        return self._parse(answer, parse, method=method, path=path.decode("ascii"), unknown=True)

    def _parse(self, answer: Answer, parse: Callable[[Any], Parsed], **about: Any) -> Parsed:
        try:
            return parse(answer.data)
        except ShapeError as error:
            raise errors.BadAnswer(f"Not the answer of this API: {error}.", **about) from error

    def _began(self, answer: Answer, path: bytes) -> str:
        given = answer.data.get("operation_id")
        if not isinstance(given, str) or not given:
            about: dict[str, Any] = {"method": "POST", "path": path.decode("ascii")}
            raise errors.BadAnswer("The server did not say which operation it began.", unknown=True, **about)
        return given

    def _page(
        self,
        path: bytes,
        key: str,
        parse: Callable[[Any], Parsed],
        *,
        limit: int,
        offset: int,
        **filters: str | int | bool | list[str],
    ) -> Page[Parsed]:
        query: ids.Query = {name: value for name, value in filters.items() if value != ""}
        answer = self._send("GET", path, query=query | {"limit": limit, "offset": offset})
        return self._parse(
            answer,
            lambda row: Page.parse(row, key, parse, answer.ignored_params),
            method="GET",
            path=path.decode("ascii"),
        )
