"""The kinds of writes this product brings to the door: what is sent, and how we see that it happened."""

from typing import Any

from banks.documents import document_or_none
from banks.hindsight import Document, HindsightClient, HindsightError, NotFound, RetainItem
from banks.models import Write
from banks.replay import retain_item
from banks.writes import Accepted, ChangedSinceDecided, Done, Kind, NotDone, StillWorking, Stuck, register

NO_BANK = (
    "This bank is no longer on its server. Nothing was sent, since that would have created an empty bank of that name; "
    "the text is in this row. Create the bank again, or discard this."
)


@register
class Approve(Kind):
    name, glyph, verb, past, tone = "approve", "✓", "approve", "approved", "approved"
    sends = False


@register
class Vouch(Kind):
    """The first of two people approved."""

    name, glyph, verb, past, tone = "vouch", "✓", "vouch", "vouched for", "approved"
    sends = False


@register
class Undo(Kind):
    name, glyph, verb, past, tone = "undo", "↻", "undo", "taken back", "none"
    sends = False


@register
class Reopen(Kind):
    """The bank holds something else than what was decided."""

    name, glyph, verb, past, tone = "reopen", "↻", "reopen", "opened again", "attention"
    sends = False


@register
class Gone(Kind):
    """A person closed what the bank no longer has."""

    name, glyph, verb, past, tone = "gone", "○", "close as gone", "closed as gone", "none"
    sends = False


@register
class Reveal(Kind):
    """Somebody looked at the secrets of a text, which pages mask."""

    name, glyph, verb, past, tone = "reveal", "◉", "reveal secrets", "revealed secrets", "attention"
    sends = False


@register
class DismissMark(Kind):
    """A person says that what screening marked is no risk. `params`: kind, why, note."""

    name, glyph, verb, past, tone = "dismiss-mark", "○", "dismiss mark", "dismissed a mark", "none"
    sends = False


@register
class Export(Kind):
    """Somebody took all documents and facts of the bank out as a file."""

    name, glyph, verb, past, tone = "export", "⇩", "export", "exported", "none"
    sends = False


@register
class Delete(Kind):
    """The bank forgets the document and its facts. Done only on 2xx, or on a 404 that the list confirms."""

    name, glyph, verb, past, tone = "delete", "✕", "delete", "deleted", "danger"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = document_or_none(client, write.bank.bank_id, write.document_id)
        if found is None:
            return _gone(client, write)
        if write.decided_hash and found.content_hash != write.decided_hash:
            raise ChangedSinceDecided(
                "The document was written again after the decision. It was not deleted; look at it and decide again.",
                {"content_hash": found.content_hash},
            )
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done:
        try:
            deleted = client.delete_document(write.bank.bank_id, write.document_id)
        except NotFound as error:
            # Between our read and the call somebody else may have deleted it: the list decides, not the 404.
            if error.what == "bank" or client.find_document(write.bank.bank_id, write.document_id) is not None:
                raise
            return Done({"already_gone": True, **_left(client, write)})
        return Done({"units_deleted": deleted.units_deleted, **_left(client, write)})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        found = document_or_none(client, write.bank.bank_id, write.document_id)
        if found is None:
            return _gone(client, write)
        if write.decided_created and found.created_at and found.created_at > write.decided_created:
            return Done({"came_back": True})  # it was deleted, and somebody retained it again
        if write.decided_hash and found.content_hash != write.decided_hash:
            raise ChangedSinceDecided(
                "No answer came to the delete, and the document has been written again since. Look and decide again.",
                {"content_hash": found.content_hash},
            )
        return NotDone()


