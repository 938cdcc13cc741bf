"""What the lines about one document do to its entry. Pure: no database, no clock.

Inside one file its order decides. Against what did not come from this file time decides: an older line changes
nothing, a newer one does, and the earlier decision stays in the history.
"""

from dataclasses import dataclass, field
from datetime import datetime

from reviews.importing.events import APPROVED, BY_ITSELF, BY_TIME, Event
from reviews.importing.fold import closes
from reviews.models import Decision, ReviewEntry, SourceEvent

State = ReviewEntry.State
Line = SourceEvent.State

OLDER_ADD = "older than the latest decision on this memory"
OLDER_DONE = "older than what is known about this memory"
REPLACED = "a later line adds it again"
ALREADY = "it was already decided"
NOT_REVIEWED = "the tool closed it without a look: it stays open"
NO_VERDICT = "it does not say approved or deleted: the memory stays open"
NEEDS_PEOPLE = "its bank wants people, or another one, to approve it here: the memory stays open"
UNDER_WAY = "A delete of this memory is under way. Assign the line again when it is done."
# A line that was judged by mistake of rights or mapping may be judged again.
AGAIN = (Line.PARKED, Line.PENDING)


_UNREAD = datetime.max


@dataclass(slots=True)
class Item:
    """One event of the file on its way into the database."""

    number: int  # of its line in the file that brought it
    offset: int  # of its first byte: the order of lines. For rows: their order.
    size: int
    event: Event
    identity: str
    pk: int = 0  # of its row
    known: str = ""  # the state stored with it by an earlier import
    from_row: bool = False  # read from its row, not from a file
    state: str = ""  # the state to store; "" = as it is
    why: str = ""
    entry_id: int = 0
    _at: datetime | None = _UNREAD

    @property
    def at(self) -> datetime | None:
        """`event.at`, read once."""
        if self._at is _UNREAD:
            self._at = self.event.at
        return self._at

    @property
    def counts(self) -> bool:
        return not self.known or self.known in AGAIN

    def forget(self) -> None:
        """As before it was judged; what the database knows is asked for again."""
        self.state = self.why = ""
        self.entry_id = 0
        if not self.from_row:
            self.pk, self.known = 0, ""

    def judge(self, state: str, why: str = "") -> None:
        self.state, self.why = state, why


@dataclass(slots=True)
class Claim:
    """A decision that a line claims: a verdict, or that a later add opens the memory again."""

    verdict: str
    item: Item
    at: datetime
    version: int
    note: str


@dataclass(slots=True)
class Memory:
    """A review entry as these rules see it."""

    state: str
    enqueued_at: datetime | None
    version: int = 1
    pk: int = 0
    # The latest decision: when, and which line claimed it ("" = no line of an import).
    decided_at: datetime | None = None
    by_person: bool = False  # a person of ours edited it into what it is
    decided_by_line: str = ""
    reopened_at: datetime | None = None  # when the latest decision was to open it again
    # What changed
    add: Item | None = None  # the line that it stands on now
    reopened: bool = False
    claims: list[Claim] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a bank's policy says about who may approve: a file is no person, and does not say which."""

    two_reviewers: bool = False
    bars_writer: bool = False

    def bar(self, memory: Memory) -> bool:
        return self.two_reviewers or (self.bars_writer and memory.by_person)


def replay(memory: Memory | None, items: list[Item], *, now: datetime, rules: Rules = Rules()) -> Memory | None:
    """Judges the items that count, in the order of the file, and returns the entry as it is afterwards.

    None when no line brought the entry into being (a done for what we never saw).
    """
    stands_on, decided = _starting_points(memory, items)
    for position, item in enumerate(items):
        if not item.counts:
            continue
        if memory is None:
            memory = _create(item)
            stands_on = position
            continue
        after_decision = _after_decision(memory, item, position, decided)
        if memory.state == State.DELETING:
            item.judge(Line.PARKED, UNDER_WAY)
        elif item.event.ev == "add":
            stands_on = _add(memory, items, position, stands_on, after_decision=after_decision, now=now)
            decided = position if memory.claims and memory.claims[-1].item is item else decided
        else:
            current = after_decision and _after_add(memory, item, position, stands_on)
            if _done(memory, item, current=current, barred=rules.bar(memory), now=now):
                decided = position
    return memory


