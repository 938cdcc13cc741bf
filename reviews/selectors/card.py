"""Everything a card shows beside the text: facts, history, what can be taken back."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from banks.models import Role, Write
from banks.selectors import look_of
from memadmin import words
from reviews.models import Decision, ReviewEntry, Seen

HISTORY_SHOWN = 30
READERS_SHOWN = 3


@dataclass(frozen=True)
class Event:
    """A line of an entry's history: a decision of ours, or a write without one."""

    at: datetime
    text: str
    who: str
    glyph: str
    tone: str
    note: str = ""
    write_id: int | None = None
    state: str = ""


@dataclass(frozen=True)
class Lease:
    """Who else has a card open. `since`: for how long already, "" where nobody asked for it."""

    who: str
    left: str
    since: str = ""


@dataclass(frozen=True)
class Readers:
    """Who else has opened this text: the first few names, and how many more."""

    names: list[str]
    more: int


GLYPHS = {
    Decision.Verdict.APPROVED: ("✓", "approved"),
    Decision.Verdict.DELETED: ("✕", "danger"),
    Decision.Verdict.EDITED: ("✎", "pending"),
    Decision.Verdict.REOPENED: ("↑", "none"),
    Decision.Verdict.GONE: ("✕", "none"),
    Decision.Verdict.REJECTED: ("✕", "danger"),
    Decision.Verdict.VOUCHED: ("✓", "approved"),
    Decision.Verdict.WITHDRAWN: ("↑", "none"),
}


def decisions_since(entry: ReviewEntry, version: int) -> list[Event]:
    """Newest first: what was decided since this version was on screen."""
    decisions = entry.decisions.filter(version__gte=version).select_related("write").order_by("-pk")
    return [_decision_event(decision) for decision in decisions[:HISTORY_SHOWN]]


def history_of(entry: ReviewEntry) -> list[Event]:
    """Newest first: decisions, and writes of this document that belong to none of them."""
    decisions = list(entry.decisions.select_related("write").order_by("-pk")[:HISTORY_SHOWN])
    covered = {decision.write_id for decision in decisions}
    others = (
        Write.objects.filter(bank=entry.bank_id, document_hash=Write.hash_of(entry.document_id))
        .exclude(pk__in=[pk for pk in covered if pk])
        .only("kind", "state", "actor_name", "via", "occurred_at", "bank")
        .order_by("-pk")[:HISTORY_SHOWN]
    )
    events = [_decision_event(decision) for decision in decisions] + [_write_event(write) for write in others]
    return sorted(events, key=lambda event: event.at, reverse=True)[:HISTORY_SHOWN]


def _decision_event(decision: Decision) -> Event:
    glyph, tone = GLYPHS[Decision.Verdict(decision.verdict)]
    who = decision.user_name
    if decision.decided_via != Decision.Via.PERSON:
        claimed = f" ({who})" if who else ""
        who = f"{decision.get_decided_via_display()}{claimed}"
    write = decision.write
    return Event(
        at=decision.at,
        text=decision.get_verdict_display(),
        who=who,
        glyph=glyph,
        tone=tone,
        note=decision.note,
        write_id=write.pk if write else None,
        state=write.get_state_display() if write and write.state != Write.State.DONE else "",
    )


def _write_event(write: Write) -> Event:
    look = look_of(write.kind)
    return Event(
        at=write.occurred_at,
        text=look.verb,
        who=write.actor_name or write.get_via_display(),
        glyph=look.glyph,
        tone=look.tone,
        write_id=write.pk,
        state=write.get_state_display() if write.state != Write.State.DONE else "",
    )


def lease_of_another(entry: ReviewEntry, user: Any) -> Lease | None:
    """Who else has the card open, and for how long still."""
    now = timezone.now()
    if entry.lease_user is None or entry.lease_user == user or not entry.lease_until or entry.lease_until <= now:
        return None
    return Lease(entry.lease_user.display_name, words.span(entry.lease_until - now))


def lease_on_card(entry: ReviewEntry, user: Any) -> Lease | None:
    """The same with since when: the holder's last opening of this text."""
    lease = lease_of_another(entry, user)
    if lease is None:
        return None
    opened = Seen.objects.filter(user=entry.lease_user, entry=entry, text_hash=entry.text_id or "").first()
    return replace(lease, since=words.span(timezone.now() - opened.at)) if opened else lease


def readers_of(entry: ReviewEntry, user: Any) -> Readers | None:
    """Who but this person has opened the text as it is now, the latest first; None = nobody."""
    if not entry.text_id:
        return None
    rows = Seen.objects.filter(entry=entry, text_hash=entry.text_id).exclude(user=user).select_related("user")
    names = [seen.user.display_name for seen in rows.order_by("-at", "-pk")[: READERS_SHOWN + 1]]
    more = rows.count() - READERS_SHOWN if len(names) > READERS_SHOWN else 0
    return Readers(names[:READERS_SHOWN], more) if names else None


def deletion_of(entry: ReviewEntry) -> Write | None:
    """The finished delete from which a deleted document can be put back."""
    if entry.state != ReviewEntry.State.DELETED:
        return None
    return (
        Write.objects.filter(bank=entry.bank_id, document_hash=entry.document_hash, kind="delete")
        .filter(state=Write.State.DONE, before__isnull=False, before__erased__isnull=True)
        .order_by("-pk")
        .first()
    )


def may_decide(role: Role | None) -> bool:
    return role is not None and role >= Role.REVIEWER
