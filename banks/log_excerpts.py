"""What rows of the write log say, text by text: for the part of it that a search shows. Never what is private."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import BinaryField
from django.db.models.functions import Substr

from banks.log_index import TOLD, strings
from banks.models import Blob, RetainFile, RetainItem, Write

BYTES = 64_000  # of one text; what is found behind them is named without its words
FACTS_BYTES = 512 * 1024
MEMORIES = 200  # of all batches of a page
BLOBS = {"request": "text sent", "before": "text before", "after": "text after"}
LABELS = {"reasons": "reason", "quotes": "quote", "because": "reason", "stage": "message"}


@dataclass
class Texts:
    """`told`: (what it is, the text), the short ones first. `erased`: there was another one."""

    told: list[tuple[str, str]] = field(default_factory=list)
    erased: bool = False


def beginnings(keys: Sequence[str | None]) -> dict[str, str | None]:
    """The first `BYTES` of each of these texts; None for an erased one. One query."""
    rows = Blob.objects.filter(pk__in={key for key in keys if key})
    rows = rows.annotate(beginning=Substr("data", 1, BYTES, output_field=BinaryField()))
    found = rows.values_list("pk", "beginning", "erased")
    # The last character may be cut.
    return {pk: None if erased else bytes(data).decode("utf-8", "ignore") for pk, data, erased in found}


def texts_of(rows: Sequence[Write]) -> dict[int, Texts]:
    """By the primary keys of the rows. Five queries, however many rows."""
    contents = _contents(rows)
    named = {key for row in rows for key in (row.request_id, row.before_id, row.after_id)}
    blobs = beginnings([*named, *(key for items in contents.values() for _, key in items)])
    facts, files = _facts(rows), _files(rows)
    found = {}
    for row in rows:
        texts = found[row.pk] = Texts(list(_params(row)))
        texts.told += [("file", name) for name in files.get(row.pk, [])]
        texts.told += [("fact", text) for text in facts.get(row.pk, [])]
        labelled = [(label, getattr(row, f"{name}_id")) for name, label in BLOBS.items()]
        labelled += [("memory", key) for _, key in contents.get(row.pk, [])]
        for key, label in {key: label for label, key in reversed(labelled) if key}.items():
            text = blobs.get(key)
            texts.erased |= text is None
            texts.told += [(label, text)] if text else []
        texts.told += [("document", document) for document, _ in contents.get(row.pk, [])]
    return found


def _params(row: Write) -> Iterator[tuple[str, str]]:
    if row.error_text:
        yield "error", row.error_text
    for name in TOLD:
        yield from ((LABELS.get(name, name), text) for text in strings(row.params.get(name)))


def _facts(rows: Sequence[Write]) -> dict[int, list[str]]:
    """The texts of the facts that the rows name."""
    keys = {row.pk: row.facts_before_id for row in rows if row.fact_ids and row.facts_before_id}
    blobs = Blob.objects.filter(pk__in=set(keys.values()), erased=None, size__lt=FACTS_BYTES).in_bulk() if keys else {}
    found = {}
    for row in rows:
        blob = blobs.get(keys.get(row.pk) or "")
        try:
            facts = json.loads(blob.text) if blob else []
        except ValueError:
            facts = []
        named = set(row.fact_ids)
        listed = facts if isinstance(facts, list) else []
        found[row.pk] = [str(f.get("text", "")) for f in listed if isinstance(f, dict) and f.get("id") in named]
    return found


def _contents(rows: Sequence[Write]) -> dict[int, list[tuple[str, str]]]:
    """{row: (document id, key of its text) of the memories of its batch}"""
    found = defaultdict(list)
    if batches := [row.pk for row in rows if row.kind == "retain"]:
        items = RetainItem.objects.filter(write__in=batches).order_by("pk")
        for write, document, content in items.values_list("write", "document_id", "content")[:MEMORIES]:
            found[write].append((document, content))
    return found


def _files(rows: Sequence[Write]) -> dict[int, list[str]]:
    found = defaultdict(list)
    if sent := [row.pk for row in rows if row.kind == "retain-files"]:
        for write, name in RetainFile.objects.filter(write__in=sent).values_list("write", "name"):
            found[write].append(name)
    return found
