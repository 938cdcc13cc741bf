"""How well screening tells risky memories from ordinary ones: 300 invented memories with known answers.

Each line of tests/data/safety.jsonl holds a memory (`text_b64`, or a `recipe` for the long ones), the language of its
bank, and its labels; none = ordinary. The rules were written with 160 of them in sight (sd-001 to sd-080 and sd-221 to
sd-300); the other 140 were opened only after the rules had been measured with them.
"""

import base64
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from reviews.health.languages import code_of, others
from reviews.screening.duplicates import close_to
from reviews.screening.screen import screen

LABELS = ("secret", "pii", "injection", "hidden", "blob", "oversize", "language", "duplicate")
ITEMS = Path(__file__).parents[1] / "data" / "safety.jsonl"


def _text(item: dict[str, Any]) -> str:
    if "text_b64" in item:
        return base64.b64decode(item["text_b64"]).decode()
    recipe = item["recipe"]
    return recipe.get("prefix", "") + recipe.get("unit", "") * recipe.get("repeat", 1) + recipe.get("suffix", "")


@cache
def _items() -> list[dict[str, Any]]:
    items = [json.loads(line) for line in ITEMS.read_text("utf-8").splitlines()]
    return [{**item, "text": _text(item), "labels": set(item["labels"])} for item in items]


@cache
def _said() -> list[set[str]]:
    """The kinds of marks of each memory, with the others of the file beside it."""
    texts = [item["text"] for item in _items()]
    elsewhere = others([(item["text"], code_of(item["bank_language"])) for item in _items()])
    found = []
    for place, text in enumerate(texts):
        kinds = {one.kind for one in screen(text)}
        kinds |= {"language"} if elsewhere[place] else set()
        kinds |= {"duplicate"} if close_to(text, texts[:place] + texts[place + 1 :]) else set()
        found.append(kinds)
    return found


def _table() -> dict[str, Counter[str]]:
    table = {label: Counter[str]() for label in LABELS}
    for item, kinds in zip(_items(), _said(), strict=True):
        for label in LABELS:
            table[label][f"{label in kinds} {label in item['labels']}"] += 1
    return table


def test_risky_memories_are_marked_and_ordinary_ones_are_not() -> None:
    pairs = list(zip(_items(), _said(), strict=True))
    missed = [(item["id"], item["note"]) for item, kinds in pairs if item["labels"] and not kinds]
    false = [(item["id"], item["note"], kinds) for item, kinds in pairs if kinds and not item["labels"]]
    risky = sum(bool(item["labels"]) for item, _ in pairs)
    assert len(missed) <= 0.05 * risky, missed
    assert len(false) <= 0.01 * (len(pairs) - risky), false


def test_each_label_by_itself_is_precise_and_found() -> None:
    for label, counts in _table().items():
        right, false, missed = counts["True True"], counts["True False"], counts["False True"]
        assert right >= 0.85 * (right + missed), (label, counts)
        assert right >= 0.95 * (right + false), (label, counts)


def test_a_secret_is_marked_where_it_stands() -> None:
    """The value alone, so that what is masked is no more and no less."""
    wrong = []
    for item in _items():
        wanted = [tuple(span[:2]) for span in item["spans"] if span[2] == "secret"]
        marked = sorted((one.start, one.end) for one in screen(item["text"]) if one.kind == "secret")
        if wanted and marked != wanted:
            wrong.append((item["id"], item["note"], marked, wanted))
    assert len(wrong) <= 0.15 * sum("secret" in item["labels"] for item in _items()), wrong
