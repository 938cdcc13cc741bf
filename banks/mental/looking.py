"""What the kinds of writes about mental models look at: the model that a row means, and the work on its text."""

import hashlib
import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from banks.hindsight import HindsightClient, MentalModel, NotFound, Operation
from banks.models import Write
from banks.writes import Done, Stuck

WRITING = "refresh_mental_model"  # the server's name of the work
FOLLOWED = timedelta(hours=1)
# What makes a server refresh a model by itself; these values stop it.
STOPPED: dict[str, Any] = {"refresh_after_consolidation": False, "refresh_cron": None, "full_refresh_cron": None}
SILENT = "it does not say why."


def seen_of(model: MentalModel) -> str:
    """Stands for a model as it was on screen: its definition and its text."""
    values = [model.name, model.source_query, sorted(model.tags), model.max_tokens, dict(model.trigger or {})]
    text = json.dumps([*values, model.content], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def automatic(model: MentalModel) -> dict[str, Any]:
    """What makes the server refresh this model by itself; empty where nothing does."""
    trigger = model.trigger or {}
    return {name: trigger[name] for name, off in STOPPED.items() if trigger.get(name) not in (off, None)}


def id_of(write: Write) -> str:
    return str(write.params["model"])


def listed(client: HindsightClient, write: Write) -> MentalModel | None:
    """As the bank's list has it: what decides whether it is there. A bank that does not exist is NotFound."""
    models = client.all_mental_models(write.bank.bank_id)
    return next((each for each in models if each.id == id_of(write)), None)


def read(client: HindsightClient, write: Write) -> MentalModel | None:
    """None when the server says that there is no such model. Other troubles are raised."""
    try:
        return client.get_mental_model(write.bank.bank_id, id_of(write))
    except NotFound as error:
        if error.what != "model":
            raise
        return None


def gone(client: HindsightClient, write: Write) -> Done | Stuck:
    """A 404 counts only when the list confirms it."""
    if listed(client, write) is None:
        return Done({"already": True, "said": "It was gone."} if write.sent is None else {"said": "It is gone."})
    return Stuck("The server lists this model but does not find it by its id. It was not deleted.")


def operation_of(client: HindsightClient, write: Write) -> Operation | None:
    """The work that writes the text: the one we were told of, or one of this model that has not ended."""
    if told := write.outcome.get("operation"):
        return client.get_operation(write.bank.bank_id, str(told))
    found = client.list_operations(write.bank.bank_id, type=WRITING).items
    return next((each for each in found if each.model_id == id_of(write) and not each.terminal), None)


def stamps_of(model: MentalModel) -> list[str]:
    return [each.isoformat() if each else "" for each in (model.refreshed_at, model.failed_at)]


def hash_of(model: MentalModel) -> str:
    """Of its text alone."""
    return hashlib.sha256((model.content or "").encode("utf-8", "surrogatepass")).hexdigest()


def has_failed(model: MentalModel) -> bool:
    """Whether its latest refresh failed."""
    return model.failed_at is not None and (model.refreshed_at is None or model.failed_at > model.refreshed_at)


def waited(write: Write) -> timedelta:
    return timezone.now() - (write.sent or write.created)
