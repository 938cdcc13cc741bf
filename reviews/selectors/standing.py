"""What a card must say before anything else: why the memory is here again, and what is wrong with it."""

from dataclasses import dataclass
from typing import Any

from banks.diffs import Diff, diff
from banks.models import Blob
from banks.troubles import Trouble, of_bank
from reviews.models import Decision, ReviewEntry
from reviews.selectors.held import Held, held_of
from reviews.services.vanished import last_edit

State, Load, Reopened = ReviewEntry.State, ReviewEntry.Load, ReviewEntry.Reopened


@dataclass(frozen=True)
class Standing:
    troubles: list[Trouble]
    earlier: Decision | None  # the decision that no longer stands
    diff: Diff | None  # from the text that was decided on to the text now
    no_facts: bool
    may_revert: bool  # the edit that brought no facts
    vanished: bool
    may_put_back: bool
    live: bool
    held: Held | None


def standing_of(entry: ReviewEntry, *, fix: bool = False) -> Standing:
    """At most three queries, and none for a memory that is as it should be; more for what is no document yet."""
    earlier = _earlier(entry)
    no_facts = entry.loaded and entry.fact_count == 0 and entry.state == State.PENDING
    vanished = entry.load_state == Load.MISSING and entry.state in (State.PENDING, State.APPROVED)
    return Standing(
        troubles=of_bank(entry.bank, fix=fix),
        earlier=earlier,
        diff=_diff(entry, earlier),
        no_facts=no_facts,
        may_revert=no_facts and _has(last_edit(entry)),
        vanished=vanished,
        may_put_back=vanished and entry.text is not None and not entry.text.erased and not entry.bank.gone_since,
        live=entry.live and entry.state == State.PENDING,
        held=held_of(entry),
    )


def _earlier(entry: ReviewEntry) -> Decision | None:
    if not entry.reopened_because:
        return None
    verdicts = [Decision.Verdict.APPROVED, Decision.Verdict.DELETED, Decision.Verdict.GONE]
    return entry.decisions.filter(verdict__in=verdicts).order_by("-pk").first()


def _diff(entry: ReviewEntry, earlier: Decision | None) -> Diff | None:
    """None when both are the same text, or one of them is not here."""
    if earlier is None or not earlier.text_hash or earlier.text_hash == entry.text_id or entry.text is None:
        return None
    before = Blob.objects.filter(pk=earlier.text_hash, erased=None).first()
    return diff(before.text, entry.text.text) if before and not entry.text.erased else None


def _has(edit: Any) -> bool:
    return edit is not None and edit.before is not None and not edit.before.erased
