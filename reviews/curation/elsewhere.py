"""Retirements that were made past us, in documents that nobody loaded: servers send no event for them.

A job of each bank, kept as one row: it lists what is retired, and reads the documents where that is news. Reads only.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from banks import access, connections, jobs
from banks.hindsight import HindsightClient, HindsightError, NotFound
from banks.models import Bank, Job, Role, Write
from memadmin.accounts.models import User
from reviews.curation import reapply, remember
from reviews.models import FactDecision, Reapplication, ReviewEntry

KIND = "retired-elsewhere"
PAGE = 1_000
MOST_PAGES = 200  # 200,000 retired facts of a bank
MOST_DOCUMENTS = 300  # read in one run; the next one goes on with what is still news
EDITS_ASKED = 200  # documents with edited facts, one question each; the next run goes on behind them
AT_ONCE = 500
# What was not found is looked for once more: servers show a new extraction piece by piece.
SURELY_GONE = timedelta(hours=2)
Verdict = FactDecision.Verdict


def ask(*, user: User, bank_id: int) -> Job:
    return start(access.get_bank(user, bank_id, Role.REVIEWER))


def start(bank: Bank) -> Job:
    """The look at a bank, begun if it is not under way."""
    job = look_of(bank)
    if job is None:
        return jobs.start(kind=KIND, owner=None, title=f"Retired elsewhere: {bank}", params={"bank": bank.pk})
    behind = {name: job.result[name] for name in ("edits_after", "documents_after") if name in job.result}
    jobs.restart(job.pk, params={"bank": bank.pk, **behind})
    return job


def look_of(bank: Bank) -> Job | None:
    return Job.objects.filter(kind=KIND, params__bank=bank.pk).order_by("-pk").first()


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
            edits, after = _edits_lost(run, client, bank)
            news = _news(bank, retired, whole=whole, edits=edits)
            last = str(run.params.get("documents_after", ""))
            lot = [*(each for each in news if each > last), *(each for each in news if each <= last)][:MOST_DOCUMENTS]
            new = sum(_look_at(run, client, bank, each, total=len(lot)) for each in lot)
    except HindsightError as error:
        raise jobs.JobError(f"The bank could not be read: {error}") from error
    told = {"retired": len(retired), "documents": len(news), "new": new, "whole": whole}
    behind = {"edits_after": after, "documents_after": lot[-1] if len(lot) < len(news) else ""}
    return told | {name: value for name, value in behind.items() if value}


def _retired(run: jobs.Run, client: HindsightClient, bank: Bank) -> tuple[dict[str, str], bool]:
    """({fact id: its document}, whether these are all), by the lengths returned."""
    found: dict[str, str] = {}
    offset = 0
    for _ in range(MOST_PAGES):
        page = client.list_facts(bank.bank_id, state="invalidated", limit=PAGE, offset=offset)
        if "state" in page.ignored_params or not all(fact.is_retired for fact in page.items):
            Bank.objects.filter(pk=bank.pk).update(retired_count=None)
            raise jobs.JobError("This server does not tell retired facts from others.")
        found.update((fact.id, fact.document_id) for fact in page.items if not fact.is_observation)
        offset += len(page.items)
        run.heartbeat()
        if page.ends(offset):
            Bank.objects.filter(pk=bank.pk).update(retired_count=page.total if page.counted else None)
            # What came back meanwhile pulls others over the edge of a page: then these are not all.
            return found, len(found) >= page.total
    return found, False


def _edits_lost(run: jobs.Run, client: HindsightClient, bank: Bank) -> tuple[set[str], int]:
    """(documents of which an edited fact is not there, where the next run goes on). Lists do not tell of edits."""
    edited = FactDecision.objects.filter(bank=bank, verdict=Verdict.EDITED, gone_since=None).exclude(document_id="")
    rows = edited.filter(pk__gt=run.params.get("edits_after", 0)).order_by("pk")
    asked: dict[str, str] = {}
    after = 0
    for pk, document, fact_id in rows.values_list("pk", "document_id", "fact_id").iterator():
        if len(asked) >= EDITS_ASKED:
            break
        asked.setdefault(document, fact_id)
        after = pk
    lost = set()
    for document, fact_id in asked.items():
        run.heartbeat()
        try:
            client.get_fact(bank.bank_id, fact_id)
        except NotFound as error:
            if error.what != "fact":
                raise
            lost.add(document)
    return lost, after if len(asked) >= EDITS_ASKED else 0


def _news(bank: Bank, retired: dict[str, str], *, whole: bool, edits: set[str]) -> list[str]:
    """The documents with a fact that is retired there and not here; of a whole list, or here and not there.

    What has been gone for long is no news: it comes with its document, when that is written again.
    """
    rows = FactDecision.objects.filter(bank=bank, verdict__in=FactDecision.STANDING).exclude(document_id="")
    known = {fact_id for (fact_id,) in rows.filter(verdict=Verdict.RETIRED).values_list("fact_id").iterator()}
    settled = [Reapplication.State.DONE, Reapplication.State.DECLINED]
    left = Reapplication.objects.filter(decision__bank=bank, state__in=settled).values_list("replaces", flat=True)
    known |= set(left.iterator())
    lately = rows.filter(gone_since__gt=timezone.now() - SURELY_GONE).values_list("document_id", flat=True)
    news = {document for fact_id, document in retired.items() if document and fact_id not in known} | edits
    news |= set(lately)
    if whole:
        here = rows.filter(verdict=Verdict.RETIRED, gone_since=None).values_list("fact_id", "document_id")
        news |= {document for fact_id, document in here.iterator() if fact_id not in retired}
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
    before = _writes_of(bank, document_id)
    found = document_facts.read(client, bank=bank, document_id=document_id)
    with run.step(done=run.job.done + 1, cursor={}, total=total):
        if not found.whole or before is None or _writes_of(bank, document_id) != before:
            return 0  # somebody here is at it: what was read may be older than what they have done
        reapply.look(bank=bank, document_id=document_id, facts=found.facts)
        new = remember.mirror(bank=bank, document_id=document_id, facts=found.facts)
        if new:  # what is only known now may have been extracted anew before
            reapply.look(bank=bank, document_id=document_id, facts=found.facts)
        return new


def _writes_of(bank: Bank, document_id: str) -> list[tuple[int, str]] | None:
    """The latest rows about a document and how they stand, None while one of them is under way."""
    rows = Write.objects.filter(bank=bank, document_hash=Write.hash_of(document_id)).order_by("-pk")
    latest = list(rows.values_list("pk", "state")[:20])
    return None if any(state in Write.OPEN for _, state in latest) else latest


jobs.register(KIND, run_look)
