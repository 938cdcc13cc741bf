"""Signatures of webhooks: vectors of a real server, and what must not pass."""

import hashlib
import hmac

import pytest

from banks.webhooks import signing

# The format that servers were seen to send; the HMACs were made by hand, not by the code under test.
SECRET, RAW, AT = "s3cret", b'{"event":"retain.completed","data":{"document_id":"h1"}}', 1_796_004_820
V1 = "sha256=" + hmac.new(b"s3cret", RAW, hashlib.sha256).hexdigest()
V2 = f"t={AT},v1=" + hmac.new(b"s3cret", b"1796004820." + RAW, hashlib.sha256).hexdigest()


def check(v1: str = V1, v2: str = V2, *, secret: str = SECRET, raw: bytes = RAW, now: float = AT) -> str:
    return signing.check(secret, raw, v1=v1, v2=v2, now=now)


def test_both_signatures_of_a_server_are_good() -> None:
    assert check() == "v2"
    assert check(v2="") == "v1"
    assert check(v1="") == "v2"


def test_the_known_answer_of_hmac_sha256() -> None:
    """RFC 4231, test case 2: the same HMAC as everybody's."""
    assert signing.v1_of("Jefe", b"what do ya want for nothing?") == (
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"raw": RAW + b" "},
        {"secret": "s3cret "},
        {"v1": V1[:-1] + ("0" if V1[-1] != "0" else "1")},
        {"v2": V2[:-1] + ("0" if V2[-1] != "0" else "1")},
        {"v1": V1, "v2": V2.replace(f"t={AT}", f"t={AT + 1}")},
        {"v1": V1.removeprefix("sha256="), "v2": ""},
        {"v1": "sha256=", "v2": ""},
        {"v1": f"{V1}\n", "v2": ""},
        {"v1": "sha256=" + "é" * 64, "v2": ""},
        {"v1": "", "v2": f"v1={V2.partition('v1=')[2]}"},
        {"v1": "", "v2": f"t=-5,{V2.partition(',')[2]}"},
        {"v1": "", "v2": f"t={'9' * 400},{V2.partition(',')[2]}"},
        {"v1": "", "v2": f"{V2},{V2.partition(',')[2]}"},
    ],
)
def test_anything_else_is_wrong(change: dict[str, object]) -> None:
    with pytest.raises(signing.BadSignature, match="the signature is wrong"):
        check(**change)  # type: ignore[arg-type]


def test_without_a_signature_and_without_a_secret_nothing_passes() -> None:
    with pytest.raises(signing.BadSignature, match="not signed"):
        check("", "")
    empty = hmac.new(b"", RAW, hashlib.sha256).hexdigest()
    with pytest.raises(signing.BadSignature, match="no secret"):
        check(f"sha256={empty}", "", secret="")


@pytest.mark.parametrize("away", [-300, -299, 299, 300])
def test_the_window_is_inclusive(away: int) -> None:
    assert check(now=AT + away) == "v2"


@pytest.mark.parametrize("away", [-301, 301, 86_400])
def test_outside_of_the_window_it_says_how_far(away: int) -> None:
    with pytest.raises(signing.BadSignature, match=f"{abs(away)} s away"):
        check(now=AT + away)


def test_a_wrong_signature_learns_nothing_of_the_clock() -> None:
    with pytest.raises(signing.BadSignature, match="the signature is wrong"):
        check(v2=f"t={AT - 9_999},v1={'0' * 64}")
