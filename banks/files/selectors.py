"""What the page about files shows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import Http404

from banks import access
from banks.files.taking import KIND
from banks.models import Bank, RetainFile, Role, Write
from banks.selectors import get_write, writes_seen_by
from memadmin.paging import Cursor, Order, Page, page_of

State = Write.State
NEWEST = Order("occurred_at", descending=True)
PAGE_SIZE = 30
HEAVY = ("params", "fact_ids")


@dataclass(frozen=True)
class FileState:
    """How far a file is, in a word; `tone` as the pages have it, `text` what else is to say."""

    word: str
    tone: str = ""
    text: str = ""


def file_page(user: Any, cursor: Cursor | None) -> Page[Write]:
    """Newest first. A constant number of queries."""
    banks = access.bank_ids_for(user)
    if banks is None:
        banks = list(Bank.objects.order_by().values_list("pk", flat=True))
    rows = Write.objects.prefetch_related("bank__server", "file").defer(*HEAVY)
    return page_of(rows, NEWEST, cursor, PAGE_SIZE, {"kind": [KIND], "bank": banks})


def files_of(user: Any, group: UUID) -> list[Write]:
    """The files of one request, in its order; none for strangers."""
    rows = writes_seen_by(user).filter(group=group, kind=KIND)
    return list(rows.select_related("bank__server", "file").defer(*HEAVY).order_by("pk"))


def file_of(write: Write) -> RetainFile | None:
    return RetainFile.objects.filter(write=write).first() if write.kind == KIND else None


def get_file(user: Any, pk: int) -> Write:
    """The write of a file, for a reviewer of its bank: 404 for strangers and for other writes, 403 for readers."""
    write = get_write(user, pk, Role.REVIEWER)
    if write.kind != KIND:
        raise Http404("No such file.")
    return write


def to_take_back(user: Any, rows: Sequence[Write]) -> set[int]:
    """Which of these have not left and may be taken back: one's own, and as an admin of the bank all."""
    waiting = [row for row in rows if row.state in (State.QUEUED, State.RETRYING) and row.sent is None]
    roles = access.roles_on(user, [row.bank for row in waiting]) if waiting else {}

    def may(row: Write) -> bool:
        role = roles.get(row.bank_id)
        return role is not None and (role >= Role.ADMIN or (role >= Role.REVIEWER and row.actor_id == user.pk))

    return {row.pk for row in waiting if may(row)}


def tell_files(rows: Iterable[Write]) -> None:
    """Sets what lists call the files of these rows. One query, and none where there are no files."""
    files = {row.pk: row for row in rows if row.kind == KIND}
    if not files:
        return
    for pk, name in RetainFile.objects.filter(write__in=files).values_list("write", "name"):
        files[pk].file_name = name


def over(rows: Sequence[Write]) -> bool:
    """Whether nothing more happens to these by itself."""
    return not any(row.is_open for row in rows)


def state_of(write: Write) -> FileState:
    outcome = write.outcome
    if write.state in (State.ATTENTION, State.CHANGED):
        return FileState("refused" if outcome.get("refused") else "needs a person", "attention", write.error_text)
    if write.state == State.CANCELLED:
        return FileState("discarded", text=write.error_text)
    if write.state == State.DONE:
        return FileState("in the bank", "attention" if outcome.get("zero_facts") else "")
    if write.state == State.UNKNOWN or (write.state == State.ACCEPTED and outcome.get("stage") == "looking"):
        return FileState("unknown", "attention", "No answer came. The server is asked whether it has it.")
    if write.state == State.ACCEPTED:
        overdue = "attention" if outcome.get("overdue") else ""
        converting = outcome.get("stage") == "converting"
        return FileState("converting" if converting else "extracting facts", overdue, outcome.get("server_says", ""))
    if write.state == State.SENDING:
        return FileState("being sent")
    return FileState("waiting", "attention" if write.error_text else "", write.error_text)
