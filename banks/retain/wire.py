"""From rows of the queue to what the server takes. Of a row it is always the same."""

from collections.abc import Sequence

from banks import hindsight
from banks.models import RetainItem


def wire_items(rows: Sequence[RetainItem]) -> list[hindsight.RetainItem]:
    """`rows` with their contents read."""
    return [_wire_item(row) for row in rows]


def _wire_item(row: RetainItem) -> hindsight.RetainItem:
    return hindsight.RetainItem(
        content=row.content.text,
        document_id=row.document_id,
        timestamp=row.timestamp,
        context=row.context,
        metadata=row.metadata,
        tags=row.tags,
        entities=row.entities,
        resolve_entities=row.resolve_entities,
        observation_scopes=row.observation_scopes,
        strategy=row.strategy or None,
        update_mode=row.update_mode,
    )
