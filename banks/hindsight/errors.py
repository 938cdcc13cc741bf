"""Everything that can go wrong with a call, by what the caller can do about it.

    HindsightError
    ├── NotAddressable    the id was refused before any call: nothing was sent
    ├── Unreachable       no connection was made: nothing was done, try again later
    ├── Timeout           no answer in time: a write may or may not have happened
    ├── ConnectionLost    the connection broke after sending: a write may or may not have happened
    ├── Refused           401, 403: the key is wrong or may not do this
    ├── NotFound          404: `what` says which thing is missing
    ├── Conflict          409: the server's state does not allow it
    ├── Invalid           400, 422 and the other 4xx: the same request will fail again
    ├── Busy              408, 425, 429, 503: later, after `retry_after` seconds when the server says so
    ├── ServerFault       the other 5xx: a write may or may not have happened
    └── BadAnswer         an answer that is not from this API: HTML, not JSON, another id than asked, a redirect
        └── Retired       410: this server has removed the endpoint

`permanent` means that the same call will fail the same way, so nobody should repeat it by itself. `outcome_unknown`
means that the call may have changed the bank, so somebody has to read back before it is repeated or given up.
"""

import re
from typing import Literal

from memadmin.retention import head_of

What = Literal["bank", "document", "fact", "operation", "entity", "directive", "model", "route"]

_UNPRINTABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_LONGEST_DETAIL = 300
_LONGEST_PATH = 160


class HindsightError(Exception):
    """One failed call. `str()` is a single readable line that never holds the key or a request body.

    method, path: as sent, without scheme and host ("" when nothing was built); status: HTTP status or None;
    detail: the server's words or ours, one line, bounded; took: seconds.
    """

    permanent: bool = False
    _sent: bool = False  # whether this kind of failure comes after the request may have been carried out

    def __init__(
        self, detail: str, *, method: str = "", path: str = "", status: int | None = None, took: float = 0.0
    ) -> None:
        self.detail = one_line(detail, _LONGEST_DETAIL) or "no details given"
        self.method, self.path, self.status, self.took = method, path, status, took
        self.outcome_unknown: bool = self._sent and self.is_write
        super().__init__(self.detail)

    def __str__(self) -> str:
        parts = [type(self).__name__]
        if self.status is not None:
            parts.append(f"HTTP {self.status}")
        line = f"{' '.join(parts)}: {self.detail}"
        if self.method:
            line += f" ({self.method} {one_line(self.path, _LONGEST_PATH)}, {self.took:.1f} s)"
        return line

    @property
    def is_write(self) -> bool:
        return self.method not in {"", "GET", "HEAD"}


class NotAddressable(HindsightError):
    """The id cannot be put into a URL of this API without reaching another thing."""

    permanent = True


class Unreachable(HindsightError):
    """No connection: name not resolved, refused, TLS failed, or no free connection in time."""


class Timeout(HindsightError):
    """The server did not answer in time."""

    _sent = True


class ConnectionLost(HindsightError):
    """The request was sent, or partly sent, and the connection broke before the whole answer came."""

    _sent = True


class Refused(HindsightError):
    """The server refuses the key."""

    permanent = True


class NotFound(HindsightError):
    """The server says that something does not exist; `what` is read from its words.

    "route" is an answer without such words (a proxy's page, or a path the server does not know). It proves nothing
    about the thing that was asked for.
    """

    permanent = True

    def __init__(
        self,
        detail: str,
        *,
        what: What = "route",
        method: str = "",
        path: str = "",
        status: int | None = 404,
        took: float = 0.0,
    ) -> None:
        super().__init__(detail, method=method, path=path, status=status, took=took)
        self.what: What = what


class Conflict(HindsightError):
    permanent = True


class Invalid(HindsightError):
    permanent = True


class Busy(HindsightError):
    """The server asks to come back later; `retry_after` is in seconds, None when it names no time."""

    def __init__(
        self,
        detail: str,
        *,
        retry_after: float | None = None,
        method: str = "",
        path: str = "",
        status: int | None = 503,
        took: float = 0.0,
    ) -> None:
        super().__init__(detail, method=method, path=path, status=status, took=took)
        self.retry_after = retry_after


class ServerFault(HindsightError):
    """A fault inside the server. Its words can hold database messages: they are cut, and still foreign text."""

    _sent = True


class BadAnswer(HindsightError):
    """An answer that cannot be understood. `unknown=True` when a write may have been carried out all the same."""

    permanent = True

    def __init__(
        self,
        detail: str,
        *,
        unknown: bool = False,
        method: str = "",
        path: str = "",
        status: int | None = None,
        took: float = 0.0,
    ) -> None:
        super().__init__(detail, method=method, path=path, status=status, took=took)
        self.outcome_unknown = unknown and self.is_write


class Retired(BadAnswer):
    """410: the endpoint existed in an older version of the server."""


def one_line(text: str, longest: int) -> str:
    """Foreign text as one line of visible characters, cut with an ellipsis."""
    # A server may echo megabytes of what it was sent; no more is looked at than could be shown.
    kept = head_of(text, 8 * longest)
    line = _UNPRINTABLE.sub(" ", kept.text).strip()
    if len(line) <= longest and not kept.truncated:
        return line
    return f"{line[: longest - 1].rstrip()}…"


def what_is_missing(detail: str) -> What:
    """Which thing a 404 speaks of, from the server's own words."""
    for what, pattern in _MISSING:
        if pattern.match(detail):
            return what
    return "route"


_MISSING: tuple[tuple[What, re.Pattern[str]], ...] = (
    ("bank", re.compile(r"Bank '.*' not found", re.DOTALL)),
    ("document", re.compile(r"Document (?:'.*' )?not found", re.DOTALL)),
    ("fact", re.compile(r"Memory(?: unit)? (?:'.*' )?not found", re.DOTALL)),
    ("operation", re.compile(r"Operation .*not found", re.DOTALL)),
    ("entity", re.compile(r"Entity .*not found", re.DOTALL)),
    ("directive", re.compile(r"Directive '.*' not found", re.DOTALL)),
    ("model", re.compile(r"Mental model .*not found", re.DOTALL)),
)
