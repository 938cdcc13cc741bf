"""From a file to what was said in it: the branch that the conversation is on, after it was last cleared."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, BinaryIO

from banks.transcripts import records
from banks.transcripts.messages import ROLES, USER, Message, says_something, strip_blocks
from banks.transcripts.records import Record
from memadmin.jsonlines import SURROGATE, Skipped, read_lines, record_of

PI, CLAUDE, PLAIN = "pi", "claude-code", "plain"
FORMATS = {PI: "pi session", CLAUDE: "Claude Code session", PLAIN: "role/content lines"}
LONGEST_LINE = 16 * 1024 * 1024  # bytes; a picture that an agent looked at is one line
DECIDED_BY = 200  # records; the first ones tell the format
MOST_BAD = 50  # lines that are listed; all are counted
_READERS: dict[str, Callable[[int, dict[str, Any]], Record]] = {
    PI: records.of_pi,
    CLAUDE: records.of_claude,
    PLAIN: records.of_plain,
}
OLD_BRANCHES = "messages on branches that were left"
CLEARED = "messages from before the conversation was cleared"
WORDLESS = "messages without a letter or digit"
FILLED_GAPS = "gaps in the tree, passed in the order of the file"


@dataclass(slots=True)
class Session:
    """What a file holds. `format` "" = nobody knows it. `skipped`: what was left out, by its name in the plural."""

    format: str = ""
    id: str = ""
    started: datetime | None = None
    cleared_by: str = ""  # id of the marker after which it begins
    messages: list[Message] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    blocks: int = 0  # memory blocks that were taken out
    lines: int = 0
    bad: list[tuple[int, str]] = field(default_factory=list)  # line, reason; the first MOST_BAD of them
    bad_count: int = 0

    @property
    def turns(self) -> int:
        return sum(message.role == USER for message in self.messages)


def read(stream: BinaryIO, format_: str = "") -> Session:
    """Reads it to its end. `format_` "" = told by the records themselves; else one of FORMATS."""
    session = Session(format=format_ if format_ in FORMATS else "")
    parsed = _records(stream, session)
    first = [pair for _, pair in zip(range(DECIDED_BY), parsed, strict=False)]
    session.format = session.format or _format_of([record for _, record in first])
    if not session.format:
        for _ in parsed:
            pass
        return session
    reader = _READERS[session.format]
    found = [reader(line, record) for line, record in _chained(first, parsed)]
    session.id = next((record.session for record in found if record.session), "")
    begun = [record.started or record.at for record in found if record.started or record.at]
    session.started = begun[0] if begun else None
    _collect(session, _after_clear(session, _branch(session, found)))
    del session.skipped[""]  # what frames the file is nothing that was left out
    return session


def _records(stream: BinaryIO, session: Session) -> Iterator[tuple[int, dict[str, Any]]]:
    for line in read_lines(stream, LONGEST_LINE):
        session.lines += 1
        record = record_of(line.data, LONGEST_LINE)
        if isinstance(record, Skipped):
            session.bad_count += 1
            if len(session.bad) < MOST_BAD:
                session.bad.append((line.number, record.reason))
        elif record is not None:
            yield line.number, record


def _chained(first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    yield from first
    yield from rest


def _format_of(found: list[dict[str, Any]]) -> str:
    """By what only one of them has; a few strange lines do not change it."""
    votes: Counter[str] = Counter()
    for record in found:
        kind = record.get("type")
        if "sessionId" in record and ("uuid" in record or "parentUuid" in record):
            votes[CLAUDE] += 1
        elif (kind == "session" and "id" in record) or (kind == "message" and isinstance(record.get("message"), dict)):
            votes[PI] += 1
        elif record.get("role") in ROLES and isinstance(record.get("content"), str | list):
            votes[PLAIN] += 1
    return votes.most_common(1)[0][0] if votes else ""


def _branch(session: Session, found: list[Record]) -> list[Record]:
    """From the root to the newest entry, in that order; without ids every record belongs to it.

    Where a parent is not there (its line is bad, or was too long), what stands before it in the file goes on.
    """
    nodes = [record for record in found if record.id]
    if not any(record.parent for record in nodes):
        return found
    walked = _walk(session, nodes)
    kept = [record for place, record in enumerate(nodes) if place in walked]
    lines = {record.line for record in kept}
    for record in found:
        if record.line not in lines:
            session.skipped[OLD_BRANCHES if record.role else record.why] += 1
    return kept


def _walk(session: Session, nodes: list[Record]) -> set[int]:
    """Places on the way from the newest entry to the root."""
    places = {record.id: place for place, record in enumerate(nodes)}
    before, newest = [], -1  # of each the nearest earlier one that is no aside
    for place, record in enumerate(nodes):
        before.append(newest)
        newest = newest if record.aside else place
    place, walked = newest, set[int]()
    while place >= 0 and place not in walked:
        walked.add(place)
        parent = nodes[place].parent
        if parent is None:
            break
        if parent in places:
            place = places[parent]
        elif (place := before[place]) >= 0:
            session.skipped[FILLED_GAPS] += 1
    return walked


def _after_clear(session: Session, branch: list[Record]) -> list[Record]:
    cleared = [place for place, record in enumerate(branch) if record.clears]
    if not cleared:
        return branch
    marker = branch[cleared[-1]]
    session.cleared_by = marker.id or f"line-{marker.line}"
    session.started = marker.at or session.started
    session.skipped[CLEARED] += sum(bool(record.role) for record in branch[: cleared[-1]])
    return branch[cleared[-1] + 1 :]


def _collect(session: Session, branch: list[Record]) -> None:
    last = ""  # the message of which the newest record is a part
    for record in branch:
        if not record.role:
            session.skipped[record.why] += 1
            continue
        text, blocks = strip_blocks(SURROGATE.sub("\ufffd", record.text))
        session.blocks += blocks
        if not says_something(text):
            session.skipped[WORDLESS] += 1
        elif record.whole and record.whole == last:
            before = session.messages[-1]
            session.messages[-1] = replace(before, text=f"{before.text}\n{text}")
        else:
            session.messages.append(Message(record.role, text, record.at, record.line))
            last = record.whole
