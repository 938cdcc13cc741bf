"""Reviewing what a bank held before we looked for the first time: a choice of its admins, done as a job."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from banks import access, connections, jobs
from banks.hindsight import DocumentRow, HindsightError, Page
from banks.models import Bank, Job, Role
from memadmin.accounts.models import User
from reviews.services.enqueue import enqueue

KIND = "look-back"
PAGE = 200
# Documents that are deleted meanwhile shift the list: each page begins a little before the end of the last one.
STEP_BACK = 20
MOST = 1_000_000  # documents


def start(*, user: User, bank_id: int, days: int | None) -> Job:
    """`days`: how far back; None = all documents. Raises 404 / 403 as `access.get_bank` for admins."""
    bank = access.get_bank(user, bank_id, Role.ADMIN)
    running = Job.objects.filter(kind=KIND, params__bank=bank.pk).exclude(state__in=Job.ENDED).first()
    if running is not None:
        return running
    span = "all documents" if days is None else f"the last {days} days"
    since = None if days is None else (timezone.now() - timedelta(days=days)).isoformat()
    return jobs.start(kind=KIND, owner=user, title=f"Review {span} of {bank}", params={"bank": bank.pk, "since": since})


def run_look_back(run: jobs.Run) -> dict[str, Any]:
    """The handler. Resumes at the stored offset; a document met twice is enqueued once."""
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    if bank is None or bank.gone_since is not None:
        raise jobs.JobError("The bank is gone from its server.")
    since = datetime.fromisoformat(run.params["since"]) if run.params["since"] else None
    offset, counted = run.cursor.get("offset", 0), dict(run.cursor.get("counted", {"new": 0, "changed": 0}))
    step_back, before = STEP_BACK, set[str]()
    while True:
        begin = max(offset - step_back, 0)
        page = _page(bank, begin)
        ids = {row.id for row in page.items}
        if (ids and ids == before) or begin > MOST:
            raise jobs.JobError("The server's list of documents does not end: it cannot be read.")
        dated = [row.updated_at for row in page.items if row.updated_at]
        wanted = [row for row in page.items if since is None or row.updated_at is None or row.updated_at >= since]
        offset = begin + len(page.items)
        with run.step(done=offset, total=max(page.total, offset), cursor={"offset": offset, "counted": counted}):
            found = enqueue(bank=bank, rows=[row for row in wanted if not _comes_anyway(row, bank)])
            counted["new"] += found.new
            counted["changed"] += found.changed
        past = since is not None and dated and min(dated) < since
        # A full page may be followed by another, whatever the total says: it may be an estimate.
        if past or not ids or (offset >= page.total and len(page.items) < PAGE):
            return counted
        # Servers may cap their pages at less than we ask for.
        step_back, before = min(STEP_BACK, len(page.items) // 2), ids


def _page(bank: Bank, offset: int) -> Page[DocumentRow]:
    try:
        with connections.talking_to(bank.server) as client:
            return client.list_documents(bank.bank_id, limit=PAGE, offset=offset)
    except HindsightError as error:
        raise jobs.JobError(f"The list of documents could not be read: {error}") from error


def _comes_anyway(row: DocumentRow, bank: Bank) -> bool:
    """Whether it is still being written and the regular look, which begins at the watermark, will bring it."""
    if row.updated_at is None or not bank.polled or bank.watermark is None:
        return False
    return row.updated_at > max(bank.watermark, timezone.now() - bank.settle_time)


jobs.register(KIND, run_look_back)
