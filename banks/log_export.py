"""Rows of the write log for files: the oldest first, in lots, so that any number of them takes little memory."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from banks.log_filters import Listed
from banks.models import Blob, Write
from banks.secrets.masking import masked
from memadmin.paging import Cursor, Order, walk
from memadmin.retention import RetentionNotice, format_retention_notice, head_of

OLDEST_FIRST = Order("occurred_at")
CHUNK = 500
TEXTS_AT_ONCE = 4 * 1024 * 1024  # bytes of texts that are in memory together; one text may be more
CUT_TO = 2_000  # bytes of a text in a table: a cell of a spreadsheet holds 32,767 characters
TEXTS = ("request", "before", "after")

_TEXT_FIELDS = [f"{name}{part}" for name in TEXTS for part in ("_sha256", "")]
LOG_FIELDS = [
    *("id", "occurred_at", "kind", "state", "server", "bank", "document_id", "fact_ids", "actor", "token", "via"),
    *("undo_of", "group", "operation_id", "attempts", "error_class", "error_status", "error_text", "error_took"),
    *("params", "outcome", "created", "sent", "finished"),
    *_TEXT_FIELDS,
]
_OTHERS = {"server", "bank", "actor", "token", "undo_of", *_TEXT_FIELDS}
_OWN = [name for name in LOG_FIELDS if name not in _OTHERS]


def log_rows(listed: Listed, *, with_text: bool = False, longest: int | None = None) -> Iterator[dict[str, Any]]:
    """`longest`: bytes of a text; more is cut and says so. Texts that were erased are None, as are those not asked for.

    Prompts that are private to a person are no text of a row and are in no export.
    """
    rows = listed.rows.prefetch_related("bank__server", "token")
    cursor = None
    while lot := walk(rows, OLDEST_FIRST, cursor, CHUNK, listed.split):
        for part, texts in _with_texts(lot) if with_text else [(lot, {})]:
            for write in part:
                yield _row(write, texts, longest)
        cursor = Cursor(lot[-1].occurred_at, lot[-1].pk)


def _row(write: Write, texts: dict[str, str], longest: int | None) -> dict[str, Any]:
    row = {name: getattr(write, name) for name in _OWN}
    row |= {"server": write.bank.server.name, "bank": write.bank.bank_id}
    row |= {"actor": write.actor_name, "token": write.token.name if write.token else None, "undo_of": write.undo_of_id}
    for name, blob in zip(TEXTS, _blobs(write), strict=True):
        row |= {f"{name}_sha256": blob, name: _cut(texts.get(blob or ""), longest)}
    return row


def _blobs(write: Write) -> tuple[str | None, str | None, str | None]:
    return write.request_id, write.before_id, write.after_id


def _cut(text: str | None, longest: int | None) -> str | None:
    if text is None or longest is None:
        return text
    kept = head_of(text, longest)
    if not kept.truncated:
        return text
    notice = RetentionNotice("text", "head", "bytes", longest, len(kept.head.encode()), kept.omitted)
    return f"{kept.head} [{format_retention_notice(notice, lambda _: 'JSON Lines has them.')}]"


def _with_texts(rows: Sequence[Write]) -> Iterator[tuple[list[Write], dict[str, str]]]:
    """The rows in parts, each with the texts it needs."""
    wanted = {blob for row in rows for blob in _blobs(row) if blob}
    sizes = dict(Blob.objects.filter(pk__in=wanted, erased=None).values_list("pk", "size"))
    part: list[Write] = []
    needed: set[str] = set()
    size = 0
    for row in rows:
        new = {blob for blob in _blobs(row) if blob in sizes} - needed
        if part and size + sum(sizes[blob] for blob in new) > TEXTS_AT_ONCE:
            yield part, _texts(needed)
            part, needed, size = [], set(), 0
            new = {blob for blob in _blobs(row) if blob in sizes}
        part.append(row)
        needed |= new
        size += sum(sizes[blob] for blob in new)
    if part:
        yield part, _texts(needed)


def _texts(blobs: Iterable[str]) -> dict[str, str]:
    return {blob.pk: masked(blob.text) for blob in Blob.objects.filter(pk__in=blobs, erased=None)}
