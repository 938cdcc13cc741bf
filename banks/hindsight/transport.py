"""Sending one request: limits, redirects, and turning what comes back into JSON or one of our errors.

Never logs a key, a body or an id. Knows nothing of banks and documents.
"""

import functools
import json
import logging
import math
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO

import httpx

from banks.hindsight import errors
from banks.hindsight.ids import Query, url_of

logger = logging.getLogger(__name__)

LARGEST_ANSWER = 64 * 1024 * 1024  # bytes, after decompression
MOST_REDIRECTS = 3
LIMITS = httpx.Limits(max_connections=20, max_keepalive_connections=5, keepalive_expiry=15.0)

_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_PLAIN_KEY = re.compile(r"[\x21-\x7e]*")


# How long an answer took in seconds, and "ok" or the name of the error.
Told = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """In seconds. `connect`: until connected; `read`: between two pieces of the answer; `total`: the whole answer."""

    connect: float = 5.0
    read: float = 30.0
    total: float = 120.0

    def as_httpx(self) -> httpx.Timeout:
        return httpx.Timeout(connect=self.connect, read=self.read, write=self.read, pool=self.connect)


@dataclass(frozen=True, slots=True)
class Form:
    """multipart/form-data. `files`: (field, (name, stream)) in their order."""

    fields: dict[str, str]
    files: list[tuple[str, tuple[str, BinaryIO]]]


@dataclass(frozen=True, slots=True)
class Answer:
    """A 2xx answer. `data` is parsed JSON."""

    data: dict[str, Any]
    ignored_params: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Call:
    """What is being asked, for the errors."""

    method: str
    path: str
    began: float

    def about(self) -> dict[str, Any]:
        return {"method": self.method, "path": self.path, "took": time.monotonic() - self.began}


