"""From what was said to documents: the whole session as one, or windows of a few turns each.

An id depends on nothing but the turns before and at the beginning of its document: the same file, or a longer copy of
it, makes the same ids again, and a bank replaces instead of keeping both. Windows stand side by side, so that no turn
is in two documents. Agents that see only the past repeat some turns for context (`overlap`); what is said in those is
extracted twice, and who asks for it is told how many.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from banks.transcripts.messages import USER, Message
from banks.transcripts.reading import Session

FULL, LAST = "full-session", "last-turn"
MODES = (FULL, LAST)
EVERY, OVERLAP = 3, 0  # turns
MOST_TURNS, MOST_OVERLAP = 100, 10
SHORTEST = 10  # characters; less is no conversation
MOST_DOCUMENTS = 500
MOST_BYTES = 64 * 1024 * 1024  # of all documents of a session


class NotBuilt(Exception):
    """Nothing was built. str() says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`every` turns make a window, `overlap` earlier ones are repeated in it. `session`: where the file names none."""

    mode: str = FULL
    every: int = EVERY
    overlap: int = OVERLAP
    session: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """`turns` are new ones and `repeated` those that an earlier document has too. `at`: when the first new one was."""

    id: str
    text: str
    turns: int
    repeated: int
    messages: int
    at: datetime | None

    @property
    def size(self) -> int:
        """Bytes of UTF-8."""
        return len(self.text.encode())


def build(session: Session, plan: Plan) -> list[Document]:
    """The documents in the order of the session; none where hardly anything was said. Raises NotBuilt."""
    name = session.id or plan.session
    if not name:
        raise NotBuilt("The file does not name its session. Say an id for it: the documents are named after it.")
    if session.cleared_by:
        name = f"{name}:{session.cleared_by}"
    found: list[Document] = []
    size = 0
    for document in _windows(session, plan, name) if plan.mode == LAST else _whole(session, name):
        found.append(document)
        size += document.size
        if len(found) > MOST_DOCUMENTS or size > MOST_BYTES:
            raise NotBuilt(
                f"More than {MOST_DOCUMENTS:,} documents or {MOST_BYTES:,} bytes of text would be built of it. Take "
                "more turns for each, or less overlap."
            )
    return found


def render(messages: list[Message]) -> str:
    """As agents send it to a bank: each message between its role and its end, with its time where it is known."""
    return "\n\n".join(_framed(message) for message in messages)


def _framed(message: Message) -> str:
    at = f"[timestamp: {_iso(message.at)}]\n" if message.at else ""
    return f"[role: {message.role}]\n{at}{message.text}\n[{message.role}:end]"


def _whole(session: Session, name: str) -> Iterator[Document]:
    text = render(session.messages)
    if len(text.strip()) >= SHORTEST:
        yield Document(name, text, session.turns, 0, len(session.messages), session.started)


def _windows(session: Session, plan: Plan, name: str) -> Iterator[Document]:
    every, overlap = max(plan.every, 1), max(plan.overlap, 0)
    turns = _turns(session.messages)
    stamp = 0
    for start in range(0, len(turns), every):
        window = turns[max(start - overlap, 0) : start + every]
        at = next((message.at for message in turns[start] if message.at), None)
        stamp = max(_milliseconds(at or session.started) if at or not stamp else 0, stamp + 1)
        messages = [message for turn in window for message in turn]
        text = render(messages)
        if len(text.strip()) >= SHORTEST:
            repeated = start - max(start - overlap, 0)
            yield Document(f"{name}-{stamp}", text, len(window) - repeated, repeated, len(messages), at)


def _turns(messages: list[Message]) -> list[list[Message]]:
    """Each begins with what a person said; an agent that spoke first belongs to the first."""
    turns: list[list[Message]] = []
    for message in messages:
        if not turns or (message.role == USER and any(each.role == USER for each in turns[-1])):
            turns.append([])
        turns[-1].append(message)
    return turns


def _milliseconds(at: datetime | None) -> int:
    return int(at.timestamp() * 1000) if at else 0


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
