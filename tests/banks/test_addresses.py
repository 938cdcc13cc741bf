"""Base URLs are compared by parsed scheme, host and port."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.addresses import Address, BadAddress, same_address


@pytest.mark.parametrize(
    ("url", "normalised"),
    [
        ("http://localhost:8888", "http://localhost:8888"),
        ("http://localhost:8888///", "http://localhost:8888"),
        ("HTTP://LOCALHOST:8888", "http://localhost:8888"),
        ("http://localhost:80", "http://localhost"),
        ("https://memory.example:443/", "https://memory.example"),
        ("http://memory.example:443", "http://memory.example:443"),
        ("http://[::1]:8888", "http://[::1]:8888"),
        ("http://[0:0:0:0:0:0:0:1]", "http://[::1]"),
        ("http://127.0.0.1:08888", "http://127.0.0.1:8888"),
        ("https://Bücher.example", "https://xn--bcher-kva.example"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ("https://proxy.example/hindsight/", "https://proxy.example/hindsight"),
        ("http://hindsight_api:8888", "http://hindsight_api:8888"),
        (" http://localhost ", "http://localhost"),
    ],
)
def test_one_address_has_one_spelling(url: str, normalised: str) -> None:
    address = Address.parse(url)
    assert address.normalised == normalised
    assert Address.parse(address.normalised) == address


@pytest.mark.parametrize("url", ["http://localhost", "http://127.0.0.1:8888", "http://127.9.9.9", "http://[::1]:8888"])
def test_loopback_is_recognised(url: str) -> None:
    assert Address.parse(url).is_loopback


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost.attacker.example",
        "http://localhost.example.net:8888",
        "http://127.0.0.1.example.net",
        "http://localhost-x:8888",
        "http://10.0.0.1",
        "http://[::2]",
        "http://notlocalhost",
    ],
)
def test_what_only_begins_like_loopback_is_another_host(url: str) -> None:
    address = Address.parse(url)
    assert not address.is_loopback
    assert not same_address(url, "http://localhost:8888")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8888",
        "ftp://localhost",
        "http://",
        "http://:8888",
        "http://localhost@evil.example",
        "http://localhost:8888@evil.example",
        "http://user:secret@localhost",
        "http://localhost\\@evil.example",
        "http://local host",
        "http://localhost\n.evil.example",
        "http://localhost?x=1",
        "http://localhost#x",
        "http://localhost:0",
        "http://localhost:65536",
        "http://localhost:８８８８",
        "http://localhost:80:80",
        "http://[::1",
        "http://[::1%25eth0]",
        "http://[::ffff:127.0.0.1%0]",
        "http://127.1",
        "http://0x7f.1",
        "http://2130706433",
        "http://1.2.3.4.5",
        "http://127.0.0.01",
        "http://ｌｏｃａｌｈｏｓｔ",
        "http://lo%63alhost",
        "http://a..b",
        "http://-a",
        "http://localhost/../x",
        "http://localhost//x/y",
        "http://localhost/%2e%2e",
        "http://" + "a" * 600,
    ],
)
def test_everything_else_is_refused_with_a_sentence(url: str) -> None:
    with pytest.raises(BadAddress) as refusal:
        Address.parse(url)
    assert str(refusal.value).endswith(".")
    assert not same_address(url, url)


def test_a_mapped_ipv4_address_is_not_taken_for_loopback() -> None:
    assert not Address.parse("http://[::ffff:7f00:1]").is_loopback


@given(st.text(max_size=60) | st.from_regex(r"https?://[^ ]{0,40}", fullmatch=True))
def test_parsing_refuses_or_is_stable(url: str) -> None:
    try:
        address = Address.parse(url)
    except BadAddress:
        return
    assert Address.parse(address.normalised) == address
