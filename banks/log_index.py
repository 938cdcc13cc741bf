"""How rows of the write log are found: by the facts they name at once, by their words a few seconds later.

Making the words of a long text takes longer than a decision may, so `note` only queues a row, in the transaction that
stores it, and a worker does the rest (`sweep`). What changes in a row later, its error, queues it `again`.
A row's texts are those listed here and no others: what is private to a person is in no index.
"""

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import BinaryField, Count, Q
from django.db.models.functions import Substr

from banks.models import Blob, RetainFile, RetainItem, Unindexed, Write, WriteFact
from memadmin import fulltext
from memadmin.terms import CHARACTERS, phrases_of

INDEX = fulltext.Index("banks_log_search", "write_id")
LOT = 50  # rows in one transaction: nobody waits long for a decision meanwhile
MEMORIES = 256  # of the batches in it, which are read and indexed with them
SECONDS = 5.0  # of one sweep: other tasks of the worker wait for it
BYTES = 4 * CHARACTERS
FACTS_BYTES = 8 * 1024 * 1024  # JSON of more is not read
# The parameters that are texts: why something was done, and what was said about it.
TOLD = ("reason", "reasons", "quote", "quotes", "note", "because", "query", "stage", "message")


class Memory(NamedTuple):
    document_id: str
    content: str  # the key of its text
    size: int


def note(rows: Iterable[tuple[int, Sequence[str]]]) -> None:
    """New rows, as (primary key, ids of the facts they name). Belongs into the transaction that stores them."""
    rows = list(rows)
    _keep_facts(rows)
    Unindexed.objects.bulk_create([Unindexed(write_id=pk) for pk, _ in rows], batch_size=500, ignore_conflicts=True)


def again(pk: int) -> None:
    """The words of a row have changed."""
    note([(pk, ())])


def has_words(query: str) -> bool:
    return bool(phrases_of(query))


def matching(query: str) -> Q:
    """The rows in which all that was asked for occurs; none for a query without a word."""
    found = INDEX.matching(query)
    return Q(pk__in=[]) if found is None else found


def naming(fact_id: str) -> Q:
    """The rows that name this fact."""
    return fulltext.found_by("SELECT write_id FROM banks_writefact WHERE fact_hash = %s", [WriteFact.hash_of(fact_id)])


def sweep(*, seconds: float = SECONDS) -> int:
    """Brings queued rows into the index, the newest first, for about so long. Returns how many."""
    until, done = time.monotonic() + seconds, 0
    while Unindexed.objects.exists() and (done == 0 or time.monotonic() < until):
        done += _lot()
    return done


@transaction.atomic
def _lot() -> int:
    pks = _newest(list(Unindexed.objects.order_by("-pk").values_list("pk", flat=True)[:LOT]))
    # Taken off before they are read: who changes a row from here on queues it again.
    Unindexed.objects.filter(pk__in=pks).delete()
    rows = list(Write.objects.filter(pk__in=pks).order_by("pk").only(*_READ))
    memories = _memories(rows)
    texts = _beginnings(rows, memories)
    _keep_facts((row.pk, row.fact_ids) for row in rows)
    INDEX.replace([(row.pk, fulltext.parted(_texts(row, texts, memories.get(row.pk, [])))) for row in rows])
    return len(pks)


def _newest(pks: list[int]) -> list[int]:
    """As many of these as have together no more memories than one lot may have; one of them in any case."""
    items = RetainItem.objects.filter(write__in=pks).order_by().values_list("write")
    counts = dict(items.annotate(count=Count("pk")))
    sums = accumulate(counts.get(pk, 0) for pk in pks)
    return [pk for pk, memories in zip(pks, sums, strict=True) if memories <= MEMORIES] or pks[:1]


_READ = (
    *("kind", "document_id", "actor_name", "params", "fact_ids", "error_text"),
    *("request_id", "before_id", "after_id", "facts_before_id"),
)


def _texts(row: Write, texts: dict[str, str], memories: Sequence[Memory]) -> Iterator[str]:
    """The short ones first: what is beyond the bounds of the index is the end of a long text."""
    yield from (row.document_id, row.actor_name, row.error_text)
    for name in TOLD:
        yield from strings(row.params.get(name))
    if row.fact_ids and row.facts_before_id:
        yield from _facts(row)
    for blob in dict.fromkeys([row.request_id, row.before_id, row.after_id]):
        yield texts.get(blob or "", "")
    yield from (document_id for document_id, _, _ in memories)
    yield from (texts.get(content, "") for content in _beginning_of(memories))
    if row.kind == "retain-files":
        yield from RetainFile.objects.filter(write=row.pk).values_list("name", flat=True)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (each for each in value.values() if isinstance(each, str))


def _facts(row: Write) -> Iterator[str]:
    """The texts of the facts that the row names: what is stored with it may be all facts of the document."""
    blob = Blob.objects.filter(pk=row.facts_before_id, erased=None, size__lt=FACTS_BYTES).first()
    try:
        facts = json.loads(blob.text) if blob else []
    except ValueError:
        return
    named = set(row.fact_ids)
    for fact in facts if isinstance(facts, list) else []:
        if isinstance(fact, dict) and fact.get("id") in named:
            yield str(fact.get("text", ""))


def _memories(rows: Sequence[Write]) -> dict[int, list[Memory]]:
    """By their batch of the retain queue, in its order: which documents it stores, and their texts."""
    found: dict[int, list[Memory]] = {}
    items = RetainItem.objects.filter(write__in=[row.pk for row in rows if row.kind == "retain"]).order_by("pk")
    for write, document_id, content, size in items.values_list("write", "document_id", "content", "size"):
        found.setdefault(write, []).append(Memory(document_id, content, size))
    return found


def _beginning_of(memories: Sequence[Memory]) -> list[str]:
    """Their texts, as far as they can be indexed."""
    before = accumulate((memory.size for memory in memories), initial=0)
    return [memory.content for memory, read in zip(memories, before, strict=False) if read <= BYTES]


def _beginnings(rows: Sequence[Write], memories: Mapping[int, Sequence[Memory]]) -> dict[str, str]:
    wanted = {pk for row in rows for pk in (row.request_id, row.before_id, row.after_id) if pk}
    for each in memories.values():
        wanted.update(_beginning_of(each))
    return _of_blobs(wanted)


def _of_blobs(wanted: Collection[str]) -> dict[str, str]:
    beginning = Substr("data", 1, BYTES, output_field=BinaryField())
    found = Blob.objects.filter(pk__in=wanted, erased=None).annotate(beginning=beginning)
    # The last character may be cut.
    return {pk: bytes(data).decode("utf-8", "ignore") for pk, data in found.values_list("pk", "beginning")}


def _keep_facts(rows: Iterable[tuple[int, Sequence[str]]]) -> None:
    named = [
        WriteFact(write_id=pk, fact_hash=WriteFact.hash_of(fact_id))
        for pk, fact_ids in rows
        for fact_id in dict.fromkeys(fact_ids)
    ]
    WriteFact.objects.bulk_create(named, batch_size=500, ignore_conflicts=True)
