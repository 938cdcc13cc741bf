"""Collects what the auditor compares: from the product's database, from the bank, and from the line between."""

from collections import Counter

from django.db.models import Q
from django.utils import timezone

from banks.models import Job, Write
from reviews.models import Decision, ReviewEntry
from tests.faults.audit import Entry, Evidence, Row, Verdict
from tests.faults.people import Act
from tests.faults.world import Contents


def collect(*, acts: list[Act], entries: list[int], before: Contents, now: Contents, deleted: Counter[str]) -> Evidence:
    """`before`: when the round began; `deleted`: by the line, since then."""
    found = [_entry(entry) for entry in ReviewEntry.objects.filter(pk__in=entries).select_related("text")]
    documents = {entry.document for entry in found}
    decisions = Decision.objects.filter(entry__in=entries).select_related("user").order_by("pk")
    writes = Write.objects.filter(document_id__in=documents).select_related("request", "actor").order_by("pk")
    return Evidence(
        acts=acts,
        verdicts=[_verdict(decision) for decision in decisions],
        rows=[_row(write) for write in writes],
        entries=found,
        before={name: before.text(name) or "" for name in documents},
        bank={name: now.text(name) for name in documents},
        deleted=deleted,
        operations={key: document for key, (document, _) in now.operations.items() if document in documents},
        strangers_changed=_differences(before.but(documents), now.but(documents)),
    )


def open_work(entries: list[int]) -> list[str]:
    """What is still to be done before the auditor may look; empty when everything is quiet."""
    documents = ReviewEntry.objects.filter(pk__in=entries).values("document_id")
    rows = Write.objects.filter(document_id__in=documents, state__in=Write.OPEN).values_list("pk", "kind", "state")
    jobs = Job.objects.exclude(state__in=Job.ENDED).values_list("pk", "kind", "state")
    loads = ReviewEntry.objects.filter(_unloaded(), pk__in=entries).values_list("pk", "load_state")
    return [f"{name} {row}" for name, found in (("write", rows), ("job", jobs), ("load", loads)) for row in found]


def _unloaded() -> Q:
    """The text is wanted now, or is shown as loading."""
    pending = Q(state=ReviewEntry.State.PENDING, load_state=ReviewEntry.Load.LOADING)
    return pending | Q(state=ReviewEntry.State.PENDING, load_after__lte=timezone.now())


def _entry(entry: ReviewEntry) -> Entry:
    text = entry.text.text if entry.text else None
    waits = "deleting" if entry.state == ReviewEntry.State.DELETING else ""
    return Entry(entry.pk, entry.document_id, entry.state, entry.loaded, text, waits)


def _verdict(decision: Decision) -> Verdict:
    who = decision.user.username if decision.user else ""
    return Verdict(
        decision.pk, decision.entry_id, decision.verdict, decision.decided_via, who, decision.version, decision.write_id
    )


def _row(write: Write) -> Row:
    return Row(
        pk=write.pk,
        kind=write.kind,
        via=write.via,
        state=write.state,
        document=write.document_id,
        user=write.actor.username if write.actor else "",
        text=write.request.text if write.request else None,
        error=write.error_text,
        operation=str(write.operation_id),
        undo_of=write.undo_of_id,
        came_back=bool(write.outcome.get("came_back")),
    )


def _differences(before: tuple[object, ...], now: tuple[object, ...]) -> list[str]:
    found = []
    for old, new in zip(before, now, strict=True):
        assert isinstance(old, dict)
        assert isinstance(new, dict)
        found += [f"{key} is gone" for key in old.keys() - new.keys()]
        found += [f"{key} is new" for key in new.keys() - old.keys()]
        found += [f"{key} is another" for key in old.keys() & new.keys() if old[key] != new[key]]
    return found
