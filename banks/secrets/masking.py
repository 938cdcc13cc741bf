"""Texts on their way to a page or a file: without the values of secrets in them."""

import re
from collections.abc import Sequence

from banks.secrets import Secret, find

_INK = re.compile(r"\S")


def masked(text: str) -> str:
    """An asterisk for each character of a secret, so that every other place in the text stays where it was."""
    at, pieces = 0, []
    for secret in find(text):
        pieces += [text[at : secret.start], _INK.sub("*", text[secret.start : secret.end])]
        at = secret.end
    return "".join([*pieces, text[at:]]) if pieces else text


def numbered(*texts: str) -> list[str]:
    """A name for each secret, the same for the same value in all of the texts: differences stay differences."""
    found = [find(text) for text in texts]
    names = _names(texts, found)
    return [_replaced(text, secrets, names) for text, secrets in zip(texts, found, strict=True)]


def restored(text: str, original: str) -> str:
    """`text`, which was made from `numbered(original)`, with the values that are still in it."""
    values = {name: value for value, name in _names([original], [find(original)]).items()}
    if not values:
        return text
    return re.compile("|".join(map(re.escape, values))).sub(lambda match: values[match.group()], text)


def _names(texts: Sequence[str], found: Sequence[Sequence[Secret]]) -> dict[str, str]:
    """{value: name}; no name occurs in a text by itself."""
    names: dict[str, str] = {}
    number = 0
    for text, secrets in zip(texts, found, strict=True):
        for secret in secrets:
            value = text[secret.start : secret.end]
            if value in names:
                continue
            name = ""
            while not name or any(name in each for each in texts):
                number += 1
                name = f"⟦{secret.what}, hidden {number}⟧"
            names[value] = name
    return names


def _replaced(text: str, secrets: Sequence[Secret], names: dict[str, str]) -> str:
    at, pieces = 0, []
    for secret in secrets:
        pieces += [text[at : secret.start], names[text[secret.start : secret.end]]]
        at = secret.end
    return "".join([*pieces, text[at:]])
