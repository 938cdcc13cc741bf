"""The export of a bank: its documents with their texts, then its facts, then the retired ones, as JSON Lines.

The first line says what it is, the last one that it is complete and what it counted. Servers have no snapshot: what is
written meanwhile may be in or not, and where rows were deleted meanwhile the last line says so.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from banks import access, connections, jobs, kept_files, writes
from banks.crypto import CannotDecrypt
from banks.hindsight import DocumentRow, HindsightClient, HindsightError, NotFound, Page
from banks.models import Bank, Job, Role, Write
from banks.transfer import lots
from memadmin.accounts.models import User

VERSION = 1
KIND = lots.EXPORT
KEPT = timedelta(hours=24)
DOCUMENTS_AT_ONCE, FACTS_AT_ONCE = 50, 500
LOT_BYTES = 8 * 1024 * 1024
STEP_BACK = 20  # rows that a page has in common with the one before
MOST_ROWS = 2_000_000
STAGES = ("documents", "valid", "invalidated")
GONE = "The bank is gone from its server."
ENDLESS = "The server's list does not end: it cannot be read."
Row = TypeVar("Row")


def start(*, user: User, bank_id: int) -> Job:
    """One at a time of each bank and person. 404 / 403 as `access.get_bank` for admins; JobError when it is gone."""
    bank = access.get_bank(user, bank_id, Role.ADMIN)
    if bank.gone_since is not None or not bank.addressable:
        raise jobs.JobError(GONE)
    with transaction.atomic():
        Bank.objects.filter(pk=bank.pk).update(bank_id=bank.bank_id)  # a second one waits here, and then sees the first
        running = exports_of(user, bank).exclude(state__in=Job.ENDED).first()
        if running is not None:
            return running
        writes.record(kind="export", bank=bank, via=Write.Via.WEB, actor=user)
        return jobs.start(kind=KIND, owner=user, title=f"Export {bank}", params={"bank": bank.pk})


def exports_of(user: User, bank: Bank) -> QuerySet[Job]:
    """Newest first."""
    return Job.objects.filter(kind=KIND, owner=user, params__bank=bank.pk).order_by("-pk")


def forget() -> int:
    """Throws away what was kept long enough, and pieces of exports that did not come to their end."""
    return lots.remove_strays(timezone.now() - KEPT)


def until(job: Job) -> datetime | None:
    """When its file is thrown away."""
    return job.finished + KEPT if job.finished and job.state == Job.State.DONE else None


def run_export(run: jobs.Run) -> dict[str, Any]:
    """The handler. Each step stores one lot, and where it ends."""
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    if bank is None or bank.gone_since is not None:
        raise jobs.JobError(GONE)
    access.require(jobs.person_of(run.job), bank, Role.ADMIN)
    try:
        with connections.talking_to(bank.server) as client:
            return _Export(run, bank, client).through()
    except (HindsightError, CannotDecrypt) as error:
        raise jobs.JobError(f"The bank could not be read: {error}") from error


class _Export:
    def __init__(self, run: jobs.Run, bank: Bank, client: HindsightClient) -> None:
        self.run, self.bank, self.client = run, bank, client
        counts = dict.fromkeys(STAGES, 0)
        place: dict[str, Any] = {"stage": 0, "offset": 0, "tail": [], "lots": [], "size": 0, "counts": counts}
        self.state = place | {"shifted": False, "vanished": 0} | run.cursor
        self.met = set[int]()  # rows since this worker began: lists may give one twice, or their beginning for ever

    def through(self) -> dict[str, Any]:
        if not self.state["lots"]:
            self._begin()
        while (stage := self.state["stage"]) < len(STAGES):
            if STAGES[stage] == "documents":
                self._page(self._documents, DOCUMENTS_AT_ONCE, self._document_lines)
            else:
                self._page(self._facts, FACTS_AT_ONCE, lambda rows: (lots.line_of({"fact": _fact(r)}) for r in rows))
        about = {name: self.state[name] for name in ("counts", "shifted", "vanished")}
        if not self.state.get("whole"):
            self._store([lots.line_of({"end": about})], whole=True)
        return {**about, "size": self.state["size"]}

    def _begin(self) -> None:
        documents = self.client.list_documents(self.bank.bank_id, limit=1)
        facts = [self.client.count_facts(self.bank.bank_id, state=state) for state in STAGES[1:]]
        server = self.bank.server
        about = {"version": VERSION, "bank": self.bank.bank_id, "name": self.bank.name, "server": server.name}
        head = {"memadmin_export": {**about, "server_version": server.api_version, "at": timezone.now().isoformat()}}
        self._store([lots.line_of(head)], total=documents.total + sum(facts))

    def _page(
        self,
        ask: Callable[[int, int], Page[Any]],
        size: int,
        lines_of: Callable[[list[Any]], Iterator[bytes]],
    ) -> None:
        """One page, or as much of it as a lot takes; or the end of its list."""
        tail = self.state["tail"]
        begin = max(self.state["offset"] - len(tail), 0)
        page = ask(size + len(tail), begin)
        common = {row.id for row in page.items} & set(tail)
        rows = [row for row in page.items if row.id not in common and hash(row.id) not in self.met]
        # What went away in front of the page moved those that it should have in common with the one before.
        shifted = self.state["shifted"] or len(common) < len(tail)
        if not rows:
            if begin > MOST_ROWS or (page.items and begin + len(page.items) < page.total):
                raise jobs.JobError(ENDLESS)
            self._store([], stage=self.state["stage"] + 1, offset=0, tail=[], shifted=shifted)
            return
        lot = list(_lot(lines_of(rows)))
        ids = [row.id for row in rows[: len(lot)]]
        self.met.update(map(hash, ids))
        # A server may give fewer than asked: what pages have in common is never all of one.
        again = min(STEP_BACK, len(page.items) // 2)
        self._store(
            [line for line in lot if line],
            offset=begin + page.items.index(rows[len(lot) - 1]) + 1,
            tail=(tail + ids)[-again:] if again else [],
            shifted=shifted,
            done=len(lot),
        )

    def _documents(self, limit: int, offset: int) -> Page[DocumentRow]:
        return self.client.list_documents(self.bank.bank_id, limit=limit, offset=offset)

    def _facts(self, limit: int, offset: int) -> Page[Any]:
        state = STAGES[self.state["stage"]]
        page = self.client.list_facts(self.bank.bank_id, state=state, limit=limit, offset=offset)
        if any(fact.state != state for fact in page.items):
            raise jobs.JobError("This server does not tell retired facts from others: nothing can be said of them.")
        return page

    def _document_lines(self, rows: list[DocumentRow]) -> Iterator[bytes]:
        """b"" for one that was deleted meanwhile."""
        for row in rows:
            try:
                found = self.client.get_document(self.bank.bank_id, row.id)
            except NotFound:
                self.state["vanished"] += 1
                yield b""
            else:
                yield lots.line_of({"document": _plain(asdict(found))})

    def _store(
        self,
        lines: list[bytes],
        *,
        done: int = 0,
        total: int | None = None,
        **changes: Any,
    ) -> None:
        state = {**self.state, **changes}
        size = state["size"] + sum(map(len, lines))
        if size > settings.EXPORT_MAX_BYTES:
            most = settings.EXPORT_MAX_BYTES // (1024 * 1024)
            raise jobs.JobError(f"It grew above {most:,} MB, which is the limit here. No file was kept.")
        stage = STAGES[self.state["stage"]] if self.state["stage"] < len(STAGES) else ""
        state |= {"size": size, "lots": [*state["lots"], lots.keep(lines)] if lines else state["lots"]}
        state["counts"] = {
            name: count + (len(lines) if done and name == stage else 0) for name, count in state["counts"].items()
        }
        with self.run.step(done=self.run.job.done + done, cursor=state, total=total):
            pass
        self.state = state


def _lot(lines: Iterator[bytes]) -> Iterator[bytes]:
    weight = 0
    for line in lines:
        yield line
        weight += len(line)
        if weight >= LOT_BYTES:
            return


def _fact(fact: Any) -> dict[str, Any]:
    return _plain(asdict(fact))


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


def tidy(job: Job) -> None:
    """What did not come to its end leaves no pieces behind."""
    if job.state != Job.State.DONE:
        for name in job.cursor.get("lots", []):
            kept_files.remove(name)


jobs.register(KIND, run_export, after=tidy)
