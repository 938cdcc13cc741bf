"""Taking the newest step back: once, as a new row of the log, or not at all and with the reason."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.http import Http404

from banks import writes
from banks.models import Job, Write
from memadmin.accounts.models import User
from reviews.bulk import deciding, undoing
from reviews.curation import archive
from reviews.curation.remember import rows_before
from reviews.errors import FactRefused, FactTaken, NotDecided, TooLate
from reviews.models import Decision, FactDecision, ReviewEntry
from reviews.selectors.facts import facts_of
from reviews.services import decide, facts, held
from reviews.services.recording import hold
from reviews.undoing.judging import BEING_SENT, Judged, Way, judge
from reviews.undoing.steps import ABOUT_FACTS, BULK, BULK_RESTORE, Step, stack

AGAIN = "It was taken back already; nothing more was done."


class NotUndone(NotDecided):
    """The step stays as it is, and so does everything else. `judged.why` says why, for people."""

    def __init__(self, judged: Judged) -> None:
        self.judged = judged
        super().__init__(judged.why)

    @property
    def passes(self) -> bool:
        """Whether the next undo is of the step before: waiting may help, or it will not."""
        return self.judged.way in (Way.NO, Way.OFFER)


class NotTheLast(NotDecided):
    """Something was done since, in another tab perhaps: that comes first, and nothing was taken back."""

    def __init__(self, step: Step, last: Step) -> None:
        self.step, self.last = step, last
        super().__init__(
            f"Not taken back: {step.said}. Your last action is another one now: {last.said}. It comes first."
        )


@dataclass(frozen=True)
class Undone:
    """What was taken back, and where it is: on a card, in the log, or a job. `again`: by an earlier press."""

    step: Step | None
    entry: int | None = None
    write: int | None = None
    job: int | None = None
    again: bool = False


def undo(*, user: User, name: str, passed: Collection[str] = ()) -> Undone:
    """Takes this step back when it is the newest that can be. Raises NotUndone, NotTheLast, or 404 for no own step.

    `passed`: steps that were refused before, and said so: they are not in the way.
    """
    steps = stack(user)
    at = next((number for number, step in enumerate(steps) if step.name == name), None)
    if at is None:
        return _undone_before(user, name)
    *above, judged = judge(user, [step for step in steps[:at] if step.name not in passed] + [steps[at]])
    if (first := next((each for each in above if each.ready), None)) is not None:
        raise NotTheLast(judged.step, first.step)
    if judged.ready:
        try:
            return _take_back(user, judged)
        except NotDecided as refused:  # somebody was faster than we judged, or we ourselves
            (now,) = judge(user, [judged.step])
            way = Way.WAIT if isinstance(refused, FactTaken) else Way.NO
            judged = replace(now, way=way, why=str(refused)) if now.ready else now
    if (answer := _answer(user, judged.step)) is not None:
        return answer
    raise NotUndone(judged)


def _take_back(user: User, judged: Judged) -> Undone:
    step, write, entry = judged.step, judged.write, judged.entry
    if step.kind in BULK:
        start = archive.start_undo if step.kind == BULK_RESTORE else undoing.start
        return Undone(step, job=start(user=user, job=Job.objects.get(pk=step.pk)).pk)
    assert write is not None
    if step.kind not in ABOUT_FACTS:
        assert entry is not None
        if step.kind == "edit-held":
            return Undone(step, entry=entry.pk, write=held.undo_edit(user=user, entry=entry, write=write).pk)
        decide.undo(user=user, entry_id=entry.pk, version=entry.version)
        return Undone(step, entry=entry.pk)
    if write.is_open:
        made = _cancel(user, write)
    else:
        made = {"retire": _restore, "restore": _retire_again, "edit-fact": _edit_back}[step.kind](user, write, entry)
    return Undone(step, entry=entry.pk if entry else None, write=made.pk)


def _cancel(user: User, write: Write) -> Write:
    """Nothing of it has left: it never will."""
    with transaction.atomic():
        if not writes.cancel(write=write, unsent=True):
            raise TooLate(BEING_SENT)
        return writes.record(kind="undo", bank=write.bank, fact_ids=write.fact_ids, **_of(user, write))


def _restore(user: User, write: Write, entry: ReviewEntry | None) -> Write:
    ids = facts.current_ids(write, write.outcome["retired"])
    with transaction.atomic():
        _claim(write, entry, ids)
        return facts.restore_row(user=user, write_id=write.pk)[0]  # a row of a person is about one document


def _retire_again(user: User, write: Write, entry: ReviewEntry | None) -> Write:
    """With the reasons that the facts had before they were restored."""
    restored: list[str] = write.outcome["restored"]
    ids = facts.current_ids(write, restored)
    reasons = _reasons(write)
    params = {
        "reason": write.params.get("reason", ""),
        "reasons": {now: reasons[old] for old, now in zip(restored, ids, strict=True) if reasons.get(old)},
        "seen": _texts(write, ids),
    }
    if "decision" in write.params:
        params["decision"] = write.params["decision"]
    with transaction.atomic():
        _claim(write, entry, ids)
        return writes.record(
            kind="retire",
            bank=write.bank,
            fact_ids=ids,
            facts_before=entry.facts if entry and entry.facts_id else write.facts_before,
            params=params,
            **_of(user, write),
        )


def _edit_back(user: User, write: Write, entry: ReviewEntry | None) -> Write:
    """Only while the fact has our text: the door compares it again before it is sent."""
    old, new = write.before, write.request
    if old is None or new is None or old.erased:
        raise FactRefused("Our stored copy of the earlier text was erased, so the fact keeps its text.")
    ids = facts.current_ids(write, write.fact_ids)
    with transaction.atomic():
        _claim(write, entry, ids)
        return writes.record(
            kind="edit-fact",
            bank=write.bank,
            fact_ids=ids,
            request=old,
            before=new,
            facts_before=entry.facts if entry and entry.facts_id else write.facts_before,
            params={"seen": {ids[0]: new.pk}},
            **_of(user, write),
        )


def _of(user: User, write: Write) -> dict[str, Any]:
    return {"via": Write.Via.WEB, "actor": user, "document_id": write.document_id, "undo_of": write}


def _claim(write: Write, entry: ReviewEntry | None, ids: list[str]) -> None:
    """Of two presses one goes on, and nobody else acts on these facts meanwhile."""
    hold(write)
    if write.undone_by.exclude(state=Write.State.CANCELLED).exists():
        raise TooLate(AGAIN)
    if entry is None:
        facts.refuse_taken(write.bank_id, write.document_hash, ids)
        return
    _still_there(entry, ids)
    facts.take(entry, ids)


def _still_there(entry: ReviewEntry, ids: list[str]) -> None:
    """What was extracted anew since has other ids. Where not all facts were loaded, only the bank can tell."""
    known = {fact.id for fact in facts_of(entry)}
    if len(known) >= (entry.fact_count or 0) + (entry.retired_count or 0) and not known.issuperset(ids):
        raise FactRefused("The document was extracted anew since: this fact is not in it any more.")


def _reasons(write: Write) -> dict[str, str]:
    """{fact id: why it was retired} before a row restored it, from wherever the log has it."""
    found = {str(row["id"]): str(row.get("invalidation_reason") or "") for row in rows_before(write)}
    if write.undo_of is not None:
        told = write.undo_of.params
        found |= {fact_id: told["reason"] for fact_id in write.fact_ids if told.get("reason")}
        found |= told.get("reasons", {})
    return found


def _texts(write: Write, ids: list[str]) -> dict[str, str]:
    """{fact id: hash of its text}, so that a fact that says something else by then is not retired."""
    rows = FactDecision.objects.filter(bank=write.bank_id, fact_id__in=ids)
    return {each.fact_id: each.text_id for each in rows}


def _undone_before(user: User, name: str) -> Undone:
    """A step that is no longer on the stack: taken back by an earlier press, too old, or nobody's of ours (404)."""
    write = None
    if name[:1] == "w" and name[1:].isascii() and name[1:].isdigit() and len(name) < 19:
        write = Write.objects.select_related("bank").filter(pk=int(name[1:]), actor=user).first()
    elif name[:1] == "j" and name[1:].isascii() and name[1:].isdigit() and len(name) < 19:
        job = Job.objects.filter(pk=int(name[1:]), owner=user, kind__in=[archive.RESTORE, deciding.KIND]).first()
        if job is not None:
            return _job_answer(job)
    if write is None:
        raise Http404("No such action of yours.")
    answer = write.undone_by.exclude(state=Write.State.CANCELLED).filter(actor=user).order_by("-pk").first()
    if answer is None:
        raise TooLate("That was too long ago to be taken back here. The write log has it.")
    return _where(write, answer)


def _answer(user: User, step: Step) -> Undone | None:
    """What an earlier press of this person has made of the step, None when none did."""
    try:
        return _undone_before(user, step.name)
    except NotDecided:
        return None


def _job_answer(job: Job) -> Undone:
    kinds = [archive.RETIRE, undoing.KIND]
    made = Job.objects.filter(kind__in=kinds, params__job=job.pk).order_by("-pk").first()
    if made is None:
        raise TooLate("That was too long ago to be taken back here. The page of that work has it.")
    return Undone(None, job=made.pk, again=True)


def _where(write: Write, answer: Write) -> Undone:
    decision = Decision.objects.filter(write=answer).first()
    if decision is not None:
        return Undone(None, entry=decision.entry_id, write=answer.pk, again=True)
    entry = ReviewEntry.objects.of_document(bank=write.bank, document_id=write.document_id).first()
    return Undone(None, entry=entry.pk if entry else None, write=answer.pk, again=True)
