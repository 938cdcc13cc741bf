"""The one table of keys: the hints on the buttons, the handlers and the sheet are all made from it."""

from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True)
class Key:
    """`key` as the browser names it (KeyboardEvent.key); `shown` when people say it differently."""

    action: str
    key: str
    group: str
    text: str
    glyph: str = ""
    shown: str = ""

    @property
    def single(self) -> bool:
        """A letter, digit or sign alone: it can be turned off."""
        return len(self.key) == 1

    @property
    def caps(self) -> list[str]:
        return (self.shown or self.key).split("+")


KEYS = [
    Key("next", "j", "Move", "next memory or row"),
    Key("previous", "k", "Move", "previous memory or row"),
    Key("open", "o", "Move", "open"),
    Key("select-row", "x", "Move", "select the row, or not"),
    Key("select-page", "X", "Move", "select all rows of the page, or none"),
    Key("search", "/", "Move", "search: on this page, else everywhere"),
    Key("keys", "?", "Move", "this sheet"),
    Key("leave", "Escape", "Move", "leave the field, or close", shown="Esc"),
    Key("approve", "a", "Decide", "approve", "✓"),
    Key("approve-selected", "A", "Decide", "approve the selected rows", "✓"),
    Key("edit", "e", "Decide", "edit", "✎"),
    Key("delete", "d", "Decide", "delete", "✕"),
    Key("skip", "s", "Decide", "skip: not a decision"),
    Key("undo", "u", "Decide", "take your last action back; on a row of the log, that row", "↻"),
    Key("undo-anywhere", "Control+z", "Decide", "take your last action back", "↻", shown="Ctrl+Z"),
    Key("select-fact", "1", "Facts", "select a fact, up to the ninth", shown="1+…+9"),
    Key("retire-fact", "r", "Facts", "retire the selected fact", "↓"),
    Key("restore-fact", "R", "Facts", "restore it", "↑"),
    Key("save", "Control+Enter", "Inside a field", "save", shown="Ctrl+↵"),
]

BY_ACTION = {key.action: key for key in KEYS}

SHEET = [(group, list(keys)) for group, keys in groupby(KEYS, key=lambda key: key.group)]
