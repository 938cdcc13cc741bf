"""What the card of a memory says that is, or was, held for review and is no document yet."""

from dataclasses import dataclass

from banks.models import RetainItem
from banks.retain import holding
from reviews.models import ReviewEntry


@dataclass(frozen=True)
class Held:
    """`document`: the row of the document that it is to replace, or to be appended to; `first`: what has to be decided
    on before; `overtaken`: a newer text was sent past it."""

    item: RetainItem
    document: int | None
    first: int | None
    overtaken: bool

    @property
    def appends(self) -> bool:
        return self.item.update_mode == RetainItem.Mode.APPEND


def held_of(entry: ReviewEntry) -> Held | None:
    """None for a document. At most four queries."""
    item = entry.item
    if item is None:
        return None
    documents = ReviewEntry.objects.filter(bank=entry.bank_id, document_hash=item.document_hash)
    before = ReviewEntry.objects.filter(item__in=holding.earlier(item)).order_by("pk") if entry.held else None
    return Held(
        item,
        documents.values_list("pk", flat=True).first(),
        before.values_list("pk", flat=True).first() if before is not None else None,
        entry.held and holding.newer(item).exists(),
    )
