"""Retirements that were made past us, in documents that nobody loaded: servers send no event for them.

A job of each bank, kept as one row: it lists what is retired, and reads the documents where that is news. Reads only.
"""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from banks import access, connections, jobs
from banks.hindsight import HindsightClient, HindsightError
from banks.models import Bank, Job, Role, Write
from memadmin.accounts.models import User
from reviews.curation import reapply, remember
from reviews.models import FactDecision, ReviewEntry

KIND = "retired-elsewhere"
PAGE = 200
MOST_PAGES = 100  # 20,000 retired facts of a bank
MOST_DOCUMENTS = 300  # read in one run; the next one goes on with what is still news
AT_ONCE = 500
Verdict = FactDecision.Verdict


def ask(*, user: User, bank_id: int) -> Job:
    return start(access.get_bank(user, bank_id, Role.REVIEWER))


def start(bank: Bank) -> Job:
    """The look at a bank, begun if it is not under way."""
    job = Job.objects.filter(kind=KIND, params__bank=bank.pk).order_by("-pk").first()
    if job is None:
        return jobs.start(kind=KIND, owner=None, title=f"Retired elsewhere: {bank}", params={"bank": bank.pk})
    jobs.restart(job.pk, params={"bank": bank.pk})
    return job


def looks_of(user: Any) -> list[Job]:
    """The looks that are under way or have failed, of the banks that this person may see."""
    banks = access.bank_ids_for(user)
    states = [Job.State.QUEUED, Job.State.RUNNING, Job.State.FAILED]
    found = Job.objects.filter(kind=KIND, state__in=states).order_by("-pk")[:50]
    return [job for job in found if banks is None or job.params.get("bank") in banks]


def run_look(run: jobs.Run) -> dict[str, Any]:
    """The handler. Doing it again reads again and finds nothing new."""
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    if bank is None or not bank.addressable:
        raise jobs.JobError("No server can address this bank.")
    try:
        with connections.talking_to(bank.server) as client:
            retired, whole = _retired(run, client, bank)
            documents = _news(bank, retired, whole=whole)
            new = sum(_look_at(run, client, bank, each, total=len(documents)) for each in documents[:MOST_DOCUMENTS])
    except HindsightError as error:
        raise jobs.JobError(f"The bank could not be read: {error}") from error
    return {"retired": len(retired), "documents": len(documents), "new": new, "whole": whole}


def _retired(run: jobs.Run, client: HindsightClient, bank: Bank) -> tuple[dict[str, str], bool]:
    """({fact id: its document}, whether these are all), by the lengths returned."""
    found: dict[str, str] = {}
    offset = 0
    for _ in range(MOST_PAGES):
        page = client.list_facts(bank.bank_id, state="invalidated", limit=PAGE, offset=offset)
        found.update((fact.id, fact.document_id) for fact in page.items if not fact.is_observation)
        offset += len(page.items)
        run.heartbeat()
        if not page.items or offset >= page.total:
            Bank.objects.filter(pk=bank.pk).update(retired_count=page.total)
            return found, True
    return found, False


def _news(bank: Bank, retired: dict[str, str], *, whole: bool) -> list[str]:
    """The documents with a fact that is retired there and not here; of a whole list, or here and not there."""
    rows = FactDecision.objects.filter(bank=bank, verdict=Verdict.RETIRED).exclude(document_id="")
    known = dict(rows.values_list("fact_id", "document_id"))
    news = {document for fact_id, document in retired.items() if document and fact_id not in known}
    if whole:
        news |= {document for fact_id, document in known.items() if fact_id not in retired}
    return sorted(news - _deleted(bank, news))


def _deleted(bank: Bank, documents: Iterable[str]) -> set[str]:
    entries = ReviewEntry.objects.filter(bank=bank, state=ReviewEntry.State.DELETED)
    hashes = {Write.hash_of(each): each for each in documents}
    keys, found = list(hashes), set[str]()
    for at in range(0, len(keys), AT_ONCE):
        here = entries.filter(document_hash__in=keys[at : at + AT_ONCE]).values_list("document_hash", flat=True)
        found |= {hashes[key] for key in here}
    return found


def _look_at(run: jobs.Run, client: HindsightClient, bank: Bank, document_id: str, *, total: int) -> int:
    """A memory under review is loaded again, which does all this; of another document the facts alone are read."""
    from reviews.services import document_facts  # it asks what was decided here

    entry = ReviewEntry.objects.filter(bank=bank, document_hash=Write.hash_of(document_id))
    if entry.exists():
        with run.step(done=run.job.done + 1, cursor={}, total=total):
            entry.filter(load_after=None).update(load_after=timezone.now(), load_attempts=0)
        return 0
    found = document_facts.read(client, bank=bank, document_id=document_id)
    with run.step(done=run.job.done + 1, cursor={}, total=total):
        if not found.whole or not found.facts:
            return 0
        reapply.look(bank=bank, document_id=document_id, facts=found.facts)
        return remember.mirror(bank=bank, document_id=document_id, facts=found.facts)


jobs.register(KIND, run_look)
