"""Ten thousand decisions as one act, and the least that these can be: the same rows by few statements."""

import time
from uuid import uuid4

from django.db import connection, transaction
from django.utils import timezone

from banks import bulk, jobs
from banks.models import Write
from memadmin.accounts.models import User
from reviews.bulk import deciding, scope
from reviews.models import Decision, ReviewEntry
from reviews.selectors.filters import Filters
from tests.bench.inside.fill import OPERATOR

LOT = 100


def decide(count: int) -> float:
    """Seconds of the job, until the last is decided."""
    user = User.objects.get(username=OPERATOR)
    picks = scope.sort_matching(user, Filters(), "approve").picks[:count]
    job = deciding.start(user=user, verdict="approve", picks=picks, here=True)
    start = time.perf_counter()
    assert jobs.run(job.pk, slice_seconds=None) == "done"
    taken = time.perf_counter() - start
    assert Write.objects.filter(group=job.params["group"]).count() == count
    return taken


def counting() -> float:
    """Seconds of the exact count before it, of all that is pending."""
    user = User.objects.get(username=OPERATOR)
    start = time.perf_counter()
    assert scope.sort_matching(user, Filters(), "approve").total
    return time.perf_counter() - start


def floor(count: int) -> float:
    """Seconds of as many conditional updates, each with a row of the log and a decision, a hundred in a transaction."""
    rows = ReviewEntry.objects.filter(state="pending", load_state="loaded", danger=False).order_by("pk")
    waiting = list(rows.values_list("pk", "version", "bank", "document_id", "document_hash", "text")[:count])
    user, group = User.objects.get(username=OPERATOR), uuid4()
    writes = bulk.Inserter(
        Write,
        ["id", "bank_id", "document_id", "document_hash", "operation_id"],
        kind="approve",
        via="web",
        state="done",
        actor=user,
        actor_name=user.username,
        group=group,
    )
    decisions = bulk.Inserter(
        Decision, ["entry_id", "write_id", "text_hash"], verdict="approved", decided_via="person", user=user, version=1
    )
    sql = (
        "UPDATE reviews_reviewentry SET state = 'approved', version = version + 1, decided_at = %s, "
        "decided_via = 'person', decided_by = %s WHERE id = %s AND state = 'pending' AND version = %s"
    )
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    start = time.perf_counter()
    for at in range(0, len(waiting), LOT):
        lot = waiting[at : at + LOT]
        with transaction.atomic():
            ids = bulk.reserve_ids(Write, len(lot))
            with connection.cursor() as cursor:
                cursor.executemany(sql, [(now, user.username, pk, version) for pk, version, *_ in lot])
            new = list(zip(ids, lot, strict=True))
            named = [(write, bank, name, digest, _uuid()) for write, (_, _, bank, name, digest, _) in new]
            writes.insert(named)
            decisions.insert([(pk, write, text or "") for write, (pk, _, _, _, _, text) in new])
    return time.perf_counter() - start


def _uuid() -> str:
    return uuid4().hex if connection.vendor == "sqlite" else str(uuid4())
