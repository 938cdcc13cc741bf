"""What a kind of write has to say for itself, and what its calls may answer."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from banks.hindsight import HindsightClient
from banks.models import Bank, Role, Write
from memadmin.accounts.models import User

# Kinds that leave nothing of a bank: nothing else may be on its way to it meanwhile (banks.writes.crossing).
WHOLE_BANK = ("bank-delete",)
NO_PARAMS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Accepted:
    """The server took it and works on it: poll with `verify`."""

    outcome: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """The bank is in the intended state, and we saw it."""

    outcome: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NotDone:
    """Read back: nothing of it happened, it may be sent (again)."""


@dataclass(frozen=True)
class StillWorking:
    """Not terminal on the server: nothing is resent meanwhile."""

    outcome: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Replaced:
    """It ends here, and nothing of it happened: other rows do the same in another way."""

    outcome: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stuck:
    """It will not happen by itself: a person is needed. `text`: what was said, what was not lost, what to do."""

    text: str
    outcome: dict[str, Any] = field(default_factory=dict)


class ChangedSinceDecided(Exception):
    """What is in the bank now is not what was decided on; nothing was sent. `text` is for people."""

    def __init__(self, text: str, outcome: dict[str, Any] | None = None) -> None:
        super().__init__(text)
        self.text, self.outcome = text, outcome or {}


class Misplaced(Exception):
    """Raised by a precheck: the row belongs into another slot. `changes`: of its fields, the slot among them."""

    def __init__(self, **changes: Any) -> None:
        super().__init__(", ".join(changes))
        self.changes = changes


class Overruled(Exception):
    """Raised by who is told of a retry: something else was decided since, so the write must not be sent again."""


class Kind:
    """One kind of write. Subclasses are stateless and registered once (banks.writes.registry)."""

    name: str = ""
    glyph: str = ""
    verb: str = ""  # "delete": what a person pressed
    past: str = ""  # "deleted": what the log says
    tone: str = "none"
    role: Role = Role.REVIEWER
    sends: bool = True  # False: only our log knows it (approve, undo)
    frees_slot: bool = False  # once the server has it: what follows need not wait for the server's work

    def slot(
        self, *, bank: Bank, document_id: str, fact_ids: Sequence[str] = (), params: Mapping[str, Any] = NO_PARAMS
    ) -> str:
        """What this write must be serial with; '' when nothing is sent. Documents by default.

        Facts share the slot of their document; of one whose document is unknown nothing else can be said than its id.
        """
        if not self.sends:
            return ""
        return document_slot(bank, document_id) if document_id or not fact_ids else fact_slot(bank, fact_ids[0])

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | StillWorking | None:
        """A fresh read before each send. Raises ChangedSinceDecided, Misplaced; Done when nothing is left to do.

        StillWorking: not yet, since the server is still at something that comes before.
        """

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck | Replaced:
        """Stuck where some of it was done and the rest was refused."""
        raise NotImplementedError

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        """Reads back what became of a write that was accepted, or whose outcome is unknown."""
        raise NotImplementedError

    def again(self, *, write: Write, actor: User) -> bool | None:
        """What a person's retry means, where it is more than sending the same once more; None = just that.

        In a transaction; False when it does not wait for a person any more. Raises Overruled.
        """

    def readable(self, text: str) -> str:
        """One of the row's texts as its page compares it with the other."""
        return text

    def freed(self, write: Write) -> None:
        """Its slot is free for what comes next, and the row is stored."""


def fact_slot(bank: Bank, fact_id: str) -> str:
    return hashlib.sha256(f"fact\0{bank.pk}\0{fact_id}".encode("utf-8", "surrogatepass")).hexdigest()


def document_slot(bank: Bank, document_id: str) -> str:
    """Retain, edit, delete and the facts of one document share a slot: a race between them is silently lost."""
    return hashlib.sha256(f"document\0{bank.pk}\0{document_id}".encode("utf-8", "surrogatepass")).hexdigest()


def retain_slot(bank: Bank) -> str:
    """At most one batch of the retain queue is on its way to a bank."""
    return hashlib.sha256(f"retain\0{bank.pk}".encode()).hexdigest()


def config_slot(bank: Bank) -> str:
    """What a bank is set to has one writer at a time."""
    return hashlib.sha256(f"config\0{bank.pk}".encode()).hexdigest()


def bank_slot(bank: Bank) -> str:
    """Making, naming and deleting the bank itself."""
    return hashlib.sha256(f"bank\0{bank.pk}".encode()).hexdigest()


def own_slot(write: Write) -> str:
    """Of a write that nothing has to wait for any more."""
    return hashlib.sha256(f"write\0{write.pk}".encode()).hexdigest()
