"""Signatures of Hindsight's webhooks, checked over the bytes that came. No Django in it.

V1 is `sha256=` and the HMAC of the body; it has no time. V2 is `t=<unix seconds>,v1=` and the HMAC of `<t>.` and the
body. Servers of today send both; whoever takes away the newer one must not get further by it, so a delivery with V1
alone has to prove its time by its body (banks.webhooks.receive).
"""

import hashlib
import hmac
import re
from typing import Literal

WINDOW = 300.0  # seconds between the server's clock, when it signed, and ours

_V1 = re.compile(r"sha256=([0-9a-fA-F]{64})")
_V2 = re.compile(r"t=(\d{1,12}),v1=([0-9a-fA-F]{64})")


class BadSignature(Exception):
    """str() says why, without quoting anything that came."""


def check(secret: str, raw: bytes, *, v1: str, v2: str, now: float, window: float = WINDOW) -> Literal["v1", "v2"]:
    """The newest signature that is there, when all that are there are good. `v1`, `v2`: the headers, "" = missing."""
    if not secret:
        raise BadSignature("no secret is stored")
    if v2:
        _check_v2(secret.encode(), raw, v2, now, window)
    if v1:
        found = _V1.fullmatch(v1)
        if found is None or not hmac.compare_digest(found[1].lower(), v1_of(secret, raw)):
            raise BadSignature("the signature is wrong")
    if not v1 and not v2:
        raise BadSignature("it is not signed")
    return "v2" if v2 else "v1"


def _check_v2(secret: bytes, raw: bytes, header: str, now: float, window: float) -> None:
    found = _V2.fullmatch(header)
    if found is None:
        raise BadSignature("the signature is wrong")
    # The signature first: nobody without the secret learns how our clock goes.
    if not hmac.compare_digest(found[2].lower(), _v2_hex(secret, found[1], raw)):
        raise BadSignature("the signature is wrong")
    if abs(now - int(found[1])) > window:
        raise BadSignature(f"it was signed {abs(now - int(found[1])):.0f} s away from our clock")


def v1_of(secret: str, raw: bytes) -> str:
    """Hexadecimal."""
    return hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()


def v2_of(secret: str, raw: bytes, at: int) -> str:
    """Hexadecimal, for a delivery that is signed at this Unix time."""
    return _v2_hex(secret.encode(), str(at), raw)


def _v2_hex(secret: bytes, at: str, raw: bytes) -> str:
    return hmac.new(secret, f"{at}.".encode() + raw, hashlib.sha256).hexdigest()
