"""What a bulk act is about: rows picked from a list as they were shown, or all that match a filter as they are now."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, QuerySet

from banks.models import Blob, Role
from banks.paper import PART, is_clipped
from reviews.access import entries_for
from reviews.models import ReviewEntry, Seen
from reviews.models.entries import FLAGGED
from reviews.selectors.filters import UNDECIDED, Filters

APPROVE, DELETE = VERDICTS = ("approve", "delete")
MOST = 100_000
MOST_PICKED = 1_000
AT_ONCE = 500  # values in one query
FLAG, CLIP, LOAD = "flagged", "clipped", "unloaded"
_PICK = re.compile(r"(\d{1,18})\.(\d{1,9})\.([0-9a-f]{8}|-)")


@dataclass(frozen=True)
class Pick:
    """A memory as it was shown: its version, and the beginning of the hash of its text ("" = no text)."""

    pk: int
    version: int
    text: str

    def __str__(self) -> str:
        return f"{self.pk}.{self.version}.{self.text or '-'}"

    @classmethod
    def parse(cls, token: str) -> "Pick | None":
        found = _PICK.fullmatch(token)
        return cls(int(found[1]), int(found[2]), "" if found[3] == "-" else found[3]) if found else None


def parsed(tokens: Iterable[str]) -> list[Pick]:
    """Each memory once, in the order of their keys; what is no token of ours is left out."""
    found = {pick.pk: pick for token in tokens if (pick := Pick.parse(token))}
    return [found[pk] for pk in sorted(found)]


@dataclass
class Sorted:
    """What is decided on, and how many are left out and why: `flagged`, `clipped`, `unloaded`."""

    picks: list[Pick] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=lambda: {FLAG: 0, CLIP: 0, LOAD: 0})
    too_many: bool = False

    @property
    def total(self) -> int:
        return len(self.picks)

    @property
    def left_out(self) -> int:
        return sum(self.left.values())


def sort_matching(user: Any, filters: Filters, verdict: str) -> Sorted:
    """All that match and that this person may decide on; of more than `MOST` none, and `too_many`."""
    if filters.state not in UNDECIDED:
        return Sorted()
    rows = entries_for(user, Role.REVIEWER).filter(filters.condition())
    return _sort(user, rows, verdict, None)


def sort_picked(user: Any, picks: Sequence[Pick], verdict: str) -> Sorted:
    """The picked ones, as they were shown: what has become of them since is found when they are decided on."""
    shown = {pick.pk: pick for pick in picks[:MOST_PICKED]}
    rows = entries_for(user, Role.REVIEWER).filter(pk__in=list(shown))
    return _sort(user, rows, verdict, shown)


def _sort(user: Any, rows: QuerySet[ReviewEntry], verdict: str, shown: dict[int, Pick] | None) -> Sorted:
    opened = Seen.objects.filter(user=user, entry=OuterRef("pk"), text_hash=OuterRef("text"))
    rows = rows.annotate(opened=Exists(opened), flagged=ExpressionWrapper(FLAGGED, BooleanField()))
    fields = ("pk", "version", "text_id", "load_state", "text_size", "flagged", "opened")
    found = list(rows.order_by("pk").values_list(*fields)[: MOST + 1])
    result = Sorted()
    if len(found) > MOST:
        result.too_many = True
        return result
    clipped = {pk: text for pk, _, text, _, size, _, seen in found if seen and text and is_clipped(size)}
    read = _read_whole(user, clipped)
    for pk, version, text, load_state, size, flagged, seen in found:
        loaded = load_state == ReviewEntry.Load.LOADED and text is not None
        opened_all = pk in read if is_clipped(size) else seen
        if why := left_out(verdict, loaded=loaded, flagged=flagged, clipped=is_clipped(size), opened=opened_all):
            result.left[why] += 1
        else:
            result.picks.append(shown[pk] if shown else Pick(pk, version, (text or "")[:8]))
    return result


def left_out(verdict: str, *, loaded: bool, flagged: bool, clipped: bool, opened: bool) -> str:
    """Why nobody decides on it unseen, "" when it is decided on. What is deleted need not have been read."""
    if not loaded:
        return LOAD
    if verdict == DELETE or opened:
        return ""
    return FLAG if flagged else CLIP if clipped else ""


def opened_whole(user: Any, entries: Collection[ReviewEntry]) -> set[int]:
    """Primary keys of those whose text, as it is now, this person has opened, and each part of a long one."""
    texts = {entry.pk: entry.text_id or "" for entry in entries}
    clipped = {entry.pk: entry.text_id or "" for entry in entries if is_clipped(entry.text_size)}
    rows = Seen.objects.filter(user=user, entry__in=list(texts)).values_list("entry", "text_hash")
    opened = {pk for pk, text in rows if texts[pk] == text}
    return (opened - clipped.keys()) | _read_whole(user, {pk: clipped[pk] for pk in opened & clipped.keys()})


def _read_whole(user: Any, texts: dict[int, str]) -> set[int]:
    """Of these long texts, {primary key: hash}, those of which this person has opened every part."""
    found, pks = set(), list(texts)
    for start in range(0, len(pks), AT_ONCE):
        lot = pks[start : start + AT_ONCE]
        lengths = dict(Blob.objects.filter(pk__in={texts[pk] for pk in lot}).values_list("pk", "length"))
        for pk, text, parts in Seen.objects.filter(user=user, entry__in=lot).values_list("entry", "text_hash", "parts"):
            if text == texts[pk] and set(range(1, -(-lengths.get(text, 0) // PART) + 1)) <= set(parts):
                found.add(pk)
    return found
