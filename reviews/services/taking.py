"""Taking a memory for a decision: what has to hold before, and the one conditional update that decides.

What waits for a decision is pending, or held; of neither does this know more.
"""

from typing import Any, TypeAlias

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from memadmin.accounts.models import User
from reviews.access import get_entry_to_decide
from reviews.errors import Blank, Conflict, NotLoaded, TooLarge
from reviews.models import Decision, ReviewEntry
from reviews.text import has_visible_text

State: TypeAlias = ReviewEntry.State
Load: TypeAlias = ReviewEntry.Load
Verdict: TypeAlias = Decision.Verdict


def conflict_of(entry_id: int) -> Conflict:
    """The conflict to raise after a conditional update found nothing: read afresh, with the latest decision."""
    entry = ReviewEntry.objects.select_related("bank__server").get(pk=entry_id)
    latest = entry.decisions.order_by("-pk").first()
    closed = not entry.waits or (latest is not None and latest.verdict in (Verdict.EDITED, Verdict.WITHDRAWN))
    return Conflict(entry, latest if closed else None)


def decidable(user: User, entry_id: int, version: int, text_hash: str, entry: ReviewEntry | None = None) -> ReviewEntry:
    """The entry, when it is what was on screen. Raises Conflict and NotLoaded."""
    entry = entry or get_entry_to_decide(user, entry_id)
    if not entry.waits or entry.version != version:
        raise conflict_of(entry_id)
    if entry.load_state != Load.LOADED or entry.text_id is None:
        raise NotLoaded(entry)
    if entry.text_id != text_hash:
        raise conflict_of(entry_id)
    return entry


def take(entry: ReviewEntry, *, state: State, user: User | None, **changes: Any) -> None:
    """The one conditional update. The instance keeps showing what was decided on."""
    now = timezone.now()
    if user is not None:
        changes |= {"decided_by": user.display_name, "decided_via": Decision.Via.PERSON, "decided_at": now}
    taken = ReviewEntry.objects.filter(
        pk=entry.pk, state=entry.state, version=entry.version, text=entry.text_id, load_state=Load.LOADED
    ).update(state=state, version=F("version") + 1, reopened_because="", lease_user=None, lease_until=None, **changes)
    if not taken:
        raise conflict_of(entry.pk)


def storable(text: str) -> str:
    """As a bank can keep it. Raises TooLarge and Blank."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    size = len(text.encode("utf-8"))
    if size > settings.MAX_TEXT_BYTES:
        raise TooLarge(size, settings.MAX_TEXT_BYTES)
    if not has_visible_text(text):
        raise Blank
    return text
