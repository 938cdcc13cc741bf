"""Asking a bank's server while a page waits: within a short limit, and what goes wrong becomes words for people."""

from collections.abc import Iterator
from contextlib import contextmanager

from banks import connections
from banks.crypto import CannotDecrypt
from banks.hindsight import HindsightClient, HindsightError, NotAddressable, NotFound, Refused, Timeout, Unreachable
from banks.models import Bank, Server

CALL_SECONDS = 5.0  # of the one call that a page makes
QUICK_SECONDS = 2.0  # of each call that comes before something is stored

TITLES = {
    "refused": "The server refuses our key.",
    "silent": "The server does not answer.",
    "bank": "There is no such bank on its server any more.",
    "missing": "It is not in the bank any more.",
    "unreachable": "No call can reach it.",
    "lost": "It could not be read.",  # a 404 that does not say what is missing
    "failed": "It could not be read.",
}


class Unread(Exception):
    """Nothing is known. `face`: one of TITLES; str() says more, "" when there is no more to say."""

    def __init__(self, face: str, text: str = "") -> None:
        super().__init__(text)
        self.face, self.text = face, text

    @property
    def title(self) -> str:
        return TITLES[self.face]

    @property
    def sentence(self) -> str:
        return f"{self.title} {self.text}".strip()


@contextmanager
def reading(bank: Bank, *, within: float = CALL_SECONDS) -> Iterator[HindsightClient]:
    """A client for a page. Raises Unread instead of every error of a call.

    A server that refuses our key, or that has not answered lately, is not asked at all.
    """
    if not bank.addressable:
        raise Unread("unreachable", "Its id has a slash: servers list such banks and have no address for them.")
    if connections.paused_until(bank.server):
        refused = bank.server.health == Server.Health.REFUSED
        raise Unread("refused" if refused else "silent", "It was not asked just now.")
    try:
        with connections.talking_to(bank.server, within=within) as client:
            yield client
    except NotFound as error:
        if error.what == "bank":
            raise Unread("bank") from error
        raise Unread("lost" if error.what == "route" else "missing", str(error)) from error
    except HindsightError as error:
        raise Unread(_face(error), str(error)) from error
    except CannotDecrypt as error:
        raise Unread("failed", f"The stored key cannot be read: {error}.") from error


def _face(error: HindsightError) -> str:
    if isinstance(error, NotAddressable):
        return "unreachable"
    if isinstance(error, Refused):
        return "refused"
    return "silent" if isinstance(error, Unreachable | Timeout) else "failed"
