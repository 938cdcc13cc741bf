"""What the endpoints about seeds take and give."""

from datetime import datetime
from typing import Annotated, Literal

from ninja import Field, Schema

from banks.api.asking import LONGEST_ID
from banks.models import Job
from banks.retain.scope import LONGEST_PROJECT
from banks.seeds import SeedSpec, job

Scope = Literal["global", "per-project", "per-project-tagged"]
MOST_BANKS = 100  # of one request


class TriggerOut(Schema):
    """When and how servers refresh a model, in their words; null is left to the server."""

    mode: str | None = None
    refresh_after_consolidation: bool | None = None
    exclude_mental_models: bool | None = None
    tags_match: str | None = None
    include_chunks: bool | None = None
    keep_trace: bool | None = None
    recall_max_tokens: int | None = None
    recall_chunks_max_tokens: int | None = None
    min_refresh_interval_seconds: int | None = None


class SeedOut(Schema):
    """`built_in`: it comes with memadmin."""

    id: str
    name: str
    source_query: str
    scopes: list[str]
    project_tagged: bool
    extra_tags: list[str]
    max_tokens: int
    trigger: TriggerOut
    built_in: bool

    @classmethod
    def of(cls, spec: SeedSpec) -> "SeedOut":
        return cls(**spec.as_json(), built_in=spec.built_in)


class SeedsOut(Schema):
    seeds: list[SeedOut]


class BankIn(Schema):
    """`server` where several have a bank of this id."""

    bank: Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
    server: Annotated[str, Field(max_length=100)] = ""


class SeedingIn(Schema):
    """`seeds`: ids, empty for all that are meant for the scope. `project`: its path or name, for a tagged scope."""

    banks: Annotated[list[BankIn], Field(min_length=1, max_length=MOST_BANKS)]
    scope: Scope = "per-project-tagged"
    project: Annotated[str, Field(max_length=LONGEST_PROJECT)] = ""
    seeds: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=500)] = []
    dry_run: bool = False


class BegunOut(Schema):
    """Ask `GET /seedings/{id}` how far it is."""

    id: int


class SeedRowOut(Schema):
    """What a seed comes to in a bank. `status`: create, exists, other-tags, unscoped, under-way, left; `reason`: why.

    Without `seed` it is about the whole bank. `tags`: as the seed wants them; `found_tags`: of the model that is there.
    `differs`: in what that model differs from the seed; nothing changes it. `write`: the row that makes the model.
    """

    bank: str
    server: str
    seed: str
    model: str
    status: str
    reason: str
    tags: list[str]
    found_tags: list[str]
    differs: list[str]
    write: int | None

    @classmethod
    def of(cls, row: job.Row, bank: str, server: str) -> "SeedRowOut":
        names = ("seed", "model", "status", "reason", "tags", "found_tags", "differs", "write")
        return cls(**{name: getattr(row, name) for name in names}, bank=bank, server=server)


class SeedingOut(Schema):
    """`state`: queued, running, done, failed or cancelled. `rows`: so far, of the banks that this token may see."""

    id: int
    state: str
    dry_run: bool
    error: str
    began: datetime
    ended: datetime | None
    rows: list[SeedRowOut]

    @classmethod
    def of(cls, work: Job, rows: list[SeedRowOut]) -> "SeedingOut":
        return cls(
            id=work.pk,
            state=work.state,
            dry_run=bool(work.params.get("preview")),
            error=work.error,
            began=work.created,
            ended=work.finished,
            rows=rows,
        )
