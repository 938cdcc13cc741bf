"""Saved queries are asked each night: what is expected came back, or is lost. Nothing here changes a bank.

A bank that could not be read is no bank that forgot: what is known of the facts stays, and why there is nothing newer.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from banks import access, connections
from banks.crypto import CannotDecrypt
from banks.hindsight import HindsightError, Hit
from banks.models import ExpectedFact, RecallCheck, Role, Server
from banks.recall.asked import Asked
from banks.recall.block import words_hash
from memadmin.accounts.models import User

logger = logging.getLogger(__name__)
Way = ExpectedFact.Way

READ_TIMEOUT = 60.0
CLAIM = timedelta(minutes=5)  # longer than one query takes
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=30), timedelta(hours=12)
MINUTES = 60  # over which the checks of a night are spread
BATCH = 50


def ask_now(*, user: User, check: RecallCheck) -> None:
    """Has a worker ask it at once; while one is at it nothing changes."""
    access.require(user, check.bank, Role.REVIEWER)
    with transaction.atomic():
        RecallCheck.objects.filter(_free(timezone.now()), pk=check.pk).update(run_after=timezone.now())
        transaction.on_commit(lambda: _tell(check.pk))


def due(*, limit: int = BATCH) -> list[int]:
    """Those that are to be asked and that nobody asks, longest waiting first. Servers that are away are left alone."""
    now = timezone.now()
    wanted = RecallCheck.objects.filter(_free(now), run_after__lte=now, bank__gone_since=None)
    answering = wanted.exclude(bank__server__health=Server.Health.REFUSED).exclude(bank__server__closed_until__gt=now)
    return list(answering.order_by("run_after", "pk").values_list("pk", flat=True)[:limit])


def run(check_id: int) -> str:
    """Asks once. Safe to call twice and at once: claimed by conditional update. Returns a short word."""
    check = _claim(check_id)
    if check is None:
        return "not due"
    bank = check.bank
    if not bank.addressable:
        return _unanswered(check, "Its id has a slash: no call can reach it.")
    try:
        with connections.talking_to(bank.server, read_timeout=READ_TIMEOUT) as client:
            hits = client.recall(bank.bank_id, Asked.parse(check.asked).recall())
    except (HindsightError, CannotDecrypt) as error:
        return _unanswered(check, str(error))
    return _judge(check, hits)


def next_night(number: int) -> datetime:
    """The next time of the installation's night hour; `number` spreads them over an hour."""
    now = timezone.localtime()
    moment = time(settings.RECALL_CHECK_HOUR, number % MINUTES)
    tonight = timezone.make_aware(datetime.combine(now.date(), moment))
    if tonight > now:
        return tonight
    return timezone.make_aware(datetime.combine(now.date() + timedelta(days=1), moment))


@dataclass(frozen=True)
class _Places:
    """Where the hits of one answer are: by id, by words, and by the facts that observations are made from."""

    ids: dict[str, int]
    words: dict[str, tuple[int, str]]  # with the id
    sources: dict[str, int]
    texts: dict[str, str]  # hash of the words of each id

    @classmethod
    def of(cls, hits: Sequence[Hit]) -> "_Places":
        made = cls({}, {}, {}, {})
        for place, hit in enumerate(hits, 1):
            fact, words = hit.fact, words_hash(hit.fact.text)
            made.ids.setdefault(fact.id, place)
            made.texts.setdefault(fact.id, words)
            if not fact.is_observation:
                made.words.setdefault(words, (place, fact.id))
            for source in fact.source_fact_ids if fact.is_observation else ():
                made.sources.setdefault(source, place)
        return made


def _look(expected: ExpectedFact, places: _Places) -> None:
    """Sets what the answer says of it. Under its words first: its id may be another one by now."""
    fact = expected.fact_id
    if expected.words_hash in places.words:
        expected.place, expected.fact_id = places.words[expected.words_hash]
        expected.way = Way.ITSELF
    elif fact in places.ids:
        expected.place, expected.way = places.ids[fact], Way.CHANGED
    elif fact in places.sources:
        expected.place, expected.way = places.sources[fact], Way.DERIVED
    else:
        expected.place, expected.way = None, ""


def _judge(check: RecallCheck, hits: Sequence[Hit]) -> str:
    now, places = timezone.now(), _Places.of(hits)
    expected = list(check.expected.all())
    for each in expected:
        _look(each, places)
        each.missing_since = None if each.place else each.missing_since or now
    changes = {"answered_at": now, "error": "", "failures": 0, "run_after": next_night(check.pk)}
    with transaction.atomic():
        if not _keep(check, **changes):
            return "not ours"
        ExpectedFact.objects.bulk_update(expected, ["place", "fact_id", "way", "missing_since"])
        lost = count_lost(check)
    return "lost" if lost else "well"


def _unanswered(check: RecallCheck, error: str) -> str:
    pause = min(FIRST_PAUSE * 2 ** min(check.failures, 10), LONGEST_PAUSE)
    again = min(timezone.now() + pause, next_night(check.pk))
    _keep(check, error=error[:300], failures=min(check.failures + 1, 1_000), run_after=again)
    return "no answer"


def _claim(check_id: int) -> RecallCheck | None:
    now = timezone.now()
    if not RecallCheck.objects.filter(_free(now), pk=check_id, run_after__lte=now).update(claimed_until=now + CLAIM):
        return None
    check = RecallCheck.objects.select_related("bank__server").filter(pk=check_id).first()
    if check is not None:
        check.claimed_until = now + CLAIM  # never the claim of a worker that was quicker
    return check


def _keep(check: RecallCheck, **changes: Any) -> int:
    """Stores how it ended, if it is still ours."""
    mine = RecallCheck.objects.filter(pk=check.pk, claimed_until=check.claimed_until)
    return mine.update(claimed_until=None, **changes)


def _free(now: datetime) -> Q:
    return Q(claimed_until=None) | Q(claimed_until__lt=now)


def count_lost(check: RecallCheck) -> int:
    """Counts anew, in a transaction that has changed the row of `check` before: so no two count past each other."""
    lost = ExpectedFact.objects.filter(recall_check=check, place=None).count()
    RecallCheck.objects.filter(pk=check.pk).update(lost=lost)
    return lost


def _tell(check_id: int) -> None:
    from banks.tasks import run_recall_check

    try:
        run_recall_check.apply_async((check_id,))
    except (BrokerError, OSError):
        logger.warning("the broker does not answer: the saved query %s waits for the sweep", check_id)
