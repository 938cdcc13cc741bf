"""The queue file of this machine, watched: what an agent's tool queues arrives without an upload.

The file belongs to the tool; it is read and never written. Each look asks the system whether it changed. When it did,
a copy goes through the importer like an upload, so that reading a line twice changes nothing, and a line that vanished
(the tool shortens its file) undoes nothing.

A changed file is always read as a whole, even when it only grew. What an added line means hangs on those before it: a
`done` names no bank and closes what an earlier `add` opened, an identity counts how often the same line stood before,
and within one file its order decides, not its times. Only what is stored is cut down to the documents with new lines.
"""

import socket
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from banks import jobs
from banks.models import Job
from memadmin.accounts.models import User
from reviews.importing import files, localfile
from reviews.importing.job import KIND
from reviews.importing.localfile import Copy, Signature, Trouble
from reviews.models import SourceFile

OFF = ("off", "no", "none", "false", "0")
# A last line without its end is still being written; after so long it counts as it is.
QUIET = timedelta(seconds=60)
# Between two copies of a file that changes all the time. Reading a megabyte takes an eighth of a second.
PAUSE = timedelta(seconds=10)
PAUSE_PER_MEGABYTE = timedelta(seconds=1)
PAUSE_AFTER_FAILURE = timedelta(seconds=60)
LOOK_LIMIT = timedelta(minutes=5)  # a look that has not ended by then has died
NOTED_EVERY = timedelta(seconds=30)  # how exactly "last looked at" is kept
# The lines of so long are one row among the imports, not one for each look that found some.
ONE_ROW = timedelta(hours=24)


def watched_path() -> Path | None:
    """The file that is watched, whether it exists or not; None when none is.

    Unset, it is where the tool writes; behind a proxy, for a team, only a file that somebody named.
    """
    named = settings.QUEUE_FILE
    if settings.DEMO or named.lower() in OFF:
        return None
    if settings.PRODUCTION and not named:
        return None
    if settings.TOOLS_QUEUE_FILE and not named:
        return Path(settings.TOOLS_QUEUE_FILE).absolute()
    try:
        return Path(named or "~/.pi/hindsight/review-queue.jsonl").expanduser().absolute()
    except RuntimeError:  # an account without a home
        return Path(named).absolute() if named else None


@dataclass(frozen=True)
class Seen:
    """SourceFile.seen: how far the file was read. All of it may be missing."""

    signature: Signature | None = None
    read: int = 0  # bytes that were imported
    sha: str = ""  # sha256 of them
    job: int = 0  # the import
    copied_at: datetime | None = None
    torn_since: datetime | None = None  # since when its unfinished last line stands as it does
    looking: bool = False  # a worker copies it; `looked_at` says since when

    @classmethod
    def parse(cls, stored: dict[str, Any]) -> Self:
        values = dict(stored)
        try:
            if values.get("signature"):
                values["signature"] = Signature(**values["signature"])
            for name in ("copied_at", "torn_since"):
                values[name] = parse_datetime(values.get(name) or "")
            return cls(**values)
        except (TypeError, ValueError):
            return cls()

    def stored(self) -> dict[str, Any]:
        values = asdict(self)
        for name in ("copied_at", "torn_since"):
            values[name] = values[name].isoformat() if values[name] else None
        return values

    @property
    def torn(self) -> bool:
        return self.signature is not None and self.read < self.signature.size


def look() -> str:
    """Looks once and returns a short word. Two looks at once start one import: conditional updates decide."""
    path = watched_path()
    if path is None:
        return "off"
    signature, trouble, waits = None, "", False
    try:
        signature = localfile.signature_of(path)
    except Trouble as error:
        trouble = str(error)
        waits = isinstance(error, localfile.Missing) and not settings.QUEUE_FILE
    source = source_of(path) or (None if waits else _make_source(path))
    if source is None:
        return "no file"
    one = _Look(source, path)
    if one.seen.looking and source.looked_at and source.looked_at > one.now - LOOK_LIMIT:
        return "being looked at"
    if signature is None:
        one.note(trouble)
        return "trouble"
    if word := one.why_not(signature):
        one.note("")
        return word
    return one.read(signature)


def source_of(path: Path) -> SourceFile | None:
    """The row of this file, None while nobody has seen it."""
    rows = SourceFile.objects.filter(path=_text(path), owner__is_active=True)
    return rows.select_related("owner").order_by("pk").first()


