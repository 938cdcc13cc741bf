"""What a retain takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from banks.hindsight.fields import aware


@dataclass(frozen=True, slots=True)
class RetainItem:
    """One document to store, with everything the server takes. `timestamp`: when it was said; the server takes now for
    None.

    metadata values must be text. `entities`: [{"text": …, "type": …}]; `resolve_entities` counts only together with
    them.
    """

    content: str
    document_id: str
    timestamp: datetime | str | None = None
    context: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    tags: Sequence[str] = ()
    entities: Sequence[Mapping[str, str]] | None = None
    resolve_entities: bool | None = None
    observation_scopes: Any = None
    strategy: str | None = None
    update_mode: str = "replace"

    def as_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "content": self.content,
            "document_id": self.document_id,
            "update_mode": self.update_mode,
        }
        if self.timestamp is not None:
            body["timestamp"] = self.timestamp if isinstance(self.timestamp, str) else aware(self.timestamp).isoformat()
        optional = {
            "context": self.context,
            "metadata": dict(self.metadata) or None,
            "tags": list(self.tags) or None,
            "entities": None if self.entities is None else [dict(entity) for entity in self.entities],
            "resolve_entities": self.resolve_entities,
            "observation_scopes": self.observation_scopes,
            "strategy": self.strategy,
        }
        return body | {key: value for key, value in optional.items() if value is not None}


def retain_body(
    items: Sequence[RetainItem], *, operation_id: UUID | str, document_tags: Sequence[str] = ()
) -> dict[str, Any]:
    """The request that hands over these items, to be stored in the background."""
    body: dict[str, Any] = {"items": [item.as_json() for item in items], "async": True}
    body["operation_id"] = str(operation_id)
    return body | ({"document_tags": list(document_tags)} if document_tags else {})
