"""Parked lines find their place: a server admin says which bank, or which server an address of a source means."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import Q

from banks import jobs
from banks.access import servers_for
from banks.models import Bank, Job, Role, Server, Write
from memadmin.accounts.models import User
from reviews.importing.apply import Applier, Overtaken
from reviews.importing.events import Event
from reviews.importing.job import TRIES, apply_in_steps
from reviews.importing.placing import Placer, mapping_key
from reviews.importing.plan import Group, groups_of
from reviews.importing.replay import Item, Line
from reviews.models import Parked, SourceEvent, SourceFile
from reviews.selectors.imports import parked_to_assign

KIND = "assign-parked"
AT_ONCE = 500


def assign_to_bank(*, user: User, parked: Parked, bank: Bank) -> list[SourceEvent]:
    """Puts a parked line, and the other parked lines of its source about the same document, into this bank.

    Returns the lines as they are afterwards. Raises PermissionDenied unless the person administers the bank's server.
    """
    _require_admin(user, bank.server)
    first = parked.event
    rows = SourceEvent.objects.filter(
        Q(bank_id__in=["", first.bank_id]) if first.bank_id else Q(),
        source=first.source,
        document_id=first.document_id,
        state=Line.PARKED,
        parked__in=parked_to_assign(user),
    )
    if first.base_url:
        rows = rows.filter(base_url__in=["", first.base_url], namespace__in=["", first.namespace])
    items = _items(rows.order_by("created", "line")[:AT_ONCE])
    group = Group(items, bank, bank.server, document_hash=Write.hash_of(first.document_id))
    applier = Applier(source=first.source, user=user, job=None, raw_of=_raw_is_stored)
    for attempt in range(1, TRIES + 1):
        try:
            with transaction.atomic():
                applier.apply([group] if items else [])
            break
        except (Overtaken, IntegrityError):
            if attempt == TRIES:
                raise
    return list(SourceEvent.objects.filter(pk__in=[item.pk for item in items]).order_by("pk"))


def map_address(*, user: User, parked: Parked, server: Server) -> Job:
    """From now on this address means this server, in the files of the line's source; its parked lines follow in a job.

    Raises PermissionDenied unless the person administers the server.
    """
    _require_admin(user, server)
    key = mapping_key(parked.event.base_url)
    with transaction.atomic():
        source = SourceFile.objects.get(pk=parked.event.source_id)
        source.mapping = {**source.mapping, key: server.pk}
        source.save(update_fields=["mapping"])
        return jobs.start(
            kind=KIND,
            owner=user,
            title=f"Parked lines of {source.machine or 'a queue file'}",
            params={"source": source.pk},
        )


def run_assign(run: jobs.Run) -> dict[str, Any]:
    """The handler: places the parked lines of a source again, with the rights of the person who asked."""
    if run.job.owner is None:
        raise jobs.JobError("The person who assigned the lines is gone.")
    try:
        source = SourceFile.objects.select_related("owner").get(pk=run.params["source"])
    except SourceFile.DoesNotExist as error:
        raise jobs.JobError("The source of the lines is gone.") from error
    user = run.job.owner
    rows = SourceEvent.objects.filter(source=source, state=Line.PARKED, parked__in=parked_to_assign(user))
    items = _items(rows.order_by("created", "line"))
    run.heartbeat(total=run.job.done + len(items))
    placer = Placer(source=source, user=user)
    groups = groups_of(items, source=source, user=user, place=placer.place)
    placed = [group for group in groups if group.bank]
    applier = Applier(source=source, user=user, job=None, raw_of=_raw_is_stored)
    apply_in_steps(run, applier, placed, done=run.job.done)
    return {"lines": run.job.total, "placed": run.job.done}


def _require_admin(user: User, server: Server) -> None:
    if not servers_for(user, Role.ADMIN).filter(pk=server.pk).exists():
        raise PermissionDenied("Only an admin of this server assigns lines to it.")


def _items(rows: Any) -> list[Item]:
    """Ordered rows as items. Lots are stored by document: only import and line say what came first."""
    fields = ("document_id", "bank_id", "base_url", "namespace", "project", "reason", "language", "ts", "action", "by")
    found = rows.values_list("pk", "line", "identity", "state", "ev", *fields)
    return [
        Item(line, order, 0, Event(ev, *values), identity, pk=pk, known=state, from_row=True)
        for order, (pk, line, identity, state, ev, *values) in enumerate(found)
    ]


def _raw_is_stored(item: Item) -> bytes:
    raise AssertionError("lines read from rows are never stored again")


jobs.register(KIND, run_assign)
