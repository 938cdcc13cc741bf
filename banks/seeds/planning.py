"""What a seed becomes in a bank: under which id, with which tags, and whether it is there already. Pure functions.

Ids and tags are those that agents give the models they make from their own seeds, so that both find the other's.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from banks.hindsight import MentalModel
from banks.retain.scope import GLOBAL, TAG, TAGGED, label_of
from banks.seeds.shape import SeedSpec

CREATE, EXISTS, OTHER_TAGS, UNSCOPED = "create", "exists", "other-tags", "unscoped"
REFRESH = "refresh"  # what a pin changes too

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_NO_LABEL = "project"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model as a seed wants it. `legacy`: the id that earlier agents gave it, "" where there is none."""

    seed: SeedSpec
    model_id: str
    tags: tuple[str, ...]
    legacy: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """`status`: one of the words above; `found`: the model that is there, with the id it has."""

    wanted: Wanted
    status: str
    found: MentalModel | None = None


def wanted(seed: SeedSpec, *, mode: str, project: str = "") -> Wanted | None:
    """None where the seed is not for this scope. `project`: a path or a name; it counts in a tagged scope alone."""
    if mode not in seed.scopes or (seed.project_tagged and mode == GLOBAL):
        return None
    if not (seed.project_tagged and mode == TAGGED):
        return Wanted(seed, seed.id, tuple(dict.fromkeys(seed.extra_tags)))
    label = label_of(project)
    tags = tuple(dict.fromkeys([f"{TAG}{label}", *seed.extra_tags]))
    return Wanted(seed, f"{seed.id}-{suffix_of(label)}", tags, legacy=seed.id)


def suffix_of(label: str) -> str:
    """A label as the end of an id: other characters than letters, digits, dots, "_" and "-" become one "-"."""
    return _UNFIT.sub("-", label).strip("-") or _NO_LABEL


def judge(wanted: Wanted, models: Mapping[str, MentalModel]) -> Judged:
    """`models`: all of the bank, by id. Which tags a model has decides whose memories it is made from."""
    found = models.get(wanted.model_id)
    if found is not None:
        return Judged(wanted, EXISTS if _same(found.tags, wanted.tags) else OTHER_TAGS, found)
    old = models.get(wanted.legacy) if wanted.legacy else None
    if old is not None and _same(old.tags, wanted.tags):
        return Judged(wanted, EXISTS, old)
    return Judged(wanted, CREATE)


def drift(wanted: Wanted, model: MentalModel) -> list[str]:
    """In what a model differs from its seed, in words. Nothing is ever made equal by us.

    Of the model, only what it tells is compared: read it with its content.
    """
    seed = wanted.seed
    differs = {
        "name": model.name != seed.name,
        "question": model.source_query is not None and model.source_query.strip() != seed.source_query,
        "longest text": model.max_tokens is not None and model.max_tokens != seed.max_tokens,
        "tags": not _same(model.tags, wanted.tags),
        REFRESH: model.trigger is not None and any(model.trigger.get(k) != v for k, v in seed.trigger.items()),
    }
    return [name for name, differ in differs.items() if differ]


def _same(one: Iterable[str], other: Iterable[str]) -> bool:
    return set(one) == set(other)
