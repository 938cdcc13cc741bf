"""A session of an agent into a bank: read, turned into documents, put into the retain queue.

A person's bank takes none: what somebody said while working on a project is not a standing fact about them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from banks import access, retain
from banks.models import Bank, Role, Write
from banks.retain import Item, Problem, Queued, Refused
from banks.retain.scope import GLOBAL
from banks.transcripts import Document, NotBuilt, Plan, Session, build, read
from memadmin.accounts.models import User

NO_FORMAT = "Neither a pi session nor one of Claude Code, nor lines with role and content. Nothing was stored."
NOTHING_SAID = "Nothing was said in it: no message of a person or an agent has text. Nothing was stored."


class PersonsBank(Exception):
    """Nothing was stored."""

    def __init__(self) -> None:
        super().__init__("This is a person's bank: no session of an agent goes there. Nothing was stored.")


@dataclass(frozen=True)
class Prepared:
    """What a file becomes; nothing is stored yet. `problems`: the document's place, and why no queue takes it."""

    session: Session
    documents: list[Document]
    items: list[Item] = field(default_factory=list)
    problems: dict[int, list[Problem]] = field(default_factory=dict)


def prepare(
    *, user: User, bank: Bank, stream: BinaryIO, plan: Plan, format_: str = "", tags: Sequence[str] = ()
) -> Prepared:
    """Needs a reviewer of the bank. Raises PersonsBank, and NotBuilt where the file cannot become documents."""
    access.require(user, bank, Role.REVIEWER)
    if bank.personal:
        raise PersonsBank
    session = read(stream, format_)
    if not session.format:
        raise NotBuilt(NO_FORMAT)
    prepared = Prepared(session, build(session, plan))
    for place, document in enumerate(prepared.documents):
        try:
            prepared.items.extend(retain.parse([_wanted(document, session, tags)]))
        except Refused as refused:
            prepared.problems[place] = refused.problems
    return prepared


def retain_transcript(
    *,
    user: User,
    bank: Bank,
    stream: BinaryIO,
    plan: Plan,
    via: Write.Via,
    format_: str = "",
    tags: Sequence[str] = (),
    mode: str = GLOBAL,
    project: str = "",
) -> tuple[Prepared, Queued]:
    """Queues every document of the session, or none. Raises as `prepare` and `enqueue` do, and Refused by document."""
    prepared = prepare(user=user, bank=bank, stream=stream, plan=plan, format_=format_, tags=tags)
    if prepared.problems:
        raise Refused(
            [
                Problem(place, each.field, each.text, each.too_large)
                for place, problems in prepared.problems.items()
                for each in problems
            ]
        )
    if not prepared.items:
        raise NotBuilt(NOTHING_SAID)
    queued = retain.enqueue(
        user=user,
        bank=bank,
        items=prepared.items,
        via=via,
        mode=mode,
        project=project,
        session_id=prepared.session.id or plan.session,
    )
    return prepared, queued


def _wanted(document: Document, session: Session, tags: Sequence[str]) -> dict[str, object]:
    at = document.at or session.started
    return {
        "content": document.text,
        "document_id": document.id,
        "tags": list(tags),
        **({"timestamp": at.isoformat()} if at else {}),
    }
