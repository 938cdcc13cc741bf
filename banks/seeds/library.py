"""The seeds there are: those built in, which nobody changes here, and the team's own. Nothing here calls a server."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import IntegrityError, transaction

from banks.models import AdminEvent, Seed
from banks.seeds.builtin import BUILT_IN
from banks.seeds.shape import NotASeed, SeedSpec, checked
from banks.services import events
from banks.services.refusal import ChangedMeanwhile, Refusal, differences, fingerprint
from memadmin.accounts.models import User

What = AdminEvent.What
MOST = 200  # of the team's own
FILE_BYTES = 1_000_000
FORMAT = "memadmin-seeds"
CHANGED = "Somebody changed this seed meanwhile. Nothing of yours was stored."
TAKEN = "There is a seed of this id."
BUILT_IN_ID = "This is the id of a seed that is built in. Give yours another one."
FULL = f"There are {MOST} seeds of your own already. Remove one first."


@dataclass(frozen=True)
class Imported:
    """`same`: ids that stand here just so; `other`: ids that stand here with other values, which were left alone."""

    added: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


class NotAFile(ValueError):
    """The file is no list of seeds; nothing was stored. `problems`: what is wrong, in the order of the file."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


def every() -> list[SeedSpec]:
    """Those built in, then the team's own by id. One query."""
    return [*BUILT_IN, *(spec_of(row) for row in Seed.objects.all())]


def spec_of(row: Seed) -> SeedSpec:
    return SeedSpec(
        id=row.seed_id,
        name=row.name,
        source_query=row.source_query,
        scopes=tuple(row.scopes),
        project_tagged=row.project_tagged,
        extra_tags=tuple(row.extra_tags),
        max_tokens=row.max_tokens,
        trigger=row.trigger,
    )


def seen(row: Seed) -> str:
    return fingerprint(spec_of(row).as_json())


@transaction.atomic
def add(*, actor: User, spec: SeedSpec) -> Seed:
    """Raises Refusal where the id is taken."""
    _check_free(spec.id)
    if Seed.objects.count() >= MOST:
        raise Refusal(FULL)
    try:
        with transaction.atomic():
            row = Seed.objects.create(**_columns(spec))
    except IntegrityError as error:
        raise Refusal(TAKEN, field="id") from error
    events.record(what=What.SEED_ADDED, actor=actor, after=spec.as_json())
    return row


@transaction.atomic
def change(*, actor: User, row: Seed, shown: str, spec: SeedSpec) -> bool:
    """False when nothing differs. Models that were made from it stay as they are. Raises ChangedMeanwhile, Refusal."""
    now = Seed.objects.filter(pk=row.pk).first()
    if now is None or seen(now) != shown:
        raise ChangedMeanwhile(CHANGED)
    before, after = differences(spec_of(now).as_json(), spec.as_json())
    if not after:
        return False
    if "id" in after:
        _check_free(spec.id)
    try:
        with transaction.atomic():
            stored = Seed.objects.filter(pk=row.pk, **_columns(spec_of(now))).update(**_columns(spec))
    except IntegrityError as error:
        raise Refusal(TAKEN, field="id") from error
    if not stored:
        raise ChangedMeanwhile(CHANGED)
    events.record(what=What.SEED_CHANGED, actor=actor, before={"id": now.seed_id, **before}, after=after)
    return True


@transaction.atomic
def remove(*, actor: User, row: Seed) -> bool:
    """False when it was gone already. Models that were made from it stay."""
    spec = spec_of(row)
    if not Seed.objects.filter(pk=row.pk).delete()[0]:
        return False
    events.record(what=What.SEED_REMOVED, actor=actor, before=spec.as_json())
    return True


def exported(*, built_in: bool = False) -> str:
    """The team's own seeds as a file that `take` reads."""
    rows = [spec.as_json() for spec in every() if built_in or not spec.built_in]
    return json.dumps({"format": FORMAT, "version": 1, "seeds": rows}, ensure_ascii=False, indent=2) + "\n"


def read(data: bytes) -> list[SeedSpec]:
    """The seeds of a file: our own format, or a bare list. Raises NotAFile."""
    if len(data) > FILE_BYTES:
        raise NotAFile([f"The file is larger than {FILE_BYTES:,} bytes."])
    try:
        given = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise NotAFile(["It is no JSON in UTF-8."]) from None
    rows = given.get("seeds") if isinstance(given, dict) else given
    if not isinstance(rows, list) or not rows:
        raise NotAFile(["It has no list of seeds."])
    if len(rows) > MOST + len(BUILT_IN):
        raise NotAFile([f"It has {len(rows):,} seeds; at most {MOST} are taken."])
    return _checked_rows(rows)


@transaction.atomic
def take(*, actor: User, specs: list[SeedSpec]) -> Imported:
    """Adds what is new. A seed of an id that stands here is left alone, whatever the file says. Raises Refusal."""
    known = {spec.id: spec for spec in every()}
    told = Imported()
    for spec in specs:
        here = known.get(spec.id)
        if here is None:
            add(actor=actor, spec=spec)
            told.added.append(spec.id)
        elif replace(here, built_in=False) == spec:
            told.same.append(spec.id)
        else:
            told.other.append(spec.id)
    return told


def _checked_rows(rows: list[Any]) -> list[SeedSpec]:
    found: dict[str, SeedSpec] = {}
    problems = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            problems.append(f"Seed {number}: An object.")
            continue
        try:
            spec = checked(row)
        except NotASeed as wrong:
            problems += [f"Seed {number}, {name}: {text}" for name, text in wrong.problems.items()]
            continue
        if spec.id in found:
            problems.append(f"Seed {number}: the id {spec.id} stands in the file twice.")
        found[spec.id] = spec
    if problems:
        raise NotAFile(problems[:20])
    return list(found.values())


def _check_free(seed_id: str) -> None:
    if any(spec.id == seed_id for spec in BUILT_IN):
        raise Refusal(BUILT_IN_ID, field="id")


def _columns(spec: SeedSpec) -> dict[str, Any]:
    values = spec.as_json()
    return {"seed_id": values.pop("id"), **values}
