"""The kind of write that sends a batch of the retain queue: one retain in the background, watched until it is there."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from banks.hindsight import HindsightClient, Invalid, Operation
from banks.kinds import NO_BANK
from banks.models import Bank, RetainItem, Write
from banks.retain import flush, landing, missions, person, resend
from banks.retain.landing import Landing
from banks.retain.wire import wire_items
from banks.writes import Accepted, Done, Kind, NotDone, Replaced, StillWorking, Stuck, after, register
from banks.writes.dispatch import dispatch
from banks.writes.kind import retain_slot
from memadmin.accounts.models import User

State = RetainItem.State

# A retain that is still on its way to the server is not known there yet.
ARRIVES_WITHIN = timedelta(seconds=60)
# What the server calls done is in its lists a moment later.
VISIBLE_WITHIN = timedelta(seconds=60)
# Parts are made together with the operation: one without any has none.
PARTS_WITHIN = timedelta(minutes=10)
# No provider's batch takes longer. It is shown, and still nothing is sent again while a part of it may run.
OVERDUE_AFTER = timedelta(hours=25)
REFUSED_WHOLE = (400, 413, 422)
APART = {"refused_whole", "erased", "persons_bank"}  # outcomes after which each memory goes by itself

ERASED = "The text of a memory was erased before it was sent. Discard it: nothing is left that could be sent."
MAYBE_APPENDED = (
    "No answer came, and the server does not know the operation. What is appended is never sent again by itself: look "
    "at the document, then send it again or discard this. The text is in this row."
)
NOTHING_RUNS = "The server has not ended it for more than {hours:.0f} hours, and no part of it runs."
WAITS_FOR_PARTS = "That waits until the parts that wait there have ended: cancel them on the page Operations."
CHILDREN_TOLD = 5


@register
class Retain(Kind):
    """Of rows that an agent's own log brought nothing is ever sent: they have no slot."""

    name, glyph, verb, past, tone = "retain", "↗", "retain", "retained", "none"
    frees_slot = True

    def slot(self, *, bank: Bank, **about: object) -> str:
        return retain_slot(bank)

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | StillWorking | None:
        if (missing := missing_bank(client, write.bank)) is not None:
            return missing
        missions.ensure(client, write.bank)
        if (early := self._earlier_ones(client, write)) is not None:
            return early
        appended = write.items.filter(update_mode=RetainItem.Mode.APPEND)  # all of a batch, or none
        if appended.exists():
            lengths = landing.lengths(client, write, _unseen(_without_texts(write)))
            write.outcome = {**write.outcome, landing.LENGTHS: lengths}
        return None

    def _earlier_ones(self, client: HindsightClient, write: Write) -> Done | StillWorking | None:
        """Of what was sent before: nothing while a part of that may run, and not what is seen to be there by now."""
        if not (earlier := write.params.get("after", [])):
            return None
        completed = False
        for operation_id in earlier:
            known = client.get_operation(write.bank.bank_id, operation_id)
            if not known.not_found and not _ended(known):
                return StillWorking({"waits_for": operation_id})
            completed = completed or _completed(known)
        found = landing.look(client, write, _without_texts(write), completed=completed)
        return None if found.not_here else _done(found)

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck | Replaced:
        rows = _unseen(_rows(write))
        if any(row.content.erased for row in rows):
            return Replaced({"erased": True}) if len(rows) > 1 else Stuck(ERASED)
        if not all(person.may_be_sent(write.bank, row) for row in rows):
            return Replaced({"persons_bank": True}) if len(rows) > 1 else Stuck(person.NOT_FOR_A_PERSON)
        try:
            retained = client.retain(
                write.bank.bank_id,
                wire_items(rows),
                operation_id=write.operation_id,
                document_tags=rows[0].document_tags,
            )
        except Invalid as refused:
            if len(rows) > 1 and refused.status in REFUSED_WHOLE:
                return Replaced({"refused_whole": refused.detail})
            raise
        ignored = {"ignored": list(retained.ignored_params)} if retained.ignored_params else {}
        return Accepted({"operation": retained.operation_id, **ignored})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        known = client.get_operation(write.bank.bank_id, str(write.operation_id))
        if known.not_found:
            return self._unknown(client, write)
        if not _ended(known):
            return self._overdue(client, write, known) or _running(known, write)
        completed = _completed(known)
        found = landing.look(client, write, _without_texts(write), completed=completed)
        if not found.not_here:
            return _done(found)
        since = write.outcome.get("ended") or timezone.now().isoformat()
        if completed and timezone.now() < datetime.fromisoformat(since) + VISIBLE_WITHIN:
            return StillWorking({"status": "looking for the documents", "ended": since})
        return _stuck(known, write, found)

    def _overdue(self, client: HindsightClient, write: Write, known: Operation) -> Stuck | None:
        """No provider takes that long, and nothing of it runs: a person decides. What is there by now is noted."""
        waiting = [part.status for part in known.children if not part.terminal]
        if timezone.now() - (write.sent or write.created) <= OVERDUE_AFTER or set(waiting) != {"pending"}:
            return None
        found = landing.look(client, write, _without_texts(write), completed=False)
        if not found.not_here:
            return None
        text = f"{NOTHING_RUNS.format(hours=OVERDUE_AFTER.total_seconds() / 3600)} {_told(found)} {WAITS_FOR_PARTS}"
        return Stuck(text, {"status": known.status, "waiting": len(waiting), "missing": len(found.not_here)})

    def _unknown(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        """It never arrived, or its row was cleaned up: the documents themselves tell."""
        rows = _without_texts(write)
        found = landing.look(client, write, rows, completed=False)
        if not found.not_here:
            return _done(found)
        if "operation" in write.outcome:
            said = "The server took it, and does not know the operation any more."
            return Stuck(f"{said} {_told(found)}", {"missing": len(found.not_here)})
        if rows[0].update_mode == RetainItem.Mode.REPLACE:
            return NotDone()  # under the same operation id: if it is still on its way, it is done once
        if write.sent and timezone.now() < write.sent + ARRIVES_WITHIN:
            return StillWorking({"status": "not known to the server yet"})
        return Stuck(MAYBE_APPENDED)

    def again(self, *, write: Write, actor: User) -> bool | None:
        return resend.resend(write=write, actor=actor)

    def freed(self, write: Write) -> None:
        """What waits for the bank need not wait for the sweep: the next batch, or what has come together meanwhile."""
        following = Write.objects.filter(slot=retain_slot(write.bank), state__in=Write.OPEN).order_by("pk")
        if (earliest := following.values_list("pk", "state").first()) is None:
            if RetainItem.objects.filter(bank=write.bank_id, state=State.QUEUED).exists():
                flush.flush(write.bank_id)  # here: another message would wait for its turn
        elif earliest[0] != write.pk and earliest[1] == Write.State.QUEUED:
            dispatch(earliest[0])


@after("retain")
def batch_ended(write: Write) -> None:
    """Each memory is where the bank was seen to have it; of the others a person decides."""
    RetainItem.objects.filter(write=write, seen_at__isnull=False).exclude(state=State.DISCARDED).update(
        state=State.DONE, error=""
    )
    rows = RetainItem.objects.filter(write=write, state=State.SENT)
    if write.state == Write.State.CANCELLED and write.outcome.keys() & APART:
        rows.update(state=State.QUEUED, alone=True, not_before=timezone.now())
        return
    if write.state == Write.State.DONE:
        rows.update(state=State.DONE, error="")
    elif write.state in (Write.State.ATTENTION, Write.State.CHANGED):
        rows.update(state=State.ATTENTION)
    elif write.state == Write.State.CANCELLED:
        left = RetainItem.objects.filter(write=write, state__in=[State.SENT, State.ATTENTION])
        left.update(state=State.DISCARDED)


def missing_bank(client: HindsightClient, bank: Bank) -> Stuck | None:
    """A retain creates the bank when there is none, and nobody asked for that."""
    if client.has_bank(bank.bank_id):
        return None
    Bank.objects.filter(pk=bank.pk, gone_since=None).update(gone_since=timezone.now())
    return Stuck(NO_BANK)


def _rows(write: Write) -> list[RetainItem]:
    """To send them."""
    said = ["document_id", "timestamp", "context", "metadata", "tags", "document_tags", "entities", "resolve_entities"]
    how = ["observation_scopes", "strategy", "update_mode", "user_bank", "seen_at", "content"]
    return list(RetainItem.objects.filter(write=write).select_related("content").only(*said, *how).order_by("pk"))


def _without_texts(write: Write) -> list[RetainItem]:
    """To look for them in the bank: what landing reads."""
    read = ["document_id", "update_mode", "queued_at", "seen_at", "fact_count", "error", "content__length"]
    return list(RetainItem.objects.filter(write=write).select_related("content").only(*read).order_by("pk"))


def _unseen(rows: list[RetainItem]) -> list[RetainItem]:
    """What the bank is not known to have: nothing else is ever sent."""
    return [row for row in rows if row.seen_at is None]


def _ended(known: Operation) -> bool:
    """Also where all parts have, and the whole was left waiting by a server that died in between."""
    return known.terminal or (bool(known.children) and all(part.terminal for part in known.children))


def _completed(known: Operation) -> bool:
    parts = {part.status for part in known.children}
    return parts == {"completed"} if parts else known.status == "completed"


def _running(known: Operation, write: Write) -> StillWorking | Stuck:
    since = timezone.now() - (write.sent or write.created)
    if not known.children and known.status == "pending" and not known.error and since > PARTS_WITHIN:
        return Stuck(
            "The server took it and made no part of it: nothing runs there, and nothing was stored. Send it again, or "
            "discard this.",
            {"status": known.status},
        )
    told: dict[str, Any] = {"status": known.status}
    errors = [part.error for part in known.children if part.error]
    if said := known.error or "; ".join(errors[:CHILDREN_TOLD]):
        told["server_says"] = said
    if since > OVERDUE_AFTER:
        told["overdue"] = True
    return StillWorking(told)


def _done(found: Landing) -> Done:
    facts = [row.fact_count or 0 for row in found.here]
    empty = sum(count == 0 for count in facts)
    outcome: dict[str, Any] = {"memories": len(found.here), "facts": sum(facts), "status": "completed"}
    return Done(outcome | ({"zero_facts": empty} if empty else {}))


def _stuck(known: Operation, write: Write, found: Landing) -> Stuck:
    parts = [{"id": part.id, "status": part.status, "error": part.error} for part in known.children]
    _note_errors(known, found)
    failed = [f"{part['id']}: {part['error'] or part['status']}" for part in parts if part["status"] != "completed"]
    said = "; ".join(failed[:CHILDREN_TOLD]) or known.error or known.status
    return Stuck(
        f"The server ended it as {known.status}: {said} {_told(found)}",
        {"status": known.status, "children": parts, "missing": len(found.not_here), "memories": len(found.here)},
    )


def _told(found: Landing) -> str:
    whole = len(found.here) + len(found.not_here)
    return f"{len(found.here)} of {whole} memories are in the bank; the others can be sent again from this row."


def _note_errors(known: Operation, found: Landing) -> None:
    """Which part a memory was in, where that can be told: parts have the order of the request."""
    rows = sorted([*found.here, *found.not_here], key=lambda row: row.pk)
    if sum(part.items for part in known.children) != len(rows):
        return
    missing = {row.pk for row in found.not_here}
    place = 0
    for part in known.children:
        for row in rows[place : place + part.items]:
            if row.pk in missing:
                row.error = (part.error or part.status)[:500]
        place += part.items
    RetainItem.objects.bulk_update(found.not_here, ["error"])
