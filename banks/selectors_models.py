"""What pages show of mental models: those of a bank, as its server tells of them now."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from banks.hindsight import HindsightClient, MentalModel, ModelChange, NotFound
from banks.hindsight.models import Detail
from banks.mental import looking
from banks.model_kinds import KINDS
from banks.models import Bank, ModelPin, Write
from banks.reading import Unread, reading

CALL_SECONDS = 2.5  # one call; a page makes two, and is there within five
MOST_LISTED = 1_000


@dataclass(frozen=True)
class ModelRow:
    """A model with what we know of it. `writing`: the status of the work that writes its text, "" when none does."""

    model: MentalModel
    writing: str = ""
    pin: ModelPin | None = None
    write: Write | None = None  # the act on it that is under way
    in_list: bool = True

    @property
    def failed(self) -> bool:
        """Its latest refresh failed; servers do not refresh such a model by themselves."""
        failed, refreshed = self.model.failed_at, self.model.refreshed_at
        return failed is not None and (refreshed is None or failed > refreshed)

    @property
    def state(self) -> str:
        """One word for what a person has to know first."""
        if self.writing:
            return "generating"
        if self.failed:
            return "failed"
        if not self.in_list and self.model.content is None:
            return "empty"
        return "stale" if self.model.stale else "current" if self.model.stale is False else "unknown"

    @property
    def addressable(self) -> bool:
        return "/" not in self.model.id and self.model.id not in ("", ".", "..")

    @property
    def by_itself(self) -> bool:
        return bool(looking.automatic(self.model))


@dataclass(frozen=True)
class Sheet:
    """All models of a bank, by name. `rows` None = could not be read, and `unread` says why."""

    rows: list[ModelRow] | None
    total: int = 0
    unread: Unread | None = None


@dataclass(frozen=True)
class Read:
    """One model as it is now; None where it could not be read."""

    row: ModelRow | None
    unread: Unread | None = None

    @property
    def gone(self) -> bool:
        return self.unread is not None and self.unread.face == "missing"

    @property
    def why(self) -> str:
        return self.unread.sentence if self.unread else ""


@dataclass(frozen=True)
class Version:
    """A text that the model had until `at`, and what came instead. `key`: its hash, for forms; `why`: of a failure."""

    at: datetime | None
    before: str | None
    after: str | None
    failed: bool
    why: str
    evidence: int | None
    key: str = ""


def sheet_of(bank: Bank, *, detail: Detail = "metadata") -> Sheet:
    """Light: texts are asked for with "content" alone."""
    try:
        with reading(bank, within=CALL_SECONDS) as client:
            page = client.first_mental_models(bank.bank_id, most=MOST_LISTED, detail=detail)
            writing = _writing(client, bank)
    except Unread as unread:
        return Sheet(None, unread=unread)
    pins, writes = pins_of(bank), acts_of(bank)
    rows = [
        ModelRow(model, writing.get(model.id, ""), pins.get(model.id), writes.get(model.id)) for model in page.items
    ]
    return Sheet(sorted(rows, key=lambda row: (row.model.name.casefold(), row.model.id)), page.total)


def read(bank: Bank, model_id: str, *, evidence: bool = False) -> Read:
    """With its text. `evidence`: also with what the text rests on, which may be megabytes."""
    try:
        with reading(bank, within=CALL_SECONDS) as client:
            found = client.get_mental_model(bank.bank_id, model_id, detail="full" if evidence else "content")
            writing = _writing(client, bank)
    except Unread as unread:
        return Read(None, unread)
    pin, write = pins_of(bank).get(model_id), acts_of(bank).get(model_id)
    return Read(ModelRow(found, writing.get(model_id, ""), pin, write, in_list=False))


def history_of(bank: Bank, model_id: str) -> list[Version]:
    """Newest first, with what each change replaced. Raises Unread."""
    with reading(bank, within=CALL_SECONDS) as client:
        now = client.get_mental_model(bank.bank_id, model_id).content
        return versions(now, client.mental_model_history(bank.bank_id, model_id))


def versions(now: str | None, changes: Iterable[ModelChange]) -> list[Version]:
    """The server tells what the text was before each change; what came instead is told by the change after it."""
    found, after = [], now
    for change in changes:
        key = ModelPin.hash_of(change.before) if change.before is not None else ""
        found.append(Version(change.at, change.before, after, change.failed, change.why, change.evidence, key))
        if not change.failed:
            after = change.before
    return found


def pins_of(bank: Bank) -> dict[str, ModelPin]:
    """By the id of the model, those that hold."""
    return {pin.model_id: pin for pin in ModelPin.objects.filter(bank=bank, ended=None).select_related("text")}


def acts_of(bank: Bank) -> dict[str, Write]:
    """By the id of the model, the latest act on it that is under way or waits for a person."""
    states = [*Write.OPEN, Write.State.ATTENTION, Write.State.CHANGED]
    rows = Write.objects.filter(bank=bank, kind__in=KINDS, state__in=states).order_by("pk")
    return {str(row.params.get("model")): row for row in rows}


def _writing(client: HindsightClient, bank: Bank) -> dict[str, str]:
    """{model: status} of the texts that are being written. Unknown where the server does not tell: then nothing."""
    try:
        found = client.list_operations(bank.bank_id, type=looking.WRITING).items
    except NotFound:
        return {}
    return {each.model_id: each.status for each in reversed(found) if not each.terminal and each.model_id}


def said(write: Write) -> str:
    """One line about an act on a model. Reads the outcome alone."""
    if write.kind not in KINDS:
        return ""
    return ": ".join(each for each in (str(write.outcome.get(name, "")) for name in ("about", "said")) if each)
