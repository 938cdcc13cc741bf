"""What the rows of a list on screen have become, and what has arrived that the list does not show.

The list says what it shows by tokens, "12.3.9f2c41d0.o" for each row: primary key, version, the beginning of the hash
of the text ("-" = no text was shown), and the face of the row. A row whose face is still the same is not sent again.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.utils import timezone

from banks.access import bank_ids_for
from banks.models import Role
from banks.paper import is_clipped
from memadmin.counting import Count, count_of
from reviews.access import entries_for
from reviews.bulk.scope import APPROVE, left_out
from reviews.models import Decision, ReviewEntry, Seen
from reviews.selectors import card, queue
from reviews.selectors.filters import Filters
from reviews.selectors.news import News, latest_decisions, news_of
from reviews.selectors.skips import skipped_by

State = ReviewEntry.State

AT_MOST = 100  # rows in one question
NEW_AT_MOST = 1_000
# How long after a decision it is likely to be taken back.
SETTLED_AFTER = timedelta(minutes=10)
_TOKEN = re.compile(r"(\d{1,18})\.(\d{1,9})\.([0-9a-f]{8}|-)\.([a-z0-9]{1,40})")


@dataclass(frozen=True)
class Mark:
    """The newest entry and decision when the list was made; what has a higher number is new."""

    entry: int = 0
    decision: int = 0

    def __str__(self) -> str:
        return f"{self.entry}.{self.decision}"

    @classmethod
    def parse(cls, text: str) -> "Mark":
        found = re.fullmatch(r"(\d{1,18})\.(\d{1,18})", text)
        return cls(int(found[1]), int(found[2])) if found else cls(2**62, 2**62)

    @classmethod
    def now(cls) -> "Mark":
        entries, decisions = ReviewEntry.objects.order_by("-pk"), Decision.objects.order_by("-pk")
        return cls(*(rows.values_list("pk", flat=True).first() or 0 for rows in (entries, decisions)))


@dataclass(frozen=True)
class Row:
    """A row of the list: as it is, or with `news` when it is no longer what was shown.

    entry: None when this person may not see it any more.
    """

    pk: int
    entry: ReviewEntry | None
    version: int  # shown
    text: str  # shown: the beginning of its hash, "" = none
    lease: card.Lease | None = None
    news: News | None = None
    seen: bool = False  # this person has opened this text before
    mine: bool = False  # this person may decide on it
    skipped: bool = False  # by this person
    error: str = ""  # why a bulk act did not decide on it
    before: str = ""  # its face when it was shown; "" = it is shown now

    @property
    def face(self) -> str:
        entry, news = self.entry, self.news
        if entry is None:
            return "gone"
        if news:
            return f"s{entry.version}m{_coarse(news)}{news.undo}"
        if not self.text and entry.waits:
            return f"x{entry.load_state}"
        first = "v" if entry.vouched else ""
        return f"l{entry.lease_user_id}{first}" if self.lease else f"o{first}"

    @property
    def token(self) -> str:
        return f"{self.pk}.{self.version}.{self.text or '-'}.{self.face}"

    @property
    def pick(self) -> str:
        """What its box posts (reviews.bulk.scope); "" where there is nothing to pick."""
        waits = self.mine and not self.stale and self.entry is not None and self.entry.waits
        return f"{self.pk}.{self.version}.{self.text or '-'}" if waits else ""

    @property
    def left_out(self) -> str:
        """Why an approval of many leaves it out, "" where it does not."""
        entry = self.entry
        if entry is None:
            return ""
        clipped = is_clipped(entry.text_size)  # whether all of it was opened, is looked at when it is decided
        flagged = entry.danger or bool(entry.marks)
        opened = self.seen and not clipped
        return left_out(APPROVE, loaded=bool(self.text), flagged=flagged, clipped=clipped, opened=opened)

    @property
    def differs(self) -> bool:
        return self.face != self.before

    @property
    def stale(self) -> bool:
        return self.entry is None or self.news is not None

    @property
    def whole(self) -> bool:
        """Whether all of the row is shown anew: one that had no text to show, and nothing was decided on it."""
        return not self.stale and self.before.startswith("x")

    @property
    def settled(self) -> bool:
        """Whether it is unlikely to change again while the list is open."""
        if self.news is None or self.entry is None or self.entry.waits:
            return self.entry is None
        return self.entry.state != State.DELETING and not _recent(self.news)


@dataclass(frozen=True)
class Changes:
    """`rows` are all that the list shows, in its order; `new` are not among them."""

    rows: list[Row]
    mark: Mark
    new: Count = field(default_factory=lambda: Count(0))

    @property
    def tokens(self) -> str:
        return "_".join(row.token for row in self.rows)

    @property
    def over(self) -> bool:
        """Nothing is left on this list that could change: asking ends."""
        return bool(self.rows) and all(row.settled for row in self.rows)


def listed(user: Any, entries: Iterable[ReviewEntry]) -> list[Row]:
    """The rows of a list that is shown now."""
    entries = list(entries)
    seen, mine = _seen_by(user, entries), _decidable(user, entries)
    return [_fresh(user, entry, seen, mine) for entry in entries]


def changes(user: Any, filters: Filters, tokens: str, mark: Mark) -> Changes:
    """What became of the rows of these tokens; anything that is not a token of ours is left out."""
    shown = [_TOKEN.fullmatch(token) for token in tokens.split("_")[:AT_MOST]]
    asked = [(int(t[1]), int(t[2]), "" if t[3] == "-" else t[3], t[4]) for t in shown if t]
    wanted = entries_for(user).filter(pk__in=[pk for pk, *_ in asked])
    found = {e.pk: e for e in wanted.select_related("bank", "lease_user").defer(*queue.HEAVY)}
    moved = [found[pk] for pk, version, _, _ in asked if pk in found and found[pk].version != version]
    latest = latest_decisions(moved)
    seen, mine = _seen_by(user, list(found.values())), _decidable(user, list(found.values()))
    rows = []
    for pk, version, text, face in asked:
        entry = found.get(pk)
        if entry is None:
            rows.append(Row(pk, None, version, text, before=face))
            continue
        news = news_of(entry, latest.get(pk), user, version=version, text=text)
        if news is None and face.startswith("x"):
            rows.append(_fresh(user, entry, seen, mine, before=face))
            continue
        if news and news.undo and entry.bank_id not in mine:
            news = replace(news, undo="")
        lease = card.lease_of_another(entry, user)
        rows.append(Row(pk, entry, version, text, lease, news, pk in seen, entry.bank_id in mine, before=face))
    return Changes(rows, mark, _arrived(user, filters, mark, list(found)))


def _fresh(user: Any, entry: ReviewEntry, seen: set[int], mine: set[int], before: str = "") -> Row:
    readable = entry.loaded or not entry.waits
    text = (entry.text_id or "")[:8] if readable else ""
    lease, may = card.lease_of_another(entry, user), entry.bank_id in mine
    last = entry.pk in skipped_by(user)
    return Row(entry.pk, entry, entry.version, text, lease, None, entry.pk in seen, may, last, before=before)


def _arrived(user: Any, filters: Filters, mark: Mark, but: list[int]) -> Count:
    """How many belong to the list by now and were not there, or not open, when it was made."""
    limit = NEW_AT_MOST + 1
    entries = ReviewEntry.objects.filter(pk__gt=mark.entry).order_by("pk").values_list("pk", flat=True)
    reopened = Decision.objects.filter(pk__gt=mark.decision, verdict=Decision.Verdict.REOPENED).order_by("pk")
    # As numbers, not as subqueries: PostgreSQL would look through the whole queue for them.
    new = {*entries[:limit], *reopened.values_list("entry", flat=True)[:limit]} - set(but)
    return count_of(queue.entries(user, filters).filter(pk__in=new), NEW_AT_MOST)


def _seen_by(user: Any, entries: list[ReviewEntry]) -> set[int]:
    """Those whose text, as it is now, this person has opened."""
    texts = {entry.pk: entry.text_id for entry in entries}
    rows = Seen.objects.filter(user=user, entry__in=list(texts)).values_list("entry", "text_hash")
    return {pk for pk, text in rows if texts[pk] == text}


def _decidable(user: Any, entries: list[ReviewEntry]) -> set[int]:
    """Primary keys of the banks of these on which this person may decide."""
    banks = bank_ids_for(user, Role.REVIEWER)
    return {entry.bank_id for entry in entries if banks is None or entry.bank_id in banks}


def _recent(news: News) -> bool:
    return news.at is None or timezone.now() - news.at < SETTLED_AFTER


def _coarse(news: News) -> int:
    """How long ago, in steps that are worth a new face: minutes, after an hour hours."""
    minutes = int((timezone.now() - news.at).total_seconds()) // 60 if news.at else 0
    return minutes if minutes < 60 else 60 * (minutes // 60)
