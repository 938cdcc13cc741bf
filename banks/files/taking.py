"""Taking files in: bytes first, then rows, and nobody waits for a bank."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from banks import access, kept_files
from banks.files.accepted import why_not_inside, why_not_named
from banks.hindsight import safe_name
from banks.hindsight.files import MOST_FILES
from banks.models import Bank, RetainFile, Role, Write
from banks.retain import Item, Problem, Refused, person, scope
from banks.retain.params import parse_about
from banks.retain.queueing import OURS, notes_of, require_open
from banks.retain.scope import Scoped
from banks.writes import cancel, record
from memadmin.accounts.models import User

KIND = "retain-files"
UPLOAD, FILE = "upload", "file"  # of kept files: before anybody has said what it is for, and after
ENDED = (Write.State.DONE, Write.State.CANCELLED)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that has arrived: `kept` is where its bytes are."""

    kept: str
    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Sent:
    """`writes` in the order of the files, all of one `group`."""

    writes: list[Write]
    group: UUID
    notes: list[str] = field(default_factory=list)

    @property
    def message(self) -> str:
        return f"{len(self.writes)} {'file' if len(self.writes) == 1 else 'files'} queued."


def receive(files: "Sequence[UploadedFile[Any]]", *, kind: str) -> list[Upload]:
    """Keeps all of these, or none, piece by piece. Raises Refused, which names those that are not taken."""
    forget_strays()
    _check(files)
    uploads: list[Upload] = []
    problems: list[Problem] = []
    try:
        for number, file in enumerate(files):
            upload = _keep(file, kind)
            uploads.append(upload)
            with kept_files.opened(upload.kept) as stream:
                if why_not := why_not_inside(stream, upload.name, upload.size):
                    problems.append(_problem(number, upload.name, why_not))
        if problems:
            raise Refused(problems)
    except BaseException:
        forget(uploads)
        raise
    return uploads


def retain_files(
    *,
    user: User,
    bank: Bank,
    uploads: Sequence[Upload],
    about: Sequence[Mapping[str, Any]],
    via: Write.Via,
    mode: str = scope.GLOBAL,
    project: str = "",
) -> Sent:
    """Stores one write for each file, all or none. Needs a reviewer of the bank. `about`: of each, as the API takes it.

    Raises Refused, BankClosed; 404 and 403 as every access does. Nothing is stored then; the bytes stay.
    """
    access.require(user, bank, Role.REVIEWER)
    items = parse_about(about, [upload.name for upload in uploads])
    _each_document_once(uploads, items)
    scoped = scope.resolve(user=user, bank=bank, mode=mode, project=project)
    require_open(scoped.bank)
    group = uuid4()
    with transaction.atomic():
        person.check_files(Bank.objects.get(pk=scoped.bank.pk))
        notes = scope.note_label(scoped)
        writes = [_record(user, scoped, *each, via, group) for each in zip(uploads, items, strict=True)]
        for upload, item in zip(uploads, items, strict=True):
            notes += [f"“{upload.name}”: {note}" for note in item.notes]
    return Sent(writes, group, [*notes, *notes_of(scoped.bank, [])])


def forget(uploads: Iterable[Upload]) -> None:
    for upload in uploads:
        kept_files.remove(upload.kept)


def forget_file(write: Write) -> None:
    """The write has ended: after the commit its bytes go."""
    for kept in RetainFile.objects.filter(write=write).exclude(kept="").values_list("kept", flat=True):
        transaction.on_commit(partial(kept_files.remove, kept))
    RetainFile.objects.filter(write=write).update(kept="")


@transaction.atomic
def take_back(*, write: Write) -> bool:
    """It is never sent. False when it has left, or has ended; then nothing changed."""
    if not cancel(write=write, unsent=True):
        return False
    forget_file(write)
    return True


def forget_strays() -> None:
    """What nobody confirmed within an hour, and what belongs to no write that is still to end."""
    kept_files.remove_strays(UPLOAD)
    RetainFile.objects.exclude(kept="").filter(write__state__in=ENDED).update(kept="")
    kept_files.remove_strays(FILE, set(RetainFile.objects.exclude(kept="").values_list("kept", flat=True)))


def too_large(with_: object = None) -> str:
    """What is said where all files together are larger than may be. `with_`: the name of the one that was too much."""
    most = filesizeformat(settings.FILES_MAX_BYTES).replace("\xa0", " ")
    named = f" “{safe_name(with_)}” was too much." if isinstance(with_, str) else ""
    return f"All files of a request together have at most {most}.{named} Nothing was stored; send them in parts."


def _check(files: "Sequence[UploadedFile[Any]]") -> None:
    """What can be said before anything is kept."""
    if not files:
        raise Refused([Problem(None, "files", "Choose at least one file.")])
    if len(files) > MOST_FILES:
        first = safe_name(files[MOST_FILES].name or "")
        text = f"{len(files)} files; at most {MOST_FILES} in one request. Nothing was stored; “{first}” is the first"
        raise Refused([Problem(None, "files", f"{text} that is too many.", too_large=True)])
    problems = [
        _problem(number, safe_name(file.name or ""), why_not)
        for number, file in enumerate(files)
        if (why_not := why_not_named(safe_name(file.name or "")) or ("" if file.size else "It is empty."))
    ]
    sizes = list(accumulate(file.size or 0 for file in files))
    if sizes[-1] > settings.FILES_MAX_BYTES:
        over = next(number for number, size in enumerate(sizes) if size > settings.FILES_MAX_BYTES)
        problems.append(Problem(None, "files", too_large(files[over].name), too_large=True))
    if problems:
        raise Refused(problems)


def _problem(number: int, name: str, text: str) -> Problem:
    return Problem(number, "", text, of="files", called=name)


def _keep(file: "UploadedFile[Any]", kind: str) -> Upload:
    digest = hashlib.sha256()

    def chunks() -> Iterator[bytes]:
        for chunk in file.chunks():
            digest.update(chunk)
            yield chunk

    kept = kept_files.keep(chunks(), kind=kind, most=settings.FILES_MAX_BYTES)
    return Upload(kept, safe_name(file.name or ""), file.size or 0, digest.hexdigest())


def _each_document_once(uploads: Sequence[Upload], items: Sequence[Item]) -> None:
    first: dict[str, str] = {}
    for number, (upload, item) in enumerate(zip(uploads, items, strict=True)):
        if item.document_id and item.document_id in first:
            text = f"“{first[item.document_id]}” has the same document id: one would replace the other."
            raise Refused([Problem(number, "document_id", text, of="files", called=upload.name)])
        first[item.document_id] = upload.name


def _record(user: User, scoped: Scoped, upload: Upload, item: Item, via: Write.Via, group: UUID) -> Write:
    said = {
        "context": scoped.bank.retain_context if item.context is None else item.context,
        "metadata": dict(item.metadata),
        "tags": list(dict.fromkeys([*item.tags, *scoped.tags])),
        # When it was sent to us: a bank that is away must not shift it.
        "timestamp": item.timestamp or timezone.now().isoformat(),
        "strategy": item.strategy,
        "project": scoped.project,
    }
    write = record(
        kind=KIND,
        bank=scoped.bank,
        via=via,
        actor=user,
        document_id=item.document_id or f"{OURS}{uuid4()}",
        params={"named": bool(item.document_id), **{name: value for name, value in said.items() if value}},
        group=group,
    )
    RetainFile.objects.create(write=write, name=upload.name, size=upload.size, sha256=upload.sha256, kept=upload.kept)
    return write
