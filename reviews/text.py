"""Texts on their way through a browser: a form changes every line end, and nothing but a person may change a memory."""

import re
import unicodedata
from collections import Counter

_LINE_ENDS = re.compile(r"\r\n|\r|\n")
PROJECT = 1_000, 2_000  # characters and bytes: PostgreSQL indexes no more than some 2,700 bytes of a row


def project_of(text: str) -> str:
    """As much of a project's name as an entry keeps; the imported line has all of it."""
    characters, size = PROJECT
    return text[:characters].encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


def normalise_newlines(new: str, original: str) -> str:
    """`new`, as a form sent it, with the line ends of `original`. Nothing else is touched, spaces least of all.

    Browsers send every line end of a text area as CRLF. Text that was not changed otherwise comes back byte for byte;
    in changed text the lines before and behind the change keep their own ends, and the lines of the change get the
    end the original uses most ("\\n" when it has none).
    """
    if _unified(new) == _unified(original):
        return original
    new_lines, original_lines = _unified(new).split("\n"), _unified(original).split("\n")
    ends = _LINE_ENDS.findall(original)
    usual = Counter(ends).most_common(1)[0][0] if ends else "\n"
    mixed = _joined(new_lines, _ends_for(new_lines, original_lines, ends, usual))
    # "\r" before an empty line that ends with "\n" would read as one line end.
    return mixed if _unified(mixed) == _unified(new) else _joined(new_lines, [usual] * (len(new_lines) - 1))


def _ends_for(new_lines: list[str], original_lines: list[str], ends: list[str], usual: str) -> list[str]:
    if len(new_lines) == len(original_lines):
        return ends
    wanted = len(new_lines) - 1
    front = ends[: _common(new_lines, original_lines)][:wanted]
    kept = _common(new_lines[::-1], original_lines[::-1])
    kept = min(kept, len(ends) - len(front), wanted - len(front))
    back = ends[len(ends) - kept :]
    return [*front, *[usual] * (wanted - len(front) - kept), *back]


def _unified(text: str) -> str:
    return _LINE_ENDS.sub("\n", text)


def _common(left: list[str], right: list[str]) -> int:
    """How many lines are the same from the start."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _joined(lines: list[str], ends: list[str]) -> str:
    return "".join(line + end for line, end in zip(lines, [*ends, ""], strict=True))


_SEEN = re.compile(r"[^\W_]|[^\w\s]|_")
_FILLERS = re.compile("[\u115f\u1160\u3164\uffa0\u034f\u2800]")


def has_visible_text(text: str) -> bool:
    """Whether there is anything a reader could see: white space, controls and fillers alone are an empty memory."""
    return any(
        unicodedata.category(match.group())[0] in "LNPS" and not _FILLERS.match(match.group())
        for match in _SEEN.finditer(text)
    )
