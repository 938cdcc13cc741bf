"""Reads a whole file once and sorts its lines by the document they speak about. Writes nothing."""

import bisect
import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from banks.models import Bank, Server, Write
from memadmin.accounts.models import User
from memadmin.jsonlines import Skipped, read_lines
from reviews.importing.events import Event, Identities, Same
from reviews.importing.fold import Folded, fold, predicted_pending
from reviews.importing.lines import LONGEST_LINE, parse
from reviews.importing.lookups import entries_of_source
from reviews.importing.placing import Place
from reviews.importing.replay import ALREADY, Item
from reviews.models import ReviewEntry, SourceFile

FITS_SEVERAL = "It closes one of several waiting memories with this document id: a person must say which."
NEVER_ADDED = "nothing with this document id was waiting"


class SkippedLine(NamedTuple):
    number: int
    offset: int
    size: int
    reason: str


@dataclass(slots=True)
class Reading:
    """What a file holds, in its order."""

    items: list[Item] = field(default_factory=list)
    skipped: list[SkippedLine] = field(default_factory=list)
    blank: int = 0
    predicted: int = 0  # pending memories the tool itself would show, expiry left aside

    @property
    def lines(self) -> int:
        return len(self.items) + len(self.skipped) + self.blank


@dataclass(slots=True)
class Group:
    """Lines about one document, in order. Without a bank they are parked, or judged before."""

    items: list[Item]
    bank: Bank | None = None
    server: Server | None = None
    reason: str = ""  # why they are parked, or
    settled: str = ""  # why they change nothing
    document_hash: str = ""

    @property
    def document_id(self) -> str:
        return self.items[0].event.document_id


@contextmanager
def _all_of_it_stays() -> Iterator[None]:
    """Python looks for garbage as objects get more; here all are wanted, and looking would be half of the time.

    Safe in several threads at once: whoever found it on turns it on again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_all_of_it_stays()
def read(stream: BinaryIO) -> Reading:
    """Keeps about 800 bytes a line in memory, and no raw text."""
    reading = Reading()
    identities, same = Identities(), Same()
    for line in read_lines(stream, LONGEST_LINE):
        found = parse(line.data, same)
        if found is None:
            reading.blank += 1
        elif isinstance(found, Skipped):
            reading.skipped.append(SkippedLine(line.number, line.offset, line.size, found.reason))
        else:
            reading.items.append(Item(line.number, line.offset, line.size, found, identities.of(found)))
    reading.predicted = len(predicted_pending(item.event for item in reading.items))
    return reading


@_all_of_it_stays()
def groups_of(items: list[Item], *, source: SourceFile, user: User, place: Callable[[Event], Place]) -> list[Group]:
    """The lines by document; a group comes where its last line stands."""
    places: dict[Hashable, Place] = {}

    def key_of(event: Event) -> Hashable:
        found = place(event)
        where: Hashable = found.bank.pk if found.bank else (event.base_url, event.namespace, event.bank)
        places[where] = found
        return where, event.document_id

    folded = fold([item.event for item in items], key_of)
    groups = [
        _group(places[key[0]], [items[position] for position in positions])  # type: ignore[index]  # made by key_of
        for key, positions in folded.sequences.items()
    ]
    groups += _without_memory(folded, items, places)
    _join_earlier_imports(groups, [items[position] for position in folded.unknown], source=source, user=user)
    groups.sort(key=lambda group: group.items[-1].offset)
    return groups


def steps_of(groups: list[Group], *, rows: int) -> Iterator[list[Group]]:
    """Groups in lots of at most `rows` lines. A longer group is split: its parts are applied one after the other."""
    lot: list[Group] = []
    size = 0
    for group in groups:
        for part in _parts(group, rows):
            if lot and size + len(part.items) > rows:
                yield lot
                lot, size = [], 0
            lot.append(part)
            size += len(part.items)
    if lot:
        yield lot


def _parts(group: Group, rows: int) -> Iterator[Group]:
    if len(group.items) <= rows:
        yield group
        return
    for start in range(0, len(group.items), rows):
        part = group.items[start : start + rows]
        yield Group(part, group.bank, group.server, group.reason, group.settled, group.document_hash)


def _group(place: Place, items: list[Item]) -> Group:
    document_hash = Write.hash_of(items[0].event.document_id) if place.bank else ""
    return Group(items, place.bank, place.server, place.reason, "", document_hash)


def _without_memory(folded: Folded, items: list[Item], places: dict[Hashable, Place]) -> list[Group]:
    groups = [Group([items[position]], settled=ALREADY) for position in folded.idle]
    for position, keys in folded.conflicts:
        servers = {places[key[0]].server for key in keys}  # type: ignore[index]  # made by key_of
        server = servers.pop() if len(servers) == 1 else None
        groups.append(Group([items[position]], server=server, reason=FITS_SEVERAL))
    return groups


def _join_earlier_imports(groups: list[Group], dones: list[Item], *, source: SourceFile, user: User) -> None:
    """A file may hold only what is new: its dones belong to memories which this source brought before."""
    if not dones:
        return
    found = entries_of_source(source, {item.event.document_id for item in dones}, user=user)
    placed = {(group.bank.pk, group.document_hash): group for group in groups if group.bank}
    for item in dones:
        fits = [e for e in found.get(item.event.document_id, []) if item.event.bank in ("", e.bank.bank_id)]
        fits = [entry for entry in fits if entry.state == ReviewEntry.State.PENDING] or fits
        if len(fits) != 1:
            groups.append(Group([item], reason=FITS_SEVERAL) if fits else Group([item], settled=NEVER_ADDED))
            continue
        key = (fits[0].bank_id, fits[0].document_hash)
        if key not in placed:
            placed[key] = Group([], fits[0].bank, fits[0].bank.server, document_hash=fits[0].document_hash)
            groups.append(placed[key])
        bisect.insort(placed[key].items, item, key=lambda one: one.offset)
