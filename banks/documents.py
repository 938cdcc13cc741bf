"""How a document stands in its bank right now."""

from banks.hindsight import Document, HindsightClient, NotFound


def document_or_none(client: HindsightClient, bank_id: str, document_id: str) -> Document | None:
    """None when the server has no such document. A missing bank is an error (NotFound), not a missing document."""
    try:
        return client.get_document(bank_id, document_id)
    except NotFound as error:
        if error.what == "bank":
            raise
        return None
