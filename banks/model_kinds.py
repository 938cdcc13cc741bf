"""Mental models through the door: refresh, delete, pin and unpin. Making them: `making_kinds`.

The server writes a text in the background and it may take much memory there, so of each bank at most one text that we
asked for is being written at a time: those writes share a slot.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from banks.hindsight import HindsightClient, MentalModel, NotFound
from banks.mental import looking
from banks.models import Bank, Role, Write
from banks.writes import Accepted, ChangedSinceDecided, Done, Kind, NotDone, StillWorking, Stuck, register
from banks.writes.kind import NO_PARAMS

SAME = "The server looked anew, and left the text as it was: it found nothing else to say."
GONE = "The model is not in the bank any more, so nothing was done."


class _OnModel(Kind):
    """`params`: model (its id), name, and what the act needs."""

    role = Role.ADMIN

    def slot(
        self, *, bank: Bank, document_id: str, fact_ids: Sequence[str] = (), params: Mapping[str, Any] = NO_PARAMS
    ) -> str:
        return hashlib.sha256(f"model\0{bank.pk}\0{params['model']}".encode("utf-8", "surrogatepass")).hexdigest()


class Writing(_OnModel):
    """Has the server write a text."""

    def slot(self, *, bank: Bank, **about: object) -> str:
        return hashlib.sha256(f"models\0{bank.pk}".encode()).hexdigest()


@register
class RefreshModel(Writing):
    name, glyph, verb, past, tone = "model-refresh", "↻", "refresh model", "model refreshed", "pending"
    role = Role.REVIEWER

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = looking.read(client, write)
        write.outcome = {**write.outcome, "about": looking.id_of(write)}
        if found is None:
            return Stuck(GONE)
        write.outcome |= {"stamps": looking.stamps_of(found), "text": looking.hash_of(found)}
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        try:
            operation = client.refresh_mental_model(write.bank.bank_id, looking.id_of(write))
        except NotFound as error:
            if error.what != "model":
                raise
            return Stuck(GONE)
        return Accepted({"operation": operation, "said": "The server writes it anew."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        model = looking.read(client, write)
        if model is None:
            return Done({"said": "The model was deleted meanwhile."})
        operation = looking.operation_of(client, write)
        if operation is not None and not operation.not_found and not operation.terminal:
            if looking.waited(write) > looking.FOLLOWED:
                said = f"After an hour it is {operation.status}; the list of operations goes on watching it."
                return Done({"said": said})
            return StillWorking({"said": f"Its text is {operation.status}."})
        if operation is not None and operation.failed:
            return Stuck(f"The server could not write it: {operation.error or looking.SILENT} The old text stays.")
        before = write.outcome.get("stamps")
        if looking.stamps_of(model) == before:
            return Done({"said": "It ended, and the text is as it was."}) if operation is not None else NotDone()
        if looking.has_failed(model):
            return Stuck("The server refused to store what it wrote; the old text stays. The model's history says why.")
        same = looking.hash_of(model) == write.outcome.get("text")
        return Done({"said": SAME if same else "Written anew."})


@register
class DeleteModel(_OnModel):
    """`before`: its text; `params`: also its definition, so that it can be put back."""

    name, glyph, verb, past, tone = "model-delete", "✕", "delete model", "model deleted", "danger"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = looking.read(client, write)
        write.outcome = {**write.outcome, "about": looking.id_of(write)}
        if found is None:
            return looking.gone(client, write)
        if write.decided_hash and looking.seen_of(found) != write.decided_hash:
            raise ChangedSinceDecided(
                "The model was written anew, or changed, after the decision. It was not deleted; look at it and decide "
                "again."
            )
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done:
        try:
            client.delete_mental_model(write.bank.bank_id, looking.id_of(write))
        except NotFound as error:
            if error.what != "model":
                raise
        return Done({"said": "The server keeps nothing of it; this row does."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        return looking.gone(client, write) if looking.read(client, write) is None else NotDone()


class _Triggering(_OnModel):
    """Changes what refreshes a model by itself, and nothing else of it."""

    def wanted(self, write: Write) -> dict[str, Any]:
        raise NotImplementedError

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = looking.read(client, write)
        write.outcome = {**write.outcome, "about": looking.id_of(write)}
        if found is None:
            return Stuck(GONE)
        # A second look may find what the first send did.
        write.outcome["automatic"] = write.outcome.get("automatic") or looking.automatic(found)
        return Done({"said": "Nothing had to be sent."}) if self._holds(found, write) else None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        now = client.patch_mental_model(write.bank.bank_id, looking.id_of(write), {"trigger": self.wanted(write)})
        if not self._holds(now, write):
            return Stuck("The server said yes and did not keep it. Nothing else was changed.")
        return Done({"said": "The server keeps it so."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        found = looking.read(client, write)
        if found is None:
            return Stuck(GONE)
        return Done({"said": "The server keeps it so."}) if self._holds(found, write) else NotDone()

    def _holds(self, model: MentalModel, write: Write) -> bool:
        trigger = model.trigger or {}
        return all((trigger.get(name) or None) == (value or None) for name, value in self.wanted(write).items())


@register
class PinModel(_Triggering):
    """Stops the server's own refreshes; what did it before stands in the outcome. The pinned text is ours to keep."""

    name, glyph, verb, past, tone = "model-pin", "◉", "pin model", "model pinned", "retired"

    def wanted(self, write: Write) -> dict[str, Any]:
        return looking.STOPPED


@register
class UnpinModel(_Triggering):
    """Lets the server refresh it again as it did before. `params`: also automatic."""

    name, glyph, verb, past, tone = "model-unpin", "○", "unpin model", "model unpinned", "none"

    def wanted(self, write: Write) -> dict[str, Any]:
        return dict(write.params.get("automatic") or {})


KINDS = ("seed", "model-put-back", "model-refresh", "model-delete", "model-pin", "model-unpin")