class _Retaining(Kind):
    """What edit and put-back share: one document retained under its own id, then watched until it is visible."""

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done:
        retained = client.retain(write.bank.bank_id, [self.item(write)], operation_id=write.operation_id)
        outcome: dict[str, Any] = {"operation": retained.operation_id}
        if retained.ignored_params:
            outcome["ignored"] = list(retained.ignored_params)
        return Accepted(outcome)

    def item(self, write: Write) -> RetainItem:
        assert write.request is not None
        return retain_item(document_id=write.document_id, text=write.request.text, params=write.params)

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        operation = client.get_operation(write.bank.bank_id, str(write.operation_id))
        if operation.status == "not_found":
            # Never arrived, or its row was cleaned up: the document itself tells.
            return _landed(client, write) or NotDone()
        if not operation.terminal:
            told = {"server_says": operation.error} if operation.error else {}
            return StillWorking({**told, "status": operation.status})
        if operation.status == "completed":
            return _landed(client, write) or Stuck(
                "The server says it is done, but the document does not hold the text that was sent. "
                "Nothing of yours is lost: the text is in this row.",
                {"status": operation.status},
            )
        errors = [f"{child.id}: {child.error or child.status}" for child in operation.children if child.error]
        said = "; ".join(errors) or operation.error or operation.status
        return Stuck(
            f"The server ended it as {operation.status}: {said} The document is as it was before; "
            "your text is in this row.",
            {"status": operation.status, "children": errors},
        )


@register
class Edit(_Retaining):
    """The whole text is retained again under the same id, with the document's own retain parameters."""

    name, glyph, verb, past, tone = "edit", "✎", "edit", "edited", "pending"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = document_or_none(client, write.bank.bank_id, write.document_id)
        if found is None:
            raise ChangedSinceDecided("The document is no longer in the bank. Your text is in this row.")
        if _is_ours(found, write):
            return _done(found)
        if write.decided_hash and found.content_hash != write.decided_hash:
            raise ChangedSinceDecided(
                "The document was written again while you edited. Nothing was overwritten; your text is in this row.",
                {"content_hash": found.content_hash},
            )
        _keep_tags(found, write)
        return None


@register
class PutBack(_Retaining):
    """A deleted document from our stored text, with its old retain parameters. Its facts get new ids."""

    name, glyph, verb, past, tone = "put-back", "↑", "put back", "put back", "retired"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = document_or_none(client, write.bank.bank_id, write.document_id)
        if found is None:
            # A retain creates the bank when there is none, and nobody asked for that.
            return None if client.has_bank(write.bank.bank_id) else Stuck(NO_BANK)
        if _is_ours(found, write):
            return _done(found)
        raise ChangedSinceDecided("Another document has this id now. It was not overwritten.")


def _keep_tags(found: Document, write: Write) -> None:
    """An edit changes the text alone, and tags change without it: those that are there now are sent with it."""
    if set(write.params.get("tags") or []) != set(found.tags):
        write.params = {**write.params, "tags": list(found.tags)}
        Write.objects.filter(pk=write.pk, claim=write.claim).update(params=write.params)


def _gone(client: HindsightClient, write: Write) -> Done | Stuck:
    """A document-level 404 counts only when the list confirms it."""
    if client.find_document(write.bank.bank_id, write.document_id) is None:
        how = {"already_gone": True} if write.sent is None else {"confirmed_by": "list"}
        return Done({**how, **_left(client, write)})
    return Stuck(
        "The server lists this document but does not find it by its id: it is not addressable on this server. "
        "It was not deleted."
    )


def _left(client: HindsightClient, write: Write) -> dict[str, Any]:
    """How many facts of the deleted document the bank still lists; "unknown" when it could not be asked."""
    bank_id, document_id = write.bank.bank_id, write.document_id
    try:
        pages = [client.list_facts(bank_id, document_id=document_id, state=state) for state in ("valid", "invalidated")]
    except HindsightError:
        return {"facts_left": "unknown"}
    left = sum(fact.document_id == document_id for page in pages for fact in page.items)
    return {"facts_left": left} if left else {}


def _is_ours(found: Document, write: Write) -> bool:
    return write.request is not None and found.text == write.request.text


def _landed(client: HindsightClient, write: Write) -> Done | None:
    found = document_or_none(client, write.bank.bank_id, write.document_id)
    return _done(found) if found is not None and _is_ours(found, write) else None


def _done(found: Document) -> Done:
    return Done({"content_hash": found.content_hash, "facts": found.fact_count, "zero_facts": found.fact_count == 0})
