"""The JSON API, asked by a program with a token. Whatever goes wrong is a sentence; the token is in none of them."""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx

from memadmin import __version__
from memadmin.syncing.trouble import Trouble

PREFIX = "/api/v1"
TIMEOUT = httpx.Timeout(60, connect=10)  # seconds
PATIENCE, TRIES = 60.0, 3  # how long and how often a 429 is waited for within one turn
LONGEST_DETAIL = 500
AGAIN = "Nothing was lost: the next try goes on from here."


class BadUrl(ValueError):
    """Not the address of a memadmin."""


def base_of(url: str) -> str:
    """Raises BadUrl."""
    try:
        parsed = httpx.URL(url.strip())
    except (httpx.InvalidURL, TypeError) as error:
        raise BadUrl("That is no address. It looks like https://memadmin.example.org.") from error
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        raise BadUrl("The address begins with http:// or https://, names a host, and has no query.")
    if parsed.userinfo:
        raise BadUrl("A name or password does not belong into the address.")
    return str(parsed).rstrip("/").removesuffix(PREFIX)


class Api:
    """`token` is asked before each request, so that a new one in its file counts at once."""

    def __init__(
        self,
        base: str,
        token: Callable[[], str],
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.base, self._token, self._sleep = base, token, sleep
        # Redirects are not followed: a token goes where it was meant to, and nowhere else.
        self._client = httpx.Client(
            transport=transport, timeout=TIMEOUT, headers={"User-Agent": f"memadmin-sync/{__version__}"}
        )

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return self._ask("GET", path, query)

    def send(self, path: str, body: bytes, *, key: str, **query: Any) -> dict[str, Any]:
        headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": key}
        return self._ask("POST", path, query, content=body, headers=headers)

    def pages(self, path: str, listed: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Of a list whose `next` is null at its end."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.get(path, cursor=cursor, limit=200, **query)
            yield from page[listed]
            cursor = page["next"]

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, path: str, query: dict[str, Any], **more: Any) -> dict[str, Any]:
        for _ in range(TRIES):
            try:
                return self._once(method, path, query, **more)
            except Trouble as trouble:
                if trouble.status != 429 or not 0 < trouble.again_in <= PATIENCE:
                    raise
                self._sleep(trouble.again_in)
        return self._once(method, path, query, **more)

    def _once(self, method: str, path: str, query: dict[str, Any], **more: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._token()}", **more.pop("headers", {})}
        params = {name: value for name, value in query.items() if value != ""}
        try:
            answer = self._client.request(method, f"{self.base}{PREFIX}{path}", params=params, headers=headers, **more)
        except httpx.TransportError as error:
            raise Trouble(f"{self.base} cannot be reached ({type(error).__name__}). {AGAIN}") from error
        if answer.is_success:
            return self._said(answer)
        raise self._refusal(answer)

    def _said(self, answer: httpx.Response) -> dict[str, Any]:
        try:
            said = answer.json()
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise Trouble(f"What answers at {self.base} is not memadmin's API. Look at --url.", lasts=True)
        return said

    def _refusal(self, answer: httpx.Response) -> Trouble:
        status, detail = answer.status_code, _detail(answer)
        match status:
            case 401:
                told = "The token does not work (any more). Make one on the page API tokens, and put it into its file."
                return Trouble(told, status=status, lasts=True)
            case 403:
                told = f"The token may not do that: {detail or 'its role is too low'}"
                return Trouble(told, status=status, lasts=True)
            case 429:
                wait = _seconds(answer.headers.get("Retry-After", ""))
                told = f"Too many requests; memadmin asks to wait {wait:.0f} s. {AGAIN}"
                return Trouble(told, status=status, again_in=wait)
        if answer.is_redirect:
            told = f"{self.base} answers with a redirect, which a token does not follow. Give --url as it ends there."
            return Trouble(told, status=status, lasts=True)
        if status >= 500:
            return Trouble(f"{self.base} answers {status}. {AGAIN}", status=status)
        if names := _servers(answer):
            detail = f"{detail} Servers: {names}."
        return Trouble(f"memadmin refuses ({status}): {detail or 'without a reason'}", status=status, lasts=True)


def plain(text: str) -> str:
    """Other people's text: nothing in it may steer a terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def _member(answer: httpx.Response, name: str) -> Any:
    try:
        said = answer.json()
    except ValueError:
        return None
    return said.get(name) if isinstance(said, dict) else None


def _detail(answer: httpx.Response) -> str:
    detail = _member(answer, "detail")
    return plain(detail[:LONGEST_DETAIL]) if isinstance(detail, str) else ""


def _servers(answer: httpx.Response) -> str:
    names = _member(answer, "servers")
    return plain(", ".join(map(str, names))) if isinstance(names, list) else ""


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return PATIENCE
    return min(max(seconds, 1.0), 3600.0) if math.isfinite(seconds) else PATIENCE
