"""Texts in another language than their bank's. Guessed by the process of `reviews.health.languages`."""

from collections.abc import Iterator, Sequence

from reviews.health.languages import TOLD, code_of, others
from reviews.screening.marks import Found


def find(texts: Sequence[tuple[str, str]]) -> Iterator[list[Found]]:
    """For each (text, language of its bank) what is to be said of it. Raises CannotTell."""
    asked = [(text, code_of(language)) for text, language in texts]
    for (_, wanted), said in zip(asked, others(asked), strict=True):
        if not said:
            yield []
            continue
        why = f"It reads like {TOLD[said]}, and the language of the bank is {TOLD[wanted]}."
        yield [Found("language", 0, 0, why, "none")]