def _starting_points(memory: Memory | None, items: list[Item]) -> tuple[int, int]:
    """Positions of the known lines which the stored entry and its latest decision came from; -1 = none of these."""
    stands_on = decided = -1
    if memory is not None:
        for position, item in enumerate(items):
            if item.counts:
                continue
            if item.event.ev == "add" and item.at == memory.enqueued_at:
                stands_on = position
            if item.identity == memory.decided_by_line:
                decided = position
    return stands_on, decided


def _create(item: Item) -> Memory | None:
    if item.event.ev == "done":
        item.judge(Line.SUPERSEDED, ALREADY)
        return None
    item.judge(Line.APPLIED)
    return Memory(state=State.PENDING, enqueued_at=item.at, add=item)


def _add(
    memory: Memory, items: list[Item], position: int, stands_on: int, *, after_decision: bool, now: datetime
) -> int:
    """Returns the position of the add on which the entry stands then."""
    item = items[position]
    if not after_decision:
        item.judge(Line.OLDER, OLDER_ADD)
        return stands_on
    if memory.state == State.PENDING:
        if (stands_on >= 0 and position < stands_on) or (stands_on < 0 and _is_older(item, memory.enqueued_at)):
            item.judge(Line.OLDER, OLDER_DONE)
            return stands_on
        if stands_on >= 0:
            items[stands_on].judge(Line.SUPERSEDED, REPLACED)
    else:
        memory.claims.append(_claim(Decision.Verdict.REOPENED, item, memory, now, "added again"))
        memory.state, memory.reopened = State.PENDING, True
        memory.version += 1
    item.judge(Line.APPLIED)
    memory.add, memory.enqueued_at = item, item.at
    return position


def _done(memory: Memory, item: Item, *, current: bool, barred: bool, now: datetime) -> bool:
    """Whether the line decided. `barred`: no file approves it."""
    event = item.event
    if not closes(event):
        item.judge(Line.APPLIED, NOT_REVIEWED if event.by == BY_ITSELF else NO_VERDICT)
    elif memory.state != State.PENDING:
        item.judge(Line.SUPERSEDED, ALREADY)
    elif not current:
        item.judge(Line.OLDER, OLDER_DONE)
    elif barred and event.action == APPROVED:
        item.judge(Line.APPLIED, NEEDS_PEOPLE)
    else:
        item.judge(Line.APPLIED)
        verdict = Decision.Verdict.APPROVED if event.action == APPROVED else Decision.Verdict.DELETED
        memory.claims.append(_claim(verdict, item, memory, now, _who(event)))
        memory.state = State.APPROVED if event.action == APPROVED else State.DELETED
        memory.version += 1
        return True
    return False


def _claim(verdict: str, item: Item, memory: Memory, now: datetime, note: str) -> Claim:
    # A claim from the future would outweigh everything people do until then.
    return Claim(verdict, item, min(item.at or now, now), memory.version, note)


def _who(event: Event) -> str:
    if event.by == BY_TIME:
        return "by time, says the file"
    return f"by {event.by[:100]}, says the file" if event.by else ""


def _after_decision(memory: Memory, item: Item, position: int, decided: int) -> bool:
    """Whether a line speaks about the time after the latest decision."""
    if decided >= 0:
        return position > decided
    return memory.decided_at is None or _is_newer(item, memory.decided_at)


def _after_add(memory: Memory, item: Item, position: int, stands_on: int) -> bool:
    """Whether a done speaks about the add on which the entry stands."""
    if stands_on >= 0:
        return position > stands_on
    return memory.enqueued_at is None or _is_newer(item, memory.enqueued_at)


def _is_newer(item: Item, moment: datetime | None) -> bool:
    """What has no date is newer than nothing."""
    return item.at is not None and moment is not None and item.at > moment


def _is_older(item: Item, moment: datetime | None) -> bool:
    return moment is not None and (item.at is None or item.at < moment)
