"""Saved queries: kept with the facts that are to come back, and let go again. Nothing here changes a bank."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from banks import access
from banks.models import Bank, ExpectedFact, Job, RecallCheck, Role
from banks.recall import works
from banks.recall.block import words_hash
from banks.recall.checks import count_lost, next_night
from banks.services.refusal import Refusal
from memadmin.accounts.models import User
from memadmin.retention import head_of

MOST, MOST_FACTS = 100, 30  # of one bank; of one query
TEXT_KEPT = 1_000  # bytes

_Pick = tuple[int, dict[str, Any]]  # place, hit


def save(*, user: User, job: Job, name: str, picks: Sequence[int]) -> RecallCheck:
    """Keeps the query of an answered job. `picks`: places of the hits that are to come back, from 1. Refusal."""
    bank = access.get_bank(user, job.params["bank"], Role.REVIEWER)
    hits = _picked(job, picks)
    with transaction.atomic():
        Bank.objects.filter(pk=bank.pk).update(name=F("name"))  # of two at once the second waits, and counts right
        if same := _same(bank, name, job.params["asked"], hits):
            return same
        if RecallCheck.objects.filter(bank=bank).count() >= MOST:
            raise Refusal(f"A bank has at most {MOST} saved queries.")
        check = RecallCheck.objects.create(
            bank=bank,
            name=name,
            asked=job.params["asked"],
            made_by=str(user)[:150],
            answered_at=job.finished or timezone.now(),
        )
        check.run_after = next_night(check.pk)
        check.save(update_fields=["run_after"])
        ExpectedFact.objects.bulk_create([_expected(check, *hit) for hit in hits], ignore_conflicts=True)
    return check


def _picked(job: Job, picks: Sequence[int]) -> list[_Pick]:
    told = works.result_of(job)
    if told is None:
        raise Refusal("There is no answer to choose from.")
    hits = [(place, told["hits"][place - 1]) for place in sorted(set(picks)) if 0 < place <= len(told["hits"])]
    if not hits:
        raise Refusal("Choose at least one fact that is to come back.")
    if len(hits) > MOST_FACTS:
        raise Refusal(f"At most {MOST_FACTS} facts of one query.")
    if any(hit["type"] == "observation" for _, hit in hits):
        raise Refusal("Observations are made anew again and again, so none is expected to come back as it is.")
    if any(hit["cut"] for _, hit in hits):
        raise Refusal("One of these facts is too long to be known again.")
    return hits


def _same(bank: Bank, name: str, asked: dict[str, Any], hits: Sequence[_Pick]) -> RecallCheck | None:
    """The one that is saved already, by an earlier click."""
    words = {words_hash(hit["text"]) for _, hit in hits}
    for check in RecallCheck.objects.filter(bank=bank, name=name).prefetch_related("expected"):
        if check.asked == asked and {each.words_hash for each in check.expected.all()} == words:
            return check
    return None


def expect_no_more(*, user: User, check: RecallCheck, expected: int) -> None:
    """One fact of it need not come back any more. Refusal where it is the only one. Idempotent."""
    access.require(user, check.bank, Role.REVIEWER)
    mine = ExpectedFact.objects.filter(recall_check=check)
    with transaction.atomic():
        RecallCheck.objects.filter(pk=check.pk).update(lost=F("lost"))  # after a worker that judges just now
        if not mine.exclude(pk=expected).exists():
            raise Refusal("It is the only fact of this saved query: remove the query instead.")
        mine.filter(pk=expected).delete()
        count_lost(check)


def remove(*, user: User, check: RecallCheck) -> None:
    access.require(user, check.bank, Role.REVIEWER)
    RecallCheck.objects.filter(pk=check.pk).delete()


def _expected(check: RecallCheck, place: int, hit: dict[str, Any]) -> ExpectedFact:
    return ExpectedFact(
        recall_check=check,
        fact_id=hit["id"],
        text=head_of(hit["text"], TEXT_KEPT).text,
        words_hash=words_hash(hit["text"]),
        document_id=hit["document_id"],
        place=place,
        way=ExpectedFact.Way.ITSELF,
    )
