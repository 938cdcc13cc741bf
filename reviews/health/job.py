"""Counting the facts of a bank, as a job. It only reads, and after a worker that died it begins anew."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from banks import access, connections, jobs
from banks.crypto import CannotDecrypt
from banks.hindsight import HindsightError
from banks.models import Bank, Role
from memadmin.accounts.models import User
from reviews.health import languages
from reviews.health.alike import alike
from reviews.health.reading import read
from reviews.health.tally import ALIKE, FOREIGN, Kept, Tally, plain
from reviews.models import HealthFact, HealthReport

KIND = "bank-health"
READ_TIMEOUT = 30.0  # seconds of one call
REPORTS_KEPT = 20
ROWS_AT_ONCE = 500
NOT_THERE = "The bank is not on its server, so there is nothing to count."
NO_ROLE = "The person who started it has no role on the bank any more."
NOT_ASKED = "The server does not answer just now, so it was not asked. Try again in a minute."


def start(*, user: User, bank: Bank) -> HealthReport:
    """The one of this bank that is under way, when there is one. Whoever calls has proved the right to it."""
    last = HealthReport.objects.filter(bank=bank).select_related("job").order_by("-pk").first()
    if last is not None and last.job is not None and not last.job.ended:
        return last
    with transaction.atomic():
        job = jobs.start(kind=KIND, owner=user, title=f"Count the facts of {bank}", params={"bank": bank.pk})
        return HealthReport.objects.create(bank=bank, job=job, asked_by=str(user)[:150])


def _run(run: jobs.Run) -> dict[str, Any]:
    report = HealthReport.objects.select_related("bank__server").filter(job=run.job).first()
    if report is None:
        raise jobs.JobError("memadmin does not know this bank any more.")
    if report.taken is None:
        _check(jobs.person_of(run.job), report.bank)
        began, tally = timezone.now(), Tally()
        numbers = _count(report.bank, tally, lambda done, total: run.heartbeat(done=done, total=total))
        with run.step(done=tally.read, total=tally.read, cursor={"stored": True}):
            _store(report, began, numbers, tally)
    return {"read": report.numbers.get("read", 0)}


def _check(person: User, bank: Bank) -> None:
    role = access.role_on(person, bank)
    if role is None or role < Role.REVIEWER:
        raise jobs.JobError(NO_ROLE)
    if bank.gone_since is not None or not bank.addressable:
        raise jobs.JobError(NOT_THERE)
    if connections.paused_until(bank.server):
        raise jobs.JobError(NOT_ASKED)


def _count(bank: Bank, tally: Tally, progress: Callable[[int, int], None]) -> dict[str, Any]:
    try:
        with connections.talking_to(bank.server, read_timeout=READ_TIMEOUT) as client:
            told = read(client, bank.bank_id, tally, progress)
    except (HindsightError, CannotDecrypt) as error:
        raise jobs.JobError(f"Nothing could be counted: {error}") from error
    progress(tally.read, tally.read)
    numbers = {
        "total": told.total,
        "spread": told.spread,
        "stopped": told.stopped[:300],
        "retired": told.retired,
        "waiting": told.waiting,
        "consolidates": tally.ever_consolidated or told.waiting is not None,
        "alike": _compare(tally),
        "languages": _tell_languages(tally, bank.language),
    }
    return numbers | {
        "read": tally.read,
        "facts": tally.facts,
        "proofs": tally.with_proofs,
        "types": dict(tally.types),
        "groups": tally.groups,
        "counts": dict(tally.counts),
    }


def _compare(tally: Tally) -> dict[str, int]:
    """Facts in the same words are counted already: one of them stands for all."""
    one_of_each = list({plain(fact.text): fact for fact in tally.sample}.values())
    found = alike([fact.text for fact in one_of_each])
    for number, group in enumerate(found.groups, start=1):
        for place in group:
            fact = one_of_each[place]
            tally.keep(ALIKE, Kept(fact.fact_id, fact.document_id, fact.text, str(number)))
    tally.counts[ALIKE] = found.surplus
    return {"groups": len(found.groups), "compared": found.compared, "drawn": len(one_of_each)}


def _tell_languages(tally: Tally, language: str) -> dict[str, Any]:
    """`own`: the bank's language, or the most frequent one where none is set that could be told."""
    said = {"set": language, "own": languages.code_of(language), "read": len(tally.sample), "mix": {}, "why": ""}
    try:
        codes = languages.guess([fact.text for fact in tally.sample]) if tally.sample else []
    except languages.CannotTell as error:
        return said | {"why": str(error)}
    mix = Counter(code for code in codes if code)
    own = said["own"] or next((code for code, _ in mix.most_common(1)), "")
    for fact, code in zip(tally.sample, codes, strict=True):
        if code and code != own:
            tally.counts[FOREIGN] += 1
            tally.keep(FOREIGN, Kept(fact.fact_id, fact.document_id, fact.text, code))
    return said | {"own": own, "mix": dict(mix)}


def _store(report: HealthReport, began: datetime, numbers: dict[str, Any], tally: Tally) -> None:
    """Only the latest report keeps the facts behind its numbers: texts are not to pile up here."""
    report.taken, report.numbers = began, numbers
    report.save(update_fields=["taken", "numbers"])
    older = HealthReport.objects.filter(bank=report.bank_id, pk__lt=report.pk)
    HealthFact.objects.filter(report__in=older).delete()
    outlived = older.order_by("-pk").values_list("pk", flat=True)[REPORTS_KEPT - 1 :]
    HealthReport.objects.filter(pk__in=list(outlived)).delete()
    rows = [
        HealthFact(
            report=report,
            finding=finding,
            place=place,
            fact_id=fact.fact_id,
            document_id=fact.document_id,
            text=fact.text,
            told=fact.told,
        )
        for finding, facts in tally.kept.items()
        for place, fact in enumerate(facts, start=1)
    ]
    HealthFact.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)


jobs.register(KIND, _run)
