"""Mental models through the door: make one from a seed, put one back, refresh, delete, pin and unpin.

The server writes a text in the background and it may take much memory there, so of each bank at most one text that we
asked for is being written at a time: those writes share a slot. What is made already is never changed by making it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from banks.hindsight import Conflict, HindsightClient, MentalModel, NotFound, Operation, ServerFault
from banks.models import Bank, Role, Write
from banks.writes import Accepted, ChangedSinceDecided, Done, Kind, NotDone, StillWorking, Stuck, register
from banks.writes.kind import NO_PARAMS

WRITING = "refresh_mental_model"  # the server's name of the work
FOLLOWED = timedelta(hours=1)
# What makes a server refresh a model by itself; these values stop it.
STOPPED: dict[str, Any] = {"refresh_after_consolidation": False, "refresh_cron": None, "full_refresh_cron": None}

NO_BANK = (
    "This bank is not on its server. Nothing was sent, since that would have created an empty bank of that name. "
    "Create the bank first, or discard this."
)
THERE = "It was there already, and was left as it is."
IS_THERE = "It was made, and is there."
MADE_WITH_FAULT = (
    "The server answered with an error, and the model is there all the same. If it has no text, the server could not "
    "begin to write it: refresh it."
)
SILENT = "it does not say why."
NOT_WRITTEN = (
    "The model was made, and the server could not write its text: {why} Refresh it when that is put right; making it "
    "again changes nothing."
)
NO_TEXT = "Made. The server found nothing to write from, so it has no text yet."
MADE = "Made, with its text."
MADE_UNSEEN = "Made. After an hour its text is still being written; the list of operations goes on watching it."
TAKEN = "Another model has this id now. It was not touched, and nothing was put back."
GONE = "The model is not in the bank any more, so nothing was done."


def seen_of(model: MentalModel) -> str:
    """Stands for a model as it was on screen: its definition and its text."""
    values = [model.name, model.source_query, sorted(model.tags), model.max_tokens, dict(model.trigger or {})]
    text = json.dumps([*values, model.content], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def automatic(model: MentalModel) -> dict[str, Any]:
    """What makes the server refresh this model by itself; empty where nothing does."""
    trigger = model.trigger or {}
    return {name: trigger[name] for name, off in STOPPED.items() if trigger.get(name) not in (off, None)}


class _OnModel(Kind):
    """`params`: model (its id), name, and what the act needs."""

    role = Role.ADMIN

    def slot(
        self, *, bank: Bank, document_id: str, fact_ids: Sequence[str] = (), params: Mapping[str, Any] = NO_PARAMS
    ) -> str:
        return hashlib.sha256(f"model\0{bank.pk}\0{params['model']}".encode("utf-8", "surrogatepass")).hexdigest()


class _Writing(_OnModel):
    """Has the server write a text."""

    def slot(self, *, bank: Bank, **about: object) -> str:
        return hashlib.sha256(f"models\0{bank.pk}".encode()).hexdigest()


class _Making(_Writing):
    """`request`: the question; `params`: also tags, max_tokens and trigger."""

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        write.outcome = {**write.outcome, "about": _id(write)}
        if not client.has_bank(write.bank.bank_id):
            return Stuck(NO_BANK)
        if _listed(client, write) is None:
            return None
        return Done({"said": IS_THERE}) if write.outcome.get("operation") else self.there(write)

    def there(self, write: Write) -> Done | Stuck | None:
        """What it means that a model of this id is in the bank before anything was sent."""
        raise NotImplementedError

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        params = write.params
        assert write.request is not None
        try:
            made = client.create_mental_model(
                write.bank.bank_id,
                _id(write),
                name=str(params["name"]),
                source_query=write.request.text,
                tags=params.get("tags") or [],
                max_tokens=params.get("max_tokens"),
                trigger=params.get("trigger") or {},
            )
        except Conflict:
            if _listed(client, write) is None:
                raise
            return self.there(write) or Done({"said": THERE})
        except ServerFault:
            # Older servers say so of an id that exists; a server without a language model of one that it has just made.
            if _listed(client, write) is None:
                raise
            return Done({"said": MADE_WITH_FAULT})
        return Accepted({"operation": made.operation_id, "said": "Made; its text is being written."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        if _listed(client, write) is None:
            if write.outcome.get("operation"):
                return Done({"said": "It was made, and is not in the bank any more: somebody deleted it."})
            return NotDone()
        operation = _operation(client, write)
        if operation is not None and not operation.not_found and not operation.terminal:
            if _waited(write) > FOLLOWED:
                return Done({"said": MADE_UNSEEN})
            return StillWorking({"said": f"Made; its text is {operation.status}."})
        if operation is not None and operation.failed:
            return Stuck(NOT_WRITTEN.format(why=operation.error or SILENT))
        model = _read(client, write)
        return Done({"said": MADE if model is not None and model.content else NO_TEXT})


@register
class Seeded(_Making):
    """From a seed, where there is no model of its id. `params`: also seed."""

    name, glyph, verb, past, tone = "seed", "+", "seed", "seeded", "approved"

    def there(self, write: Write) -> Done | Stuck | None:
        return Done({"already": True, "said": THERE})


@register
class PutModelBack(_Making):
    """A deleted model under its old id; the server writes its text anew, from what the bank holds now."""

    name, glyph, verb, past, tone = "model-put-back", "↑", "put model back", "model put back", "retired"

    def there(self, write: Write) -> Done | Stuck | None:
        raise ChangedSinceDecided(TAKEN)


@register
class RefreshModel(_Writing):
    name, glyph, verb, past, tone = "model-refresh", "↻", "refresh model", "model refreshed", "pending"
    role = Role.REVIEWER

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = _read(client, write)
        write.outcome = {**write.outcome, "about": _id(write)}
        if found is None:
            return Stuck(GONE)
        write.outcome["stamps"] = _stamps(found)
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        try:
            operation = client.refresh_mental_model(write.bank.bank_id, _id(write))
        except NotFound as error:
            if error.what != "model":
                raise
            return Stuck(GONE)
        return Accepted({"operation": operation, "said": "The server writes it anew."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        model = _read(client, write)
        if model is None:
            return Done({"said": "The model was deleted meanwhile."})
        operation = _operation(client, write)
        if operation is not None and not operation.not_found and not operation.terminal:
            if _waited(write) > FOLLOWED:
                said = f"After an hour it is {operation.status}; the list of operations goes on watching it."
                return Done({"said": said})
            return StillWorking({"said": f"Its text is {operation.status}."})
        if operation is not None and operation.failed:
            return Stuck(f"The server could not write it: {operation.error or SILENT} The old text stays.")
        before = write.outcome.get("stamps")
        if _stamps(model) == before:
            return Done({"said": "It ended, and the text is as it was."}) if operation is not None else NotDone()
        if _failed(model):
            return Stuck("The server refused to store what it wrote; the old text stays. The model's history says why.")
        return Done({"said": "Written anew."})


@register
class DeleteModel(_OnModel):
    """`before`: its text; `params`: also its definition, so that it can be put back."""

    name, glyph, verb, past, tone = "model-delete", "✕", "delete model", "model deleted", "danger"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = _read(client, write)
        write.outcome = {**write.outcome, "about": _id(write)}
        if found is None:
            return _gone(client, write)
        if write.decided_hash and seen_of(found) != write.decided_hash:
            raise ChangedSinceDecided(
                "The model was written anew, or changed, after the decision. It was not deleted; look at it and decide "
                "again."
            )
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done:
        try:
            client.delete_mental_model(write.bank.bank_id, _id(write))
        except NotFound as error:
            if error.what != "model":
                raise
        return Done({"said": "The server keeps nothing of it; this row does."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        return _gone(client, write) if _read(client, write) is None else NotDone()


class _Triggering(_OnModel):
    """Changes what refreshes a model by itself, and nothing else of it."""

    def wanted(self, write: Write) -> dict[str, Any]:
        raise NotImplementedError

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = _read(client, write)
        write.outcome = {**write.outcome, "about": _id(write)}
        if found is None:
            return Stuck(GONE)
        write.outcome["automatic"] = automatic(found)
        return Done({"said": "Nothing had to be sent."}) if self._holds(found, write) else None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        now = client.patch_mental_model(write.bank.bank_id, _id(write), {"trigger": self.wanted(write)})
        if not self._holds(now, write):
            return Stuck("The server said yes and did not keep it. Nothing else was changed.")
        return Done({"said": "The server keeps it so."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        found = _read(client, write)
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
        return STOPPED


@register
class UnpinModel(_Triggering):
    """Lets the server refresh it again as it did before. `params`: also automatic."""

    name, glyph, verb, past, tone = "model-unpin", "○", "unpin model", "model unpinned", "none"

    def wanted(self, write: Write) -> dict[str, Any]:
        return dict(write.params.get("automatic") or {})


KINDS = ("seed", "model-put-back", "model-refresh", "model-delete", "model-pin", "model-unpin")


def _id(write: Write) -> str:
    return str(write.params["model"])


def _listed(client: HindsightClient, write: Write) -> MentalModel | None:
    """As the bank's list has it: what decides whether it is there. A bank that does not exist is NotFound."""
    models = client.all_mental_models(write.bank.bank_id)
    return next((each for each in models if each.id == _id(write)), None)