def _make_source(path: Path) -> SourceFile | None:
    """The first operator's source of this machine's name: the one that `memadmin import-queue` uses too."""
    owner = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if owner is None:
        return None
    source, _ = SourceFile.objects.get_or_create(owner=owner, machine=socket.gethostname()[:200])
    SourceFile.objects.filter(pk=source.pk).exclude(path=_text(path)).update(
        path=_text(path), trusts_loopback=True, seen={}, looked_at=None, trouble=""
    )
    return SourceFile.objects.select_related("owner").get(pk=source.pk)


def _text(path: Path) -> str:
    return str(path).encode("utf-8", "replace").decode("utf-8")


class _Look:
    """One look at a file that is there."""

    def __init__(self, source: SourceFile, path: Path) -> None:
        self.source, self.path, self.now = source, path, timezone.now()
        self.seen = Seen.parse(source.seen)
        self.job = Job.objects.filter(pk=self.seen.job).first()
        self.failed = self.job is not None and self.job.ended and self.job.state != Job.State.DONE

    def note(self, trouble: str) -> None:
        """Keeps what was found, and now and then when: a look that finds nothing new is no reason for a write."""
        fresh = self.source.looked_at and self.source.looked_at > self.now - NOTED_EVERY
        if not fresh or trouble[:300] != self.source.trouble:
            self._unchanged().update(looked_at=self.now, trouble=trouble[:300])

    def why_not(self, signature: Signature) -> str:
        """Why the file need not be read now; "" when it must."""
        if self.seen.looking:  # the look that said so has died
            return ""
        if self.job and not self.job.ended:
            return "importing"
        if self.failed:
            ended = self.job.finished if self.job else None
            return "failed" if ended and ended > self.now - PAUSE_AFTER_FAILURE else ""
        if signature == self.seen.signature and not self._has_rested(signature):
            return "torn" if self.seen.torn else "nothing new"
        pause = PAUSE + PAUSE_PER_MEGABYTE * (signature.size // 1_000_000)
        return "soon" if self.seen.copied_at and self.seen.copied_at > self.now - pause else ""

    def read(self, signature: Signature) -> str:
        """Copies the file and hands the copy over. While this goes on, other looks leave the file alone."""
        before = replace(self.seen, looking=False).stored()
        if not self._unchanged().update(looked_at=self.now, seen={**before, "looking": True}):
            return "not ours"
        mine = SourceFile.objects.filter(pk=self.source.pk, looked_at=self.now)
        try:
            copy = localfile.copy(self.path, known=self.seen.read, whole=self._has_rested(signature))
            return self._hand_over(mine, copy)
        except localfile.Changing:
            mine.update(seen=before)
            return "changing"
        except Trouble as trouble:
            mine.update(seen=before, trouble=str(trouble)[:300])
            return "trouble"
        except BaseException:
            mine.update(seen=before)
            raise

    def _unchanged(self) -> QuerySet[SourceFile]:
        return SourceFile.objects.filter(pk=self.source.pk, looked_at=self.source.looked_at)

    def _has_rested(self, signature: Signature) -> bool:
        """Whether its last line has no end, and nobody has gone on writing it."""
        since = self.seen.torn_since
        return bool(signature == self.seen.signature and self.seen.torn and since and since <= self.now - QUIET)

    def _hand_over(self, mine: QuerySet[SourceFile], copy: Copy) -> str:
        """Stores how far the file is read and, in the same transaction, the import of it."""
        seen = Seen(copy.signature, copy.read, copy.sha, self.seen.job, self.now)
        seen = replace(seen, torn_since=self.now if seen.torn else None)
        wanted = self.failed or (copy.read > 0 and (copy.read, copy.sha) != (self.seen.read, self.seen.sha))
        handed_over = False
        try:
            with transaction.atomic():
                if not mine.update(trouble=""):
                    return "overtaken"
                if wanted:
                    seen = replace(seen, job=self._import(copy))
                mine.update(seen=seen.stored())
            handed_over = wanted
        finally:
            if not handed_over:
                files.remove(copy.name)
        return "read" if wanted else "nothing new"

    def _import(self, copy: Copy) -> int:
        files.remove_strays()
        grown = bool(self.seen.read) and copy.sha_known == self.seen.sha
        begin = self.seen.read if grown and not self.failed else 0
        params = {"file": copy.name, "source": self.source.pk, "server": None, "watched": True, "from": begin}
        recent = self.job is not None and self.job.created > self.now - ONE_ROW
        if self.job and recent and (grown or self.failed) and jobs.restart(self.job.pk, params=params):
            return self.job.pk
        title = f"Watched queue file of {self.source.machine}"
        return jobs.start(kind=KIND, owner=self.source.owner, title=title, params=params).pk
