"""How long a text is for the programs that read it, and how it is cut.

Lengths are UTF-16 units, as JavaScript counts: a sign beyond the first 65,536 is two. No program finds a block longer
than the limit that it asked for.
"""

import re

ELLIPSIS = "…"
# NUL and halves of a character: no database, or no UTF-8, takes them.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def cut(text: str, most: int) -> str:
    """The text where it fits, else its beginning with … behind it. Never half a sign; "" where not even … fits."""
    if units(text) <= most:
        return text
    if most < 1:
        return ""
    return text.encode("utf-16-le")[: 2 * (most - 1)].decode("utf-16-le", "ignore").rstrip() + ELLIPSIS


def tame(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def one_line(text: str) -> str:
    return " ".join(tame(text).split())


def within(tag: str, text: str) -> str:
    """The text as it may stand between `<tag>` and `</tag>`: whatever it holds, it does not end there."""
    return re.sub(rf"<(?=\s*(?:/\s*)?{re.escape(tag)}\b)", "&lt;", tame(text), flags=re.IGNORECASE)
