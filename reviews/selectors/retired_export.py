"""The archive as rows of a file, one by one."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from banks.secrets.masking import masked
from reviews.models import FactDecision

CHUNK = 200
FIELDS = [
    *("id", "server", "bank", "document_id", "fact_id", "list", "verdict", "reason", "at", "by", "via", "origin"),
    *("applied_again", "restored_at", "gone_since", "text", "text_as_extracted"),
]


def rows(decisions: QuerySet[FactDecision]) -> Iterator[dict[str, Any]]:
    """Oldest first. `text_as_extracted`: where a person gave it another one."""
    found = decisions.select_related("bank__server", "extracted", "current").order_by("pk")
    for each in found.iterator(chunk_size=CHUNK):
        was, now = each.extracted, each.current
        yield {
            "id": each.pk,
            "server": each.bank.server.name,
            "bank": each.bank.bank_id,
            "document_id": each.document_id,
            "fact_id": each.fact_id,
            "list": each.shelf,
            "verdict": each.verdict,
            "reason": each.reason,
            "at": each.at,
            "by": each.user_name,
            "via": each.via,
            "origin": each.origin,
            "applied_again": each.again,
            "restored_at": each.restored_at,
            "gone_since": each.gone_since,
            "text": None if (now or was).erased else masked((now or was).text),
            "text_as_extracted": None if now is None or was.erased else masked(was.text),
        }
