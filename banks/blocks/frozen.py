"""The block about a person, frozen for an epoch: what an agent was given at its beginning it is given to its end.

An agent names its epoch, such as a session or what follows a compaction, and asks as often as it likes. What is stated
and what a model says is read at once; a recall may take its time, so a worker asks. Where the bank cannot be read, the
block of the epoch before stands for this one too and says so; where there is none, nothing is frozen and nothing given.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from banks import access, jobs, writes
from banks.blocks import agents, markers, profile, readings
from banks.blocks.lengths import units
from banks.blocks.markers import Marker
from banks.blocks.profile import Profile, Stated
from banks.blocks.readings import GONE
from banks.hindsight import Fact, HindsightClient, NotFound, Recall
from banks.hindsight.walking import first_rows
from banks.mental.acts import texts_of
from banks.models import Bank, FrozenBlock, Job, Role, Write
from banks.reading import Unread, reading
from memadmin.accounts.models import User

KIND = "user-block"
MOST_FACTS = 1_000  # of a bank that are looked at, those mentioned last
RECALL_SECONDS = 30.0
NOT_AGAIN = timedelta(seconds=10)  # a recall that failed
KEPT, AT_ONCE = timedelta(days=30), 5_000
WORK_KEPT = timedelta(days=1)  # once it has ended: from then on the block tells all
NO_RIGHT = "You may not read this bank any more."


class NotRecalled(Exception):
    """The recall failed, and there is no earlier block; str() says why."""


@dataclass(frozen=True)
class Told:
    """About a block: how many facts are in it, did not fit, were not looked at; whether a model's text was cut."""

    facts: int = 0
    left_out: int = 0
    unlisted: int = 0
    shortened: bool = False
    reason: str = ""

    @property
    def why(self) -> str:
        return profile.WHY.get(self.reason, "")


def told_of(block: FrozenBlock) -> Told:
    return Told(**block.told)


def chars_of(block: FrozenBlock) -> int:
    return units(block.text)


def age_of(block: FrozenBlock) -> int:
    """Seconds."""
    return max(int((timezone.now() - block.read_at).total_seconds()), 0)


def block_for(*, user: User, bank: Bank, marker: Marker, epoch: str) -> FrozenBlock | Job:
    """That of this epoch: made now where it is new, or the job that makes it.

    Raises Http404 for strangers, and Unread or NotRecalled where the bank cannot be read and never was.
    """
    access.require(user, bank, Role.VIEWER)
    key = _key(user, bank, marker, _hash(epoch))
    frozen = FrozenBlock.objects.filter(**key).first()
    if frozen is not None:
        return frozen
    if marker.kind == "query":
        return _asked(user, bank, marker, key)
    try:
        made, unlisted = read(bank, marker)
    except Unread as unread:
        return _as_before(key, unread)
    return _freeze(key, made, unlisted)


def read(bank: Bank, marker: Marker) -> tuple[Profile, int]:
    """What the bank says now, and how many facts were not looked at; not for a query. Raises Unread."""
    with reading(bank) as client:
        if marker.kind == "model":
            return _of_model(client, bank, marker.value), 0
        page = first_rows(
            lambda offset, limit: client.list_facts(bank.bank_id, type="world", limit=limit, offset=offset),
            lambda row: row.id,
            most=MOST_FACTS,
            at_once=MOST_FACTS,
        )
    stated = sorted(_stated(page.items), key=lambda each: each.id)
    return profile.of_facts(stated), max(page.total - len(page.items), 0)


def recall(bank: Bank, marker: Marker) -> Profile:
    """What the bank recalls for a query: valid facts alone, the best first. May take its time. Raises Unread."""
    with reading(bank, within=RECALL_SECONDS) as client:
        hits = client.recall(bank.bank_id, Recall(marker.value, types=["world"]))
    return profile.of_facts(_stated(hit.fact for hit in hits), "query", limit=marker.limit)


