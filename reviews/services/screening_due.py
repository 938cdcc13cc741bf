"""The rest of screening, in lots: what needs the other memories of a bank, or the process that knows languages."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import transaction

from banks.models import Bank
from reviews.health.languages import CannotTell
from reviews.models import Mark, ReviewEntry
from reviews.screening import duplicates, languages
from reviews.screening.marks import Found
from reviews.screening.screen import VERSION, screen
from reviews.services.marking import LATER, mark_of, put, replace, weigh
from reviews.services.sight import first_sight

logger = logging.getLogger(__name__)

LOT = 100
BESIDE = 2_000  # of the newest waiting memories of a bank that a new one is compared with
Load, State = ReviewEntry.Load, ReviewEntry.State


def run() -> int:
    """Screens a lot of memories; returns how many. Safe to run twice at once."""
    lot = [*_due(State.PENDING), *_due(State.HELD)][:LOT]
    if not lot:
        return 0
    elsewhere = _languages(lot)
    beside = {bank.pk: _beside(bank) for bank in {entry.bank for entry in lot}}
    for entry, found in zip(lot, elsewhere, strict=True):
        _store(entry, found, list(_alike(entry, beside[entry.bank_id])))
    return len(lot)


def again(banks: Iterable[Bank] | None = None) -> int:
    """Has all that waits (in these banks) screened anew; returns how many memories that are."""
    waiting = ReviewEntry.objects.filter(state__in=ReviewEntry.WAITING)
    return (waiting if banks is None else waiting.filter(bank__in=list(banks))).update(screened=0)


def _due(state: ReviewEntry.State) -> list[ReviewEntry]:
    wanted = ReviewEntry.objects.filter(screened=0, state=state, load_state=Load.LOADED, text__erased=None)
    return list(wanted.exclude(text=None).select_related("bank", "text").order_by("pk")[:LOT])


def _text(entry: ReviewEntry) -> str:
    return entry.text.text if entry.text else ""


def _languages(lot: Sequence[ReviewEntry]) -> list[list[Found]]:
    try:
        return list(languages.find([(_text(entry), entry.bank.language) for entry in lot]))
    except CannotTell as error:  # the other rules do not wait for it
        logger.warning("%s", error)
        return [[] for _ in lot]


def _beside(bank: Bank) -> list[tuple[int, str]]:
    """(primary key, how it begins) of what waits in a bank, the newest first."""
    waiting = ReviewEntry.objects.filter(bank=bank, state__in=ReviewEntry.WAITING, load_state=Load.LOADED)
    return list(waiting.exclude(preview="").order_by("-pk").values_list("pk", "preview")[:BESIDE])


def _alike(entry: ReviewEntry, beside: Sequence[tuple[int, str]]) -> Iterable[tuple[Found, ReviewEntry]]:
    others = [(pk, preview) for pk, preview in beside if pk != entry.pk]
    near = [others[place][0] for place, _ in duplicates.close_to(entry.preview, [preview for _, preview in others])]
    for other in ReviewEntry.objects.select_related("text").filter(pk__in=near).order_by("pk"):
        for _, score in duplicates.close_to(_text(entry), [_text(other)]):
            yield Found("duplicate", 0, 0, f"Another memory that waits says nearly the same ({score:.0f} %)."), other


def _store(entry: ReviewEntry, elsewhere: Sequence[Found], alike: Sequence[tuple[Found, ReviewEntry]]) -> None:
    """A text that changed meanwhile stays unscreened."""
    text, rows = _text(entry), defaultdict(list)
    for found in elsewhere:
        rows[found.kind].append(mark_of(entry.pk, found, text))
    for found, other in alike:
        rows[found.kind].append(mark_of(entry.pk, found, text, other=other))
    preview = first_sight(text, screen(text))["preview"]  # takes its time, and no transaction
    with transaction.atomic():
        if not ReviewEntry.objects.filter(pk=entry.pk, text=entry.text_id, screened=0).update(
            screened=VERSION, preview=preview
        ):
            return
        put(entry.pk, text)
        for kind in LATER:
            replace(rows[kind], list(Mark.objects.filter(entry=entry, kind=kind)))
        weigh(entry, text)
        # The other one learns of it when it is looked at next, unless it knows.
        for _, other in alike:
            if not Mark.objects.filter(entry=other, other=entry).exists():
                ReviewEntry.objects.filter(pk=other.pk, state__in=ReviewEntry.WAITING).update(screened=0)
