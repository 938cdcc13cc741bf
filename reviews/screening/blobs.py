"""Content that nobody can read, and texts that are too long to be read."""

import re
from collections.abc import Iterator

from reviews.screening.marks import Found

RUN = 160  # characters of base64 or hex
LINE = 300  # of code or data in one line
LONG = 20_000  # characters of a text
CONTROLS = 4

_RUN = re.compile(rf"[A-Za-z0-9+/_=-]{{{RUN},}}")
# The same in lines of an equal length, as mail and certificates wrap it.
_WRAPPED = re.compile(
    r"(?:^[ \t>]*[A-Za-z0-9+/_-]{40,100}={0,2}[ \t]*\r?\n){2,}^[ \t>]*[A-Za-z0-9+/_-]{1,100}={0,2}", re.MULTILINE
)
_CERTIFICATE = re.compile(r"-----BEGIN (?![A-Z ]*PRIVATE)[A-Z0-9 ]+-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|\Z)")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd]")
_LINES = re.compile(rf"[^\n\r]{{{LINE},}}")
_HEX_ESCAPES = re.compile(
    r"(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}){40,}|(?:(?:0x)?[0-9a-fA-F]{2}[ :,]+){64,}"
)
_ADDRESS = re.compile(r"https?://[^\s)>\"']+")
_SIGNS = re.compile(r"[{}()\[\];:,=<>+*/&|!?.\"'#$\\-]")


def find(text: str) -> Iterator[Found]:
    for start, end, why in _joined(sorted(_found(text))):
        yield Found("blob", start, end, why)


def size(text: str) -> Iterator[Found]:
    if len(text) > LONG:
        yield Found("oversize", 0, 0, f"{len(text):,} characters: more than a person reads before deciding.")


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _CERTIFICATE.finditer(text):
        yield *match.span(), "A certificate or key block."
    for match in _RUN.finditer(text):
        if _is_coded(match.group()):
            yield *match.span(), f"{len(match.group()):,} characters of base64 or hex without a break."
    for match in _WRAPPED.finditer(text):
        joined = "".join(match.group().split())
        if len(joined) >= RUN and _is_coded(joined):
            yield *match.span(), f"{len(joined):,} characters of base64 in lines."
    for match in _HEX_ESCAPES.finditer(text):
        yield *match.span(), "Bytes written as numbers."
    for match in _LINES.finditer(text):
        if _is_dense(match.group()):
            yield *match.span(), f"One line of {len(match.group()):,} characters of code or data."
    controls = [match.start() for match in _CONTROL.finditer(text)]
    if len(controls) >= CONTROLS and len(controls) * 100 >= len(text):
        yield controls[0], controls[-1] + 1, f"{len(controls):,} control or replacement characters: remains of a file."


def _is_coded(run: str) -> bool:
    """No rule under a heading, no chain of words: letters of both sizes and digits, or hex."""
    if len(set(run)) < 12 or max(map(len, re.findall(r"(.)\1*", run)), default=0) < 1:
        return False
    digits = sum(letter.isdigit() for letter in run)
    if re.fullmatch(r"[0-9a-fA-F=-]+", run):
        return digits > 0
    longest = max(len(word) for word in re.split(r"[-_/]", run))
    return digits * 40 >= len(run) and (
        longest >= 40 or run.count("/") + run.count("-") + run.count("_") < len(run) // 12
    )


def _is_dense(line: str) -> bool:
    """Few spaces and many signs: what programs write for programs."""
    line = _ADDRESS.sub("", line)
    if len(line) < LINE // 2:
        return False
    ascii_share = sum(letter.isascii() for letter in line) / len(line)
    spaces, signs = line.count(" ") + line.count("\t"), len(_SIGNS.findall(line))
    return ascii_share > 0.8 and spaces * 14 < len(line) and signs * 12 > len(line)


def _joined(found: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    held: tuple[int, int, str] | None = None
    for start, end, why in found:
        if held and start < held[1]:
            held = held[0], max(end, held[1]), held[2]
            continue
        if held:
            yield held
        held = start, end, why
    if held:
        yield held
