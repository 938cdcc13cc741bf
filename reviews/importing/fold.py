"""What a file says in the end. Two rules: the tool's own, to predict what it shows, and ours.

Both are pure. In both the order of the file decides, never the times in it.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from reviews.importing.events import APPROVED, BY_ITSELF, DELETED, Event


def predicted_pending(events: Iterable[Event]) -> list[Event]:
    """The adds which the tool shows as pending: keyed by the document id alone, in order of first insertion."""
    pending: dict[str, Event] = {}
    for event in events:
        if event.ev == "add":
            pending[event.document_id] = event
        else:
            pending.pop(event.document_id, None)
    return list(pending.values())


def predicted_expiry(pending: Iterable[Event], *, now: datetime, days: float) -> tuple[list[Event], list[Event]]:
    """(kept, expired) when the tool loads its queue: strictly older than the window goes; 0 and less disable."""
    if not days > 0:
        return list(pending), []
    limit = now - timedelta(days=days)
    kept: list[Event] = []
    expired: list[Event] = []
    for event in pending:
        (expired if event.at is not None and event.at < limit else kept).append(event)
    return kept, expired


def closes(event: Event) -> bool:
    """Whether a done is a verdict somebody gave. `auto` means that nobody looked, and other actions mean nothing."""
    return event.action in (APPROVED, DELETED) and event.by != BY_ITSELF


@dataclass(slots=True)
class Folded:
    """Our fold: which lines speak about which document."""

    # Per key the positions of its events, in the order of the file.
    sequences: dict[Hashable, list[int]] = field(default_factory=dict)
    # A done that fits more than one pending memory, with their keys.
    conflicts: list[tuple[int, list[Hashable]]] = field(default_factory=list)
    idle: list[int] = field(default_factory=list)  # a done for a document that was not waiting any more
    unknown: list[int] = field(default_factory=list)  # a done whose document this file never adds
    # document id → key → position of its latest add, for all that is pending; {} when nothing of it is.
    waiting: dict[str, dict[Hashable, int]] = field(default_factory=dict)


def fold(events: Sequence[Event], key_of: Callable[[Event], Hashable]) -> Folded:
    """Groups events by `key_of(add)`: server, namespace, bank and document.

    A done that names no bank belongs to the one pending memory with its document id. Which that is depends only on
    the lines before it, so that a longer copy of the file never changes what an earlier line meant.
    """
    folded = Folded()
    for position, event in enumerate(events):
        if event.ev == "add":
            key = key_of(event)
            folded.waiting.setdefault(event.document_id, {})[key] = position
            folded.sequences.setdefault(key, []).append(position)
        else:
            _fold_done(folded, events, position)
    return folded


def _fold_done(folded: Folded, events: Sequence[Event], position: int) -> None:
    event = events[position]
    pending = folded.waiting.get(event.document_id)
    if pending is None:
        folded.unknown.append(position)
        return
    fits = [key for key, add in pending.items() if _may_mean(event, events[add])]
    if not fits:
        folded.idle.append(position)
        return
    if len(fits) > 1:
        folded.conflicts.append((position, fits))
        return
    folded.sequences[fits[0]].append(position)
    if closes(event):
        del pending[fits[0]]


def _may_mean(done: Event, add: Event) -> bool:
    return done.bank in ("", add.bank) and done.base_url in ("", add.base_url) and done.namespace in ("", add.namespace)