class Sender:
    """One server's HTTP connection. Safe to share between threads."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str = "",
        timeouts: Timeouts,
        transport: httpx.BaseTransport | None = None,
        told: Told | None = None,
    ) -> None:
        """`told`: hears of each answer, and of each that did not come."""
        self.base = _base(base_url)
        self._key = _checked_key(api_key)
        self._timeouts = timeouts
        self._told = told or _nobody
        self.clock_ahead: float | None = None  # seconds the server's clock was ahead of ours at its latest answer
        self._http = httpx.Client(
            transport=transport,
            verify=_tls(),
            timeout=timeouts.as_httpx(),
            limits=LIMITS,
            follow_redirects=False,  # followed below, never away from this server
            trust_env=not _LOOPBACK.fullmatch(self.base.host),  # a proxy has no business between us and ourselves
            headers={"accept": "application/json", "user-agent": "memadmin"},
        )

    def close(self) -> None:
        self._http.close()

    def send(
        self,
        method: str,
        path: bytes,
        *,
        query: Query | None = None,
        body: dict[str, Any] | None = None,
        form: Form | None = None,
        listed: bool = False,
    ) -> Answer:
        """The answer, or one of the errors of `errors`. `form`: instead of a body, and read in pieces.

        `listed`: the answer may be a bare list, which becomes the `items` of an object.
        """
        url = url_of(self.base, path, query)
        content = form if body is None else encode(body)
        call = _Call(method, url.raw_path.decode("ascii"), time.monotonic())
        try:
            answer = self._follow(call, url, content, listed)
        except errors.HindsightError as error:
            self._told(error.took, type(error).__name__)
            raise
        self._told(time.monotonic() - call.began, "ok")
        return answer

    def _follow(self, call: _Call, url: httpx.URL, content: bytes | Form | None, listed: bool) -> Answer:
        for _ in range(MOST_REDIRECTS + 1):
            status, headers, raw = self._exchange(call, url, content)
            if not 300 <= status < 400:
                return self._understand(call, status, headers, raw, listed)
            url = self._redirected(call, url, status, headers)
        raise errors.BadAnswer("The server keeps redirecting.", **call.about())

    def _exchange(self, call: _Call, url: httpx.URL, content: bytes | Form | None) -> tuple[int, httpx.Headers, bytes]:
        headers = {"content-type": "application/json"} if isinstance(content, bytes) else {}
        sent: dict[str, Any] = {"data": content.fields, "files": content.files} if isinstance(content, Form) else {}
        if isinstance(content, bytes):
            sent["content"] = content
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            with self._http.stream(call.method, url, headers=headers, **sent) as response:
                self.clock_ahead = _ahead(response.headers.get("date", ""))
                return response.status_code, response.headers, self._read(call, response)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
            raise errors.Unreachable(_words(error), **call.about()) from error
        except httpx.TimeoutException as error:
            raise errors.Timeout(f"No answer in time ({type(error).__name__}).", **call.about()) from error
        except httpx.DecodingError as error:
            detail = "The answer is not encoded as it says."
            raise errors.BadAnswer(detail, unknown=True, **call.about()) from error
        except httpx.LocalProtocolError as error:  # its words can quote a header
            raise errors.Unreachable(f"Not sent ({type(error).__name__}).", **call.about()) from None
        except httpx.TransportError as error:
            raise errors.ConnectionLost(_words(error), **call.about()) from error

    def _read(self, call: _Call, response: httpx.Response) -> bytes:
        """The body, with a cap on its size and on the time for all of it."""
        parts, size = [], 0
        for part in response.iter_bytes():
            size += len(part)
            if size > LARGEST_ANSWER:
                detail = f"The answer is larger than {LARGEST_ANSWER // 1024**2} MB."
                raise errors.BadAnswer(detail, unknown=True, status=response.status_code, **call.about())
            if time.monotonic() - call.began > self._timeouts.total:
                raise errors.Timeout("The answer came too slowly.", **call.about())
            parts.append(part)
        return b"".join(parts)

    def _redirected(self, call: _Call, url: httpx.URL, status: int, headers: httpx.Headers) -> httpx.URL:
        """Where a read may go on. A write is never repeated elsewhere, and nothing leaves the server that was asked."""
        about = call.about() | {"status": status}
        try:
            target = url.join(headers.get("location", ""))
        except (httpx.InvalidURL, UnicodeError) as error:
            raise errors.BadAnswer("A redirect to nowhere.", **about) from error
        if not headers.get("location") or status == 304:
            raise errors.BadAnswer("A redirect to nowhere.", **about)
        if _origin(target) != _origin(self.base):
            raise errors.BadAnswer("A redirect to another server; it was not followed.", **about)
        if call.method != "GET":
            raise errors.BadAnswer("A redirect of a write; it was not followed.", **about)
        return target

    def _understand(self, call: _Call, status: int, headers: httpx.Headers, raw: bytes, listed: bool) -> Answer:
        about = call.about() | {"status": status}
        if not 200 <= status < 300:
            raise self._error(status, headers, raw, about)
        data = _json(headers, raw)
        if listed and isinstance(data, list):
            data = {"items": data}
        if not isinstance(data, dict):
            raise errors.BadAnswer(f"Expected a JSON object, got {_kind(headers, raw)}.", unknown=True, **about)
        ignored = tuple(name.strip() for name in headers.get("x-ignored-params", "").split(",") if name.strip())
        if ignored:
            names = [errors.one_line(name, 60) for name in ignored]
            logger.warning("the server ignored parameters of a %s: %s", call.method, ", ".join(names))
        return Answer(data, ignored)

    def _error(self, status: int, headers: httpx.Headers, raw: bytes, about: dict[str, Any]) -> errors.HindsightError:
        detail = self._detail(headers, raw)
        match status:
            case 401 | 403:
                return errors.Refused(detail, **about)
            case 404:
                return errors.NotFound(detail, what=errors.what_is_missing(detail), **about)
            case 409:
                return errors.Conflict(detail, **about)
            case 410:
                return errors.Retired(detail, **about)
            case 408 | 425 | 429 | 503:
                return errors.Busy(detail, retry_after=_retry_after(headers), **about)
        if 400 <= status < 500:
            return errors.Invalid(detail, **about)
        if status >= 500:
            return errors.ServerFault(detail, **about)
        return errors.BadAnswer(detail, unknown=True, **about)

    def _detail(self, headers: httpx.Headers, raw: bytes) -> str:
        data = _json(headers, raw)
        detail = data.get("detail") if isinstance(data, dict) else None
        if isinstance(detail, list):
            detail = "; ".join(_problem(each) for each in detail[:5])
        if not isinstance(detail, str) or not detail.strip():
            detail = f"The answer is {_kind(headers, raw)}."
        return detail.replace(self._key, "…") if self._key else detail


def _nobody(seconds: float, outcome: str) -> None:
    """Nobody asked to be told."""


def _ahead(date: str) -> float | None:
    """To the second, and late by the time the answer travelled; None when the server does not say."""
    try:
        return parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None


def encode(body: dict[str, Any]) -> bytes:
    """JSON as UTF-8; half characters (lone surrogates) become U+FFFD, since UTF-8 has no bytes for them."""
    return _SURROGATE.sub("\ufffd", json.dumps(body, ensure_ascii=False, allow_nan=False)).encode()


@functools.cache
def _tls() -> ssl.SSLContext:
    """One for all clients of this process: reading the certificates takes longer than most calls."""
    return httpx.create_ssl_context()


def _base(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ValueError(f"Not a URL: {error}") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("A server address starts with http:// or https:// and names a host.")
    if url.userinfo or url.query or url.fragment:
        raise ValueError("A server address holds no user, query or fragment.")
    return url


def _checked_key(key: str) -> str:
    if not _PLAIN_KEY.fullmatch(key):
        raise ValueError("The key holds characters that cannot be sent in a header.")
    return key


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme, 0)


def _words(error: httpx.HTTPError) -> str:
    return str(error).strip() or f"The connection failed ({type(error).__name__})."


def _json(headers: httpx.Headers, raw: bytes) -> Any:
    """Parsed JSON, or None for anything that does not say it is JSON or is not."""
    if "json" not in headers.get("content-type", "").lower():
        return None
    try:
        data = json.loads(raw, parse_float=_finite, parse_constant=lambda name: None)
        # Only an escape can bring what cannot be stored.
        return _storable(data) if b"\\u" in raw else data
    except (ValueError, RecursionError):
        return None


def _storable(data: Any) -> Any:
    """The same without NUL and half characters, which PostgreSQL cannot hold, neither as text nor in JSON."""
    if isinstance(data, str):
        return _UNSTORABLE.sub("\ufffd", data)
    if isinstance(data, list):
        return [_storable(each) for each in data]
    if isinstance(data, dict):
        return {_storable(key): _storable(value) for key, value in data.items()}
    return data


def _finite(text: str) -> float | None:
    """JSON has no infinity: our database would refuse it."""
    return number if math.isfinite(number := float(text)) else None


def _kind(headers: httpx.Headers, raw: bytes) -> str:
    """What an answer is, without quoting it."""
    if not raw:
        return "empty"
    name = headers.get("content-type", "").split(";")[0].strip().lower()
    if "html" in name:
        return "a web page, not from this API"
    return "JSON of another shape" if _json(headers, raw) is not None else "not JSON"


def _problem(each: Any) -> str:
    """One entry of a validation error: where and why, never the rejected input."""
    if not isinstance(each, dict):
        return str(each)
    place = each.get("loc")
    where = ".".join(str(part) for part in place) if isinstance(place, list) else ""
    return f"{where}: {each.get('msg', 'not valid')}" if where else str(each.get("msg", "not valid"))


def _retry_after(headers: httpx.Headers) -> float | None:
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds <= 86_400 else None
