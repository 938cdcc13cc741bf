"""The tags of a document, and with it of its facts.

`params`: `tags`: all that it is to have; `was`: those that were on screen.
"""

from collections.abc import Iterable
from typing import Any

from banks.hindsight import DocumentRow, HindsightClient, NotFound
from banks.models import Write
from banks.writes import Accepted, ChangedSinceDecided, Done, Kind, NotDone, StillWorking, Stuck, register

GONE = "The document is no longer in the bank. Its tags were not changed."
CHANGED = "Its tags were changed since they were on screen. Nothing was sent; look at them and decide again."
SAID = 200  # characters of the tags that a list shows


@register
class SetTags(Kind):
    """Replaces them. Retired facts keep the old ones: no call of the server reaches those."""

    name, glyph, verb, past, tone = "tags", "#", "set tags", "tagged", "pending"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = _found(client, write)
        if same(found.tags, write.params["tags"]):
            return Done(_said(write))
        if not same(found.tags, write.params.get("was", [])):
            raise ChangedSinceDecided(CHANGED, {"tags": sorted(set(found.tags))})
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        try:
            client.set_document_tags(write.bank.bank_id, write.document_id, write.params["tags"])
        except NotFound as error:
            if error.what != "document":
                raise
            raise ChangedSinceDecided(GONE) from error
        found = _found(client, write)
        if not same(found.tags, write.params["tags"]):
            said = "The server said yes, and the document has other tags. Look at it."
            return Stuck(said, {"tags": sorted(set(found.tags))})
        return Done(_said(write))

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        found = _found(client, write)
        if same(found.tags, write.params["tags"]):
            return Done(_said(write))
        if not same(found.tags, write.params.get("was", [])):
            raise ChangedSinceDecided(f"No answer came to the change. {CHANGED}", {"tags": sorted(set(found.tags))})
        return NotDone()


def same(one: Iterable[str], other: Iterable[str]) -> bool:
    """Tags are a set to servers, which keep no order."""
    return set(one) == set(other)


def _found(client: HindsightClient, write: Write) -> DocumentRow:
    """By the list, which has the tags of every document, also of those that no server shows by their id."""
    found = client.find_document(write.bank.bank_id, write.document_id)
    if found is None:
        raise ChangedSinceDecided(GONE)
    return found


def _said(write: Write) -> dict[str, Any]:
    said = ", ".join(write.params["tags"]) or "none"
    return {"said": said if len(said) <= SAID else f"{said[: SAID - 1]}…"}
