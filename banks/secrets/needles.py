"""What a text has to hold before a pattern is worth trying: looking for a few letters is a hundred times quicker."""

import re

_LITERAL = re.compile(r"(?:\(\?<!\[[^\]]*\]\))?((?:[A-Za-z0-9_/:@-]|\\[./-])+)(.?)")
LEAST = 3


def needle_of(pattern: re.Pattern[str]) -> str:
    """Letters that stand at the beginning of all that it matches; "" where there are none to rely on."""
    if pattern.flags & re.IGNORECASE or "|" in _outside(pattern.pattern):
        return ""
    found = _LITERAL.match(pattern.pattern)
    if found is None:
        return ""
    literal = found[1].replace("\\", "")
    literal = literal[:-1] if found[2] in {"?", "*", "+", "{"} else literal
    return literal if len(literal) >= LEAST else ""


def _outside(source: str) -> str:
    """What of a pattern is in no brackets: an alternative there begins in another way."""
    depth, kept = 0, []
    for letter in re.sub(r"\\.|\[[^\]]*\]", "", source):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            kept.append(letter)
    return "".join(kept)
