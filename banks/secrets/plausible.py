"""Whether a word could be a password or a key, and no name, path, number, placeholder or hash."""

import math
import re
from collections import Counter

_PLACEHOLDER = re.compile(
    r"^[$%{<\[(*•.…#_-]|\*{3}|\.{3}|…|x{4,}|\$\{|\{\{|%\(|<[^>]*>$|^(?:your|my|the|some|change|replace|insert|example|dummy|"
    r"none|null|true|false|undefined|redacted|masked|hidden|todo|placeholder|secret|password|token|string|str|env)"
    r"(?:[_-]?\w+)*$|EXAMPLE|REDACTED|(?:getenv|environ|process\.env|vault:|secretref|arn:)",
    re.IGNORECASE,
)
_PATH = re.compile(r"^(?:~|\.{0,2}/|[A-Za-z]:\\)|^[\w.@-]+(?:/[\w.@-]+)+/?$|^\w+(?:\.\w+)*\.[a-z]{2,5}$|://|^www\.")
_UUID = re.compile(r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", re.IGNORECASE)
_DIGEST = re.compile(
    r"^(?:(?:sha\d+|md5|blake\w*)[:=-].*|SHA256:.*|[0-9a-f]{7,12}|\$\d\w?\$.*|\$argon2\S*|pbkdf2\S*)$", re.IGNORECASE
)
_NUMBER = re.compile(r"^[vV~^]?[\d.,:/+%\u2013-]+(?:[a-z%€$£]{0,8}|rc\d|beta\d?)?$")
_PLAIN = re.compile(
    r"^[a-z]+(?:[_-][a-z]+)*(?:[_-]?v?\d{1,2})?$|^[A-Z][a-z]*-?\d{1,2}$|^[A-Za-z_-]+$|^[a-z]+(?:[._-][a-z]+)*[._-]?\d{1,4}$|^[A-Z]+(?:_[A-Z0-9]+)+$"
)
_CALL = re.compile(r"^[\w.]+\(|^[A-Z][a-z]+(?:[A-Z][a-z]+)+\d?$|^[a-z]+(?:[A-Z][a-z]+)+\d?$")


def is_placeholder(value: str) -> bool:
    return bool(_PLACEHOLDER.search(value)) or len(set(value)) < 4


def looks_secret(value: str) -> bool:
    """For a word in a sentence: strict, since most words behind "token is" are ordinary ones."""
    if not 6 <= len(value) <= 300 or _is_ordinary(value) or _PLAIN.match(value):
        return False
    kinds = _kinds(value)
    if len(value) >= 20:
        return len(kinds) >= 2 and "digit" in kinds and entropy(value) >= 3.0
    return "digit" in kinds and "letter" in kinds and (len(kinds) >= 3 or len(value) >= 10)


def may_be_secret(value: str, *, quoted: bool) -> bool:
    """For what is assigned to such a name: a weak password is one too."""
    if not 6 <= len(value) <= 300 or _is_ordinary(value):
        return False
    kinds = _kinds(value)
    if _PLAIN.match(value) and not ("digit" in kinds and quoted) and not re.search(r"[A-Za-z]\d{3,}$", value):
        return False
    return "letter" in kinds and ("digit" in kinds or len(value) >= 20) and entropy(value) >= 2.2


def entropy(value: str) -> float:
    """Bits for each character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_ordinary(value: str) -> bool:
    if (
        is_placeholder(value)
        or _UUID.match(value)
        or _DIGEST.match(value)
        or _NUMBER.match(value)
        or _CALL.match(value)
    ):
        return True
    return bool(_PATH.search(value)) and not (len(value) >= 32 and entropy(value) >= 4.2)


def _kinds(value: str) -> set[str]:
    found = set()
    for letter in value:
        if letter.isdigit():
            found.add("digit")
        elif letter.isalpha():
            found |= {"letter", "upper" if letter.isupper() else "lower"}
        else:
            found.add("sign")
    return found
