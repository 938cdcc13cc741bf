"""What happened to a memory since somebody looked at it: the words for its row, its card and a conflict about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max

from banks.models import Write
from reviews.models import Decision, ReviewEntry

State, Load = ReviewEntry.State, ReviewEntry.Load
Verdict, Via = Decision.Verdict, Decision.Via
_WAITS_AGAIN = (Verdict.EDITED, Verdict.REOPENED, Verdict.WITHDRAWN)


@dataclass(frozen=True)
class News:
    """`said` is for a stamp ("being deleted"), `did` for a sentence ("deleted"); `who` did it, "" = nobody of ours."""

    said: str
    did: str
    who: str
    at: datetime | None
    glyph: str
    tone: str
    person: bool = False  # who is a person, not time, a file or housekeeping
    undo: str = ""  # what can be taken back: "approval", "delete", "closing"
    sentence: str = ""  # where who and did do not say it

    @property
    def subject(self) -> str:
        return "You" if self.who == "you" else self.who


def news_of(entry: ReviewEntry, latest: Decision | None, user: Any, *, version: int, text: str) -> News | None:
    """What changed since `version` was shown with the text of this hash (or the beginning of it; "" = no text).

    None when what was shown still stands. `latest` is the entry's latest decision, with its write.
    """
    other_text = bool(text) and not (entry.text_id or "").startswith(text)
    if entry.version == version and not other_text:
        return None
    if not entry.waits:
        return _closed(entry, latest, user)
    if latest is not None and latest.version >= version and latest.verdict in _WAITS_AGAIN:
        return _open_again(entry, latest, user)
    if text and not entry.loaded:
        return _not_readable(entry)
    if other_text:
        return News("written again", "written again", "", entry.loaded_at, "↗", "attention")
    return None


def standing_of(entry: ReviewEntry, latest: Decision | None, user: Any) -> News | None:
    """What was last decided, whatever was shown."""
    return news_of(entry, latest, user, version=-1, text="")


def _closed(entry: ReviewEntry, latest: Decision | None, user: Any) -> News:
    """From the decision that the entry caches; the latest one only tells whether it is this person's own."""
    did = entry.state if entry.state in (State.APPROVED, State.REJECTED) else "deleted"
    if latest is not None and latest.verdict == Verdict.GONE and entry.state == State.DELETED:
        did = "closed as gone"
    said = "being deleted" if entry.state == State.DELETING else did
    glyph, tone = ("✓", "approved") if entry.state == State.APPROVED else ("✕", "danger")
    mine = latest is not None and latest.user_id == user.pk
    who, person = _who(entry.decided_via, entry.decided_by, mine=mine)
    return News(said, did, who, entry.decided_at, glyph, tone, person, undoable(entry, latest))


def _open_again(entry: ReviewEntry, latest: Decision, user: Any) -> News:
    if latest.verdict == Verdict.REOPENED and latest.decided_via == Via.HOUSEKEEPING:
        said = entry.get_reopened_because_display() or "reopened"
        return News(said, "reopened", "", latest.at, "!", "attention")
    glyph = "✎" if latest.verdict == Verdict.EDITED else "↑"
    who, person = _who(latest.decided_via, latest.user_name, mine=latest.user_id == user.pk)
    did = latest.get_verdict_display()
    said = "approval withdrawn" if latest.verdict == Verdict.WITHDRAWN else did
    return News(said, did, who, latest.at, glyph, "pending", person)


def _not_readable(entry: ReviewEntry) -> News:
    if entry.load_state == Load.LOADING:
        sentence = "The text of this memory is being read from the bank again."
        return News("being read again", "", "", None, "…", "none", sentence=sentence)
    sentence = "The bank no longer has this memory."
    if entry.load_state != Load.MISSING:
        sentence = "The text of this memory can no longer be read from the bank."
    return News(entry.get_load_state_display(), "", "", None, "!", "danger", sentence=sentence)


def _who(via: str, name: str, *, mine: bool) -> tuple[str, bool]:
    if via in (Via.PERSON, ""):
        return ("you", True) if mine else (name, bool(name))
    if via == Via.FILE:
        return (f"a file of {name}" if name else "a file"), False
    return str(Via(via).label), False


def undoable(entry: ReviewEntry, latest: Decision | None) -> str:
    """What of the entry's latest decision can still be taken back; "" = nothing. The act itself looks again."""
    if latest is None:
        return ""
    if latest.verdict == Verdict.APPROVED and entry.state == State.APPROVED:
        return "approval"
    if latest.verdict == Verdict.GONE and entry.state == State.DELETED:
        return "closing"
    if latest.verdict == Verdict.REJECTED and entry.state == State.REJECTED:
        return "rejection"
    waits = latest.write is not None and latest.write.state in (Write.State.QUEUED, Write.State.RETRYING)
    return "delete" if latest.verdict == Verdict.DELETED and entry.state == State.DELETING and waits else ""


def latest_decisions(entries: Iterable[ReviewEntry]) -> dict[int, Decision]:
    """By the entry's primary key; one query."""
    newest = Decision.objects.filter(entry__in=[entry.pk for entry in entries]).values("entry").annotate(at=Max("pk"))
    rows = Decision.objects.filter(pk__in=newest.values("at")).select_related("write")
    fields = ("entry", "verdict", "decided_via", "user", "user_name", "version", "at", "write", "write__state")
    return {decision.entry_id: decision for decision in rows.only(*fields)}
