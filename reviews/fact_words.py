"""By which words the archive finds a fact: its texts, its document's id and the reason; and by its reason alone."""

from collections.abc import Iterable
from typing import Any

from django.db.models import BinaryField, Q
from django.db.models.functions import Substr

from memadmin import fulltext
from memadmin.terms import CHARACTERS
from reviews.models import FactDecision

FACTS = fulltext.Index("reviews_fact_search", "decision_id")
REASONS = fulltext.Index("reviews_reason_search", "decision_id")
BYTES = 4 * CHARACTERS


def keep(pks: Iterable[int], model: Any = FactDecision) -> None:
    """Makes decisions findable by what they say now. Belongs into the transaction that changes them."""
    rows = (
        model.objects.filter(pk__in=list(pks))
        .annotate(was=_beginning("extracted__data"), now=_beginning("current__data"))
        .values_list("pk", "document_id", "reason", "was", "now")
    )
    found = list(rows)
    if not found:
        return
    FACTS.replace(
        [(pk, fulltext.parted([document, _text(now), _text(was), reason])) for pk, document, reason, was, now in found]
    )
    REASONS.replace([(pk, fulltext.parted([reason])) for pk, _, reason, _, _ in found])


def matching(query: str) -> Q:
    """The decisions in which all that was asked for occurs. Any string is a query; without a word nothing is found."""
    return _found(FACTS, query)


def reasons_matching(query: str) -> Q:
    return _found(REASONS, query)


def _found(index: fulltext.Index, query: str) -> Q:
    found = index.matching(query)
    return Q(pk__in=[]) if found is None else found


def _beginning(name: str) -> Substr:
    return Substr(name, 1, BYTES, output_field=BinaryField())


def _text(data: Any) -> str:
    return bytes(data or b"").decode("utf-8", "ignore")  # the last character may be cut
