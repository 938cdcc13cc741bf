"""Rows of the write log for tests, and what a page of it shows."""

import re
from typing import Any

from django.test import Client

from banks import log_index
from banks.models import Bank, Write


def make_row(bank: Bank, document_id: str = "notes/a.md", *, indexed: bool = True, **values: Any) -> Write:
    """Stored as the product does it: noted down for the index, and by default in it."""
    write = Write.objects.create(
        **{
            "kind": "edit",
            "bank": bank,
            "via": "web",
            "state": "done",
            "document_id": document_id,
            "document_hash": Write.hash_of(document_id) if document_id else "",
            **values,
        }
    )
    log_index.note([(write.pk, write.fact_ids)])
    if indexed:
        log_index.sweep()
    return write


def rows_of(client: Client, query: str) -> list[int]:
    """The primary keys of the rows of a page, in its order."""
    answer = client.get(f"/log/{query}")
    assert answer.status_code == 200, (query, answer.status_code)
    return [int(pk) for pk in re.findall(r'class="entry-what"><a href="/log/(\d+)/"', answer.content.decode())]