def _read(client: HindsightClient, write: Write) -> MentalModel | None:
    """None when the server says that there is no such model. Other troubles are raised."""
    try:
        return client.get_mental_model(write.bank.bank_id, _id(write))
    except NotFound as error:
        if error.what != "model":
            raise
        return None


def _gone(client: HindsightClient, write: Write) -> Done | Stuck:
    """A 404 counts only when the list confirms it."""
    if _listed(client, write) is None:
        return Done({"already": True, "said": "It was gone."} if write.sent is None else {"said": "It is gone."})
    return Stuck("The server lists this model but does not find it by its id. It was not deleted.")


def _operation(client: HindsightClient, write: Write) -> Operation | None:
    """The work that writes the text: the one we were told of, or one of this model that has not ended."""
    if told := write.outcome.get("operation"):
        return client.get_operation(write.bank.bank_id, str(told))
    found = client.list_operations(write.bank.bank_id, type=WRITING).items
    return next((each for each in found if each.model_id == _id(write) and not each.terminal), None)


def _stamps(model: MentalModel) -> list[str]:
    return [each.isoformat() if each else "" for each in (model.refreshed_at, model.failed_at)]


def _failed(model: MentalModel) -> bool:
    """Whether its latest refresh failed."""
    return model.failed_at is not None and (model.refreshed_at is None or model.failed_at > model.refreshed_at)


def _waited(write: Write) -> timedelta:
    return timezone.now() - (write.sent or write.created)
