"""Base URLs as addresses: parsed scheme, host and port, compared whole. Never a prefix test.

`http://localhost.attacker.example` begins with `http://localhost`; its address is another one.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import Self

import idna

DEFAULT_PORTS = {"http": 80, "https": 443}
LONGEST = 500

_URL = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{0,5}))?", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")


class BadAddress(ValueError):
    """Not a base URL of a server; str() says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens. Two spellings of one address are equal."""

    scheme: str  # http or https
    host: str  # lower case, IDNA, IP addresses in their shortest form without brackets
    port: int
    path: str = ""  # a prefix behind a proxy, without a trailing slash

    @classmethod
    def parse(cls, url: str) -> Self:
        """Raises BadAddress for everything that is not plainly http(s)://host[:port][/path]."""
        text = url.strip(" ")
        if len(text) > LONGEST:
            raise BadAddress(f"A base URL has at most {LONGEST} characters.")
        if any(ord(character) <= 32 or ord(character) == 127 or character == "\\" for character in text):
            raise BadAddress("A base URL has no blanks, control characters or backslashes.")
        match = _URL.fullmatch(text)
        if match is None:
            raise BadAddress("A base URL begins with http:// or https:// and has no query.")
        host, port = _split(match["authority"])
        scheme = match["scheme"].lower()
        return cls(scheme, host, _port(port, scheme), _path(match["path"]))

    @property
    def normalised(self) -> str:
        """The address as text: default port left out, no trailing slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Whether it means the machine that reads it: localhost, 127.0.0.0/8 or ::1, nothing else."""
        if self.host == "localhost":
            return True
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError:
            return False
        # Python versions differ about ::ffff:127.0.0.1; we do not take it.
        return address.is_loopback and not (address.version == 6 and address.ipv4_mapped)

    def __str__(self) -> str:
        return self.normalised


def same_address(one: str, other: str) -> bool:
    """Whether two base URLs name one address; False when either is none."""
    try:
        return Address.parse(one) == Address.parse(other)
    except BadAddress:
        return False


def _split(authority: str) -> tuple[str, str | None]:
    if "@" in authority:
        raise BadAddress("A base URL holds no user name and no password.")
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise BadAddress("The host or the port of the base URL cannot be read.")
    return _host(match["host"]), match["port"]


def _host(text: str) -> str:
    if text.startswith("["):
        try:
            return ipaddress.IPv6Address(text[1:-1]).compressed
        except ValueError as error:
            raise BadAddress("The IPv6 address of the base URL cannot be read.") from error
    host = text.lower()
    if not host.isascii():
        try:
            host = idna.encode(host).decode("ascii")
        except idna.IDNAError as error:
            raise BadAddress("The host of the base URL is no valid name.") from error
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise BadAddress("The host of the base URL is no valid name.")
    return _ipv4(host)


def _ipv4(host: str) -> str:
    """Resolvers read `127.1`, `0x7f000001` and `2130706433` as IPv4: only the plain spelling passes."""
    last = host.rsplit(".", 1)[-1]
    if not (last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last)):
        return host
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError as error:
        raise BadAddress("An IPv4 address is four plain numbers.") from error


def _port(text: str | None, scheme: str) -> int:
    if not text:
        return DEFAULT_PORTS[scheme]
    port = int(text)
    if not 1 <= port <= 65535:
        raise BadAddress("A port is a number from 1 to 65535.")
    return port


def _path(text: str) -> str:
    path = text.rstrip("/")
    if not _PATH.fullmatch(path):
        raise BadAddress("The path of the base URL has characters we do not take for an address.")
    return path