def forget() -> int:
    """Idempotent. What nobody can need any more goes, with the work that made it. Returns how many blocks went."""
    now = timezone.now()
    ended = Job.objects.filter(kind=KIND, state__in=Job.ENDED, finished__lt=now - WORK_KEPT)
    Job.objects.filter(pk__in=list(ended.values_list("pk", flat=True)[:AT_ONCE])).delete()
    old = FrozenBlock.objects.filter(created__lt=now - KEPT).order_by("created")
    pks = list(old.values_list("pk", flat=True)[:AT_ONCE])
    return FrozenBlock.objects.filter(pk__in=pks).delete()[0] if pks else 0


@writes.after("bank-delete")
def _forget_bank(write: Write) -> None:
    """What it said is not said any more, and stands for nothing that the next bank of its id cannot say."""
    if write.state != Write.State.DONE:
        return
    FrozenBlock.objects.filter(bank=write.bank_id).delete()
    bank = write.bank
    transaction.on_commit(lambda: readings.forget(bank, agents.READING), robust=True)


def _of_model(client: HindsightClient, bank: Bank, model_id: str) -> Profile:
    try:
        found = client.get_mental_model(bank.bank_id, model_id)
    except NotFound as error:
        if error.what != "model":
            raise
        return Profile("", reason="no-model")
    return profile.of_model(model_id, texts_of(bank).get(model_id, found.content))


def _key(user: User, bank: Bank, marker: Marker, epoch_hash: str) -> dict[str, Any]:
    return {"owner": user, "bank": bank, "marker_hash": _hash(str(marker)), "epoch_hash": epoch_hash}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _freeze(key: dict[str, Any], made: Profile, unlisted: int = 0) -> FrozenBlock:
    """Of two at once the first one's stands, for both."""
    told = Told(made.facts, made.left_out, unlisted, made.shortened, made.reason)
    values = {"text": made.text, "told": asdict(told), "read_at": timezone.now()}
    return FrozenBlock.objects.get_or_create(**key, defaults=values)[0]


def _as_before(key: dict[str, Any], unread: Unread) -> FrozenBlock:
    """Raises Unread where the latest epoch has no text either: nothing is said of a bank that was not read."""
    rows = FrozenBlock.objects.filter(**{name: value for name, value in key.items() if name != "epoch_hash"})
    before = rows.order_by("-pk").first()
    if before is None or not before.text or unread.face in GONE:
        raise unread
    values = {"text": before.text, "told": before.told, "read_at": before.read_at, "stale": unread.title}
    return FrozenBlock.objects.get_or_create(**key, defaults=values)[0]


def _asked(user: User, bank: Bank, marker: Marker, key: dict[str, Any]) -> Job:
    """The job that recalls, one for each epoch; after one that failed another, but not at once."""
    params: dict[str, Any] = {"bank": bank.pk, "marker": str(marker), "epoch": key["epoch_hash"]}
    same = Job.objects.filter(kind=KIND, owner=user, **{f"params__{name}": value for name, value in params.items()})
    job = same.order_by("-pk").first()
    if job is not None and not job.ended:
        return job
    if job is not None and job.state != Job.State.DONE and _lately(job.finished):
        raise NotRecalled(job.error)
    return jobs.start(kind=KIND, owner=user, title=f"User block of {bank}", params=params)


def _lately(moment: datetime | None) -> bool:
    return moment is not None and timezone.now() - moment < NOT_AGAIN


def _run(run: jobs.Run) -> dict[str, Any]:
    person = jobs.person_of(run.job)
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    if bank is None or access.role_on(person, bank) is None:
        raise jobs.JobError(NO_RIGHT)
    marker = markers.read(run.params["marker"])
    key = _key(person, bank, marker, run.params["epoch"])
    try:
        made = recall(bank, marker)
    except Unread as unread:
        try:
            return {"block": _as_before(key, unread).pk}
        except Unread:
            raise jobs.JobError(unread.sentence) from unread
    with run.step(done=1, cursor={"at": 1}, total=1):
        frozen = _freeze(key, made)
    return {"block": frozen.pk}


def _stated(facts: Iterable[Fact]) -> list[Stated]:
    return [Stated(each.id, each.text) for each in facts if each.type == "world" and not each.is_retired]


jobs.register(KIND, _run)
