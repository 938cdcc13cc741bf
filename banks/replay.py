"""A document's own retain parameters, so that an edit or a put-back changes the text and nothing else."""

from typing import Any

from banks.hindsight import Document, RetainItem


def retain_params_of(document: Document) -> dict[str, Any]:
    """What has to be sent again with this document: {timestamp, context, metadata, tags, entities, …}, JSON-ready.

    The server keeps the first item of a retain as `retain_params`: `timestamp` is called `event_date` there, and null
    means that the writer said "unset"; a missing key means that nobody said anything, and the server dated it.
    """
    kept = document.retain_params or {}
    params: dict[str, Any] = {
        "context": kept.get("context"),
        "metadata": document.metadata or kept.get("metadata") or {},
        "tags": list(document.tags),
        "entities": kept.get("entities"),
        "resolve_entities": kept.get("resolve_entities"),
        "observation_scopes": kept.get("observation_scopes"),
        "strategy": kept.get("strategy"),
    }
    if "event_date" in kept:
        params["timestamp"] = kept["event_date"] or "unset"
    elif document.created_at is not None:
        # Undated when it was written: the server dated it then. Without this an edit would move it to today.
        params["timestamp"] = document.created_at.isoformat()
    return {key: value for key, value in params.items() if value is not None}


def retain_item(*, document_id: str, text: str, params: dict[str, Any]) -> RetainItem:
    """One replacing retain of the whole text under its own id."""
    return RetainItem(
        content=text,
        document_id=document_id,
        timestamp=params.get("timestamp"),
        context=params.get("context"),
        metadata=dict(params.get("metadata") or {}),
        tags=list(params.get("tags") or []),
        entities=params.get("entities"),
        resolve_entities=params.get("resolve_entities"),
        observation_scopes=params.get("observation_scopes"),
        strategy=params.get("strategy"),
        update_mode="replace",
    )
