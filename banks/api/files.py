"""Endpoint: files into a bank."""

import hashlib
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import File, Form, Router, Schema
from ninja.files import UploadedFile
from ninja.responses import Status
from pydantic import ConfigDict, Field, ValidationError

from banks import files as taking
from banks.api.asking import LONGEST_ID, asker, bank_named
from banks.api.once import once
from banks.api.refusals import NotTaken, refusals
from banks.files.taking import FILE, too_large
from banks.hindsight.files import MOST_FILES
from banks.models import Role, Write
from banks.retain.params import LONGEST, MOST_TAGS
from banks.retain.scope import GLOBAL, LONGEST_PROJECT
from memadmin.api.errors import Refused, WrongField
from memadmin.uploads import TOO_LARGE

router = Router(tags=["retain"])
Word = Annotated[str, Field(min_length=1, max_length=1_000)]


class AboutIn(Schema):
    """What is said about one file; each means what it means for a memory."""

    model_config = ConfigDict(extra="forbid")

    document_id: Annotated[str, Field(max_length=LONGEST["document_id"])] | None = None
    context: Annotated[str, Field(max_length=LONGEST["context"])] | None = None
    tags: Annotated[list[Word], Field(max_length=MOST_TAGS)] | None = None
    timestamp: Annotated[str, Field(max_length=LONGEST["timestamp"])] | None = None
    metadata: dict[str, str | None] | None = None
    strategy: Annotated[str, Field(max_length=LONGEST["strategy"])] | None = None


class FilesIn(Schema):
    """`files_metadata`: one for each file, in their order, or none at all. `scope`, `project`: as for a retain."""

    model_config = ConfigDict(extra="forbid")

    bank: Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
    server: Annotated[str, Field(max_length=100)] = ""
    files_metadata: Annotated[list[AboutIn], Field(max_length=MOST_FILES)] = []
    scope: Literal["global", "per-project", "per-project-tagged"] = GLOBAL  # type: ignore[assignment]
    project: Annotated[str, Field(max_length=LONGEST_PROJECT)] = ""


class FileOut(Schema):
    """`id`: of its write; ask for it at `/writes/{id}`."""

    id: int
    document_id: str
    name: str
    bytes: int


class FilesOut(Schema):
    """The rows and the bytes are stored, and nothing was sent yet. `notes`: what was changed, or what they wait for."""

    count: int
    message: str
    files: list[FileOut]
    notes: list[str]


@router.post(
    "/retain/files",
    response={202: FilesOut, 409: NotTaken},
    operation_id="retain_files",
    url_name="retain-files",
    summary="Queue files, which the bank's server turns into text",
    description="`request` is JSON: `bank`, perhaps `server`, `files_metadata` (one object for each of the `files`, in "
    "their order: `document_id`, `context`, `tags`, `timestamp`, `metadata`, `strategy`), `scope` and `project`.",
)
def files(
    request: HttpRequest, files: Annotated[list[UploadedFile], File()], about: Annotated[str, Form(alias="request")]
) -> Status[Any] | HttpResponse:
    if request.META.get(TOO_LARGE):
        raise Refused(413, too_large(request.META[TOO_LARGE]))
    asked, user = _asked(about, len(files)), asker(request)
    bank = bank_named(user, asked.bank, asked.server, Role.REVIEWER)
    with refusals():
        uploads = taking.receive(files, kind=FILE)
    stored = False

    def act() -> tuple[int, FilesOut]:
        nonlocal stored
        with refusals():
            sent = taking.retain_files(
                user=user,
                bank=bank,
                uploads=uploads,
                about=[each.model_dump(exclude_unset=True) for each in asked.files_metadata] or [{}] * len(uploads),
                via=Write.Via.API,
                mode=asked.scope,
                project=asked.project,
            )
        stored = True
        rows = [
            FileOut(id=write.pk, document_id=write.document_id, name=upload.name, bytes=upload.size)
            for write, upload in zip(sent.writes, uploads, strict=True)
        ]
        return 202, FilesOut(count=len(rows), message=sent.message, files=rows, notes=sent.notes)

    try:
        return once(request, act, body=_digest(about, uploads))
    finally:
        if not stored:
            taking.forget(uploads)


def _asked(about: str, count: int) -> FilesIn:
    """Raises Refused."""
    try:
        asked = FilesIn.model_validate_json(about)
    except ValidationError as error:
        wrong = [
            WrongField(path=".".join(["body.request", *map(str, row["loc"])])[:200], problem=str(row["msg"]))
            for row in error.errors(include_input=False, include_url=False)
        ]
        said = "; ".join(f"{each.path}: {each.problem}" for each in wrong[:3])
        raise Refused(422, f"`request` cannot be used. {said}.", fields=[each.model_dump() for each in wrong]) from None
    if asked.files_metadata and len(asked.files_metadata) != count:
        said = f"{len(asked.files_metadata)} for {count} files. Nothing was stored; give one for each, or none."
        fields = [{"path": "body.request.files_metadata", "problem": said}]
        raise Refused(422, f"`files_metadata`: {said}", fields=fields)
    return asked


def _digest(about: str, uploads: list[taking.Upload]) -> str:
    """Of a body that is never in memory as a whole."""
    said = [about, *(f"{each.name}\0{each.size}\0{each.sha256}" for each in uploads)]
    return hashlib.sha256("\0\0".join(said).encode("utf-8", "replace")).hexdigest()
