"""POSTs to addresses that people typed in: only to the public network, to what the name meant when we connected.

A name may be checked and then mean another machine a second later, so the address that was checked is the one that is
connected to. No redirect is followed, no proxy is asked, and of the answer only its status is read.
"""

import contextlib
import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Timer
from urllib.parse import urlsplit

from django.conf import settings

PATIENCE = 10.0  # seconds for each step: connecting, sending, the first line of the answer
# For all steps together: who answers a byte now and then is never late for the next one, and would hold a worker.
IN_ALL = 30.0
ADDRESSES = 4  # of one name that are tried
LONGEST_URL = 500

LATE = "No answer came in time."

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
# IPv6 addresses in which an IPv4 address travels: what counts is that one.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Blocked(Exception):
    """Nothing was sent, and nothing will be: the address is none that we call. str() is for people."""


class NotSent(Exception):
    """No answer came. str() says how, without the words of others."""


@dataclass(frozen=True)
class Target:
    """Where a URL leads. `path` with its query, as it is sent."""

    scheme: str
    host: str
    port: int
    path: str


def target_of(url: str) -> Target:
    """Raises Blocked for everything that is not plainly http(s)://host[:port][/path][?query]."""
    if len(url) > LONGEST_URL or not url.isascii() or any(ord(character) <= 32 for character in url) or "\\" in url:
        raise Blocked("An address has at most 500 characters of the ASCII table, and no blanks.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise Blocked("The address cannot be read.") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise Blocked("An address begins with http:// or https:// and names a host.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Blocked("An address holds no user, password or fragment.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port or {"http": 80, "https": 443}[parts.scheme], path)


def is_public(text: str) -> bool:
    """Whether an IP address is one of the public network."""
    try:
        address = _inner(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved and not address.is_unspecified


def _inner(address: IpAddress) -> IpAddress:
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        teredo = address.teredo
        return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None) or address
    return address


def addresses_of(target: Target) -> list[str]:
    """What the name means now. Raises Blocked when any of it is not public, unless the operator allows the host."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotSent("The name of the host is not known.") from error
    addresses = list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
    _check(target, addresses)
    return addresses


def check_literal(target: Target) -> None:
    """What is no name but an address can be judged at once. Raises Blocked."""
    try:
        ipaddress.ip_address(target.host)
    except ValueError:
        return
    _check(target, [target.host])


def _check(target: Target, addresses: list[str]) -> None:
    allowed = target.host.lower() in {host.lower() for host in settings.OUTGOING_HOSTS}
    if not allowed and not all(is_public(address) for address in addresses):
        raise Blocked(
            "The host is on this machine or in a private network. The operator can allow it by MEMADMIN_OUTGOING_HOSTS."
        )


class _Connection(http.client.HTTPConnection):
    """Connects to an address that was checked, and to no other."""

    def __init__(self, target: Target) -> None:
        super().__init__(target.host, target.port, timeout=PATIENCE)
        self._target = target

    def connect(self) -> None:
        trouble: OSError | None = None
        for address in addresses_of(self._target)[:ADDRESSES]:
            try:
                self.sock = socket.create_connection((address, self._target.port), PATIENCE / ADDRESSES)
                self.sock.settimeout(PATIENCE)
                break
            except OSError as error:
                trouble = error
        else:
            raise trouble or OSError("no address")
        if self._target.scheme == "https":
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self._target.host)


class _Deadline:
    """Shuts the connection when its time is over, whatever it is waiting for."""

    def __init__(self, connection: _Connection) -> None:
        self.over = False
        self._connection = connection
        self._timer = Timer(IN_ALL, self._end)
        self._timer.daemon = True

    def __enter__(self) -> "_Deadline":
        self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self.over = True
        if (sock := self._connection.sock) is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # beneath TLS, which would first say goodbye


def post(url: str, *, headers: Mapping[str, str], body: bytes) -> tuple[int, float]:
    """(status, seconds it took). Raises Blocked and NotSent."""
    target = target_of(url)
    connection, began = _Connection(target), time.monotonic()
    deadline = _Deadline(connection)
    try:
        with deadline:
            connection.request("POST", target.path, body, dict(headers))
            return connection.getresponse().status, time.monotonic() - began
    except TimeoutError as error:
        raise NotSent(LATE) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        if deadline.over:
            raise NotSent(LATE) from error
        if isinstance(error, ssl.SSLError):
            raise NotSent("No TLS connection that we trust came about.") from error
        raise NotSent(f"The connection failed ({type(error).__name__}).") from error
    finally:
        connection.close()
