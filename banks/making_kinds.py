"""Making mental models through the door: from a seed, or one that was deleted. What is there is never changed by it."""

from banks.hindsight import Conflict, HindsightClient, ServerFault
from banks.mental import looking
from banks.model_kinds import Writing
from banks.models import Write
from banks.writes import Accepted, ChangedSinceDecided, Done, NotDone, StillWorking, Stuck, register

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
NOT_WRITTEN = (
    "The model was made, and the server could not write its text: {why} Refresh it when that is put right; making it "
    "again changes nothing."
)
NO_TEXT = "Made. The server found nothing to write from, so it has no text yet."
MADE = "Made, with its text."
MADE_UNSEEN = "Made. After an hour its text is still being written; the list of operations goes on watching it."
TAKEN = "Another model has this id now. It was not touched, and nothing was put back."


class _Making(Writing):
    """`request`: the question; `params`: also tags, max_tokens and trigger."""

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        write.outcome = {**write.outcome, "about": looking.id_of(write)}
        if not client.has_bank(write.bank.bank_id):
            return Stuck(NO_BANK)
        if looking.listed(client, write) is None:
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
                looking.id_of(write),
                name=str(params["name"]),
                source_query=write.request.text,
                tags=params.get("tags") or [],
                max_tokens=params.get("max_tokens"),
                trigger=params.get("trigger") or {},
            )
        except Conflict:
            if looking.listed(client, write) is None:
                raise
            return self.there(write) or Done({"said": THERE})
        except ServerFault:
            # Older servers say so of an id that exists; a server without a language model of one that it has just made.
            if looking.listed(client, write) is None:
                raise
            return Done({"said": MADE_WITH_FAULT})
        return Accepted({"operation": made.operation_id, "said": "Made; its text is being written."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        if looking.listed(client, write) is None:
            if write.outcome.get("operation"):
                return Done({"said": "It was made, and is not in the bank any more: somebody deleted it."})
            return NotDone()
        operation = looking.operation_of(client, write)
        if operation is not None and not operation.not_found and not operation.terminal:
            if looking.waited(write) > looking.FOLLOWED:
                return Done({"said": MADE_UNSEEN})
            return StillWorking({"said": f"Made; its text is {operation.status}."})
        if operation is not None and operation.failed:
            return Stuck(NOT_WRITTEN.format(why=operation.error or looking.SILENT))
        model = looking.read(client, write)
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
