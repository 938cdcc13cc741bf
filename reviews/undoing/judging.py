"""Whether a step may be taken back, from how things are now. A constant number of queries for any number of steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from django.db.models import Count as CountOf
from django.db.models import Max

from banks import access
from banks.models import Job, RetainItem, Role, Write
from memadmin import words
from reviews.models import Decision, FactDecision, ReviewEntry
from reviews.services import approvals, held
from reviews.services.extraction import EXTRACTING
from reviews.services.facts import moved_since
from reviews.undoing.steps import ABOUT_FACTS, BULK, BULK_RESTORE, Step

State, Verdict = ReviewEntry.State, FactDecision.Verdict
PAST = {"retire": "retired", "restore": "restored", "edit-fact": "edited"}
UNSEEN = "It is in a bank that you can no longer see."
NO_ROLE = "Your role on its bank does not allow it any more."
BANK_GONE = "Its bank is no longer on the server."
BEING_SENT = "The bank is being told just now. When that has ended, press again."
PUT_BACK = "It is deleted, so it cannot be taken back. The document can be put back from our stored text."
EDIT = "An edit is not taken back by a key, since the bank would extract all facts of the document anew."
REVERT = f"{EDIT} The earlier text can be stored again."
ELSEWHERE = "This memory is in another state than your decision left it in."
STORING = "The bank is storing the text just now. When that has ended, the earlier text can be stored again."
EXTRACTED = "All facts of its document are being extracted again. When that has ended, press again."


class Way(Enum):
    """`NOW`: one press. `WAIT`: not yet. `OFFER`: by another act, which is offered. `NO`: not any more."""

    NOW = "now"
    WAIT = "wait"
    OFFER = "offer"
    NO = "no"


@dataclass(frozen=True)
class Judged:
    """A step and what may be done about it; `why` is for people, "" where it may be taken back."""

    step: Step
    way: Way
    why: str = ""
    write: Write | None = None
    entry: ReviewEntry | None = None

    @property
    def ready(self) -> bool:
        return self.way is Way.NOW

    @property
    def offered(self) -> bool:
        return self.way is Way.OFFER


def judge(user: Any, steps: Sequence[Step]) -> list[Judged]:
    """In the order of the steps."""
    known = _Known(user, steps)
    return [_bulk(step, known) if step.kind in BULK else _row(step, known) for step in steps]


@dataclass
class _Known:
    """Everything that is looked at, read at once for all steps, and only where one of them needs it."""

    user: Any
    steps: Sequence[Step]
    mine: list[int] | None = field(init=False)

    def __post_init__(self) -> None:
        self.mine = access.bank_ids_for(self.user, Role.REVIEWER)

    @cached_property
    def writes(self) -> dict[int, Write]:
        pks = [step.pk for step in self.steps if step.kind not in BULK]
        return {write.pk: write for write in Write.objects.select_related("bank__server").filter(pk__in=pks)}

    @cached_property
    def answers(self) -> dict[int | None, Write]:
        """By the row that was taken back: what took it back, by whomever."""
        rows = Write.objects.filter(undo_of__in=list(self.writes)).exclude(state=Write.State.CANCELLED)
        return {
            row.undo_of_id: row for row in rows.only("kind", "via", "actor", "actor_name", "undo_of").order_by("pk")
        }

    @cached_property
    def entries(self) -> dict[tuple[int, str], ReviewEntry]:
        documents = {step.document_hash for step in self.steps if step.document_hash}
        banks = {step.bank_id for step in self.steps if step.bank_id}
        fields = (
            "bank",
            "document_id",
            "document_hash",
            "item",
            "state",
            "version",
            "text",
            "load_state",
            "vouched_version",
        )
        rows = ReviewEntry.objects.filter(bank__in=banks, document_hash__in=documents).only(*fields)
        return {(entry.bank_id, entry.document_hash): entry for entry in rows}

    @cached_property
    def held(self) -> dict[int | None, ReviewEntry]:
        """By the row: memories that were held for review, and are no documents yet."""
        rows = Decision.objects.filter(write__in=list(self.writes), entry__item__isnull=False)
        return {each.write_id: each.entry for each in rows.select_related("entry__item", "entry__bank")}

    @cached_property
    def latest(self) -> dict[int, Decision]:
        """By entry: its latest decision."""
        entries = [*self.entries.values(), *self.held.values()]
        newest = Decision.objects.filter(entry__in=entries).values("entry").annotate(at=Max("pk"))
        return {each.entry_id: each for each in Decision.objects.filter(pk__in=newest.values("at"))}

    @cached_property
    def open(self) -> list[Write]:
        """Rows about these documents that are under way."""
        documents = {step.document_hash for step in self.steps if step.kind in ABOUT_FACTS and step.document_hash}
        rows = Write.objects.filter(state__in=Write.OPEN, document_hash__in=documents) if documents else []
        return [row for row in rows if row.pk not in self.writes]

    @cached_property
    def now(self) -> dict[tuple[int, str], str]:
        """{(bank, fact id of a row): its id now}"""
        rows = [write for write in self.writes.values() if write.kind in PAST]
        return moved_since({(row.bank_id, fact_id) for row in rows for fact_id in _done(row)})

    @cached_property
    def facts(self) -> dict[tuple[int, str], FactDecision]:
        banks, ids = {bank for bank, _ in self.now}, set(self.now.values())
        rows = FactDecision.objects.filter(bank__in=banks, fact_id__in=ids) if ids else []
        return {(each.bank_id, each.fact_id): each for each in rows}

    @cached_property
    def jobs(self) -> dict[int, Job]:
        return Job.objects.in_bulk([step.pk for step in self.steps if step.kind in BULK])

    @cached_property
    def groups(self) -> dict[str, dict[str, int]]:
        """{group: {state: rows}} of the bulk actions."""
        groups = [job.params["group"] for job in self.jobs.values()]
        found: dict[str, dict[str, int]] = {group: {} for group in groups}
        rows = Write.objects.filter(group__in=groups).order_by()
        for group, state, number in rows.values_list("group", "state").annotate(CountOf("pk")):
            found[str(group)][state] = number
        return found

    @cached_property
    def retired_again(self) -> set[str]:
        rows = Write.objects.filter(kind="retire", undo_of__group__in=list(self.groups))
        return {str(group) for group in rows.order_by().values_list("undo_of__group", flat=True).distinct()}


def _row(step: Step, known: _Known) -> Judged:
    write = known.writes[step.pk]
    if step.hidden:
        return Judged(step, Way.NO, UNSEEN)
    entry = known.held.get(write.pk) or known.entries.get((write.bank_id, write.document_hash))

    def judged(way: Way, why: str = "") -> Judged:
        return Judged(step, way, why, write, entry)

    if known.mine is not None and write.bank_id not in known.mine:
        return judged(Way.NO, NO_ROLE)
    if write.bank.gone_since is not None:
        return judged(Way.NO, BANK_GONE)
    if (answer := known.answers.get(write.pk)) is not None and answer.kind != "reopen":
        return judged(Way.NO, f"{_who(answer, known.user)} took it back already.")
    if write.state == Write.State.CANCELLED:
        return judged(Way.NO, "It was given up, so nothing of it is there to be taken back.")
    if write.kind in ABOUT_FACTS:
        return judged(*_facts(write, known))
    if entry is None:
        return judged(Way.NO, "This memory is not here any more.")
    return judged(*_decision(write, entry, known.latest.get(entry.pk), known.user))


def _decision(write: Write, entry: ReviewEntry, latest: Decision | None, user: Any) -> tuple[Way, str]:
    """Approve, delete, edit and close: only the latest decision of a memory can be taken back."""
    if write.kind == "edit-held":  # like this, also when it was decided on since, and that was taken back
        same = entry.held and entry.text_id == write.request_id
        return (Way.NOW, "") if same else (Way.NO, "It was worded anew, or decided on, since your edit.")
    if latest is None or latest.write_id != write.pk:
        return Way.NO, _since(latest, user)
    if write.kind == "vouch":
        return (Way.NOW, "") if entry.vouched else (Way.NO, approvals.NO_LONGER)
    if entry.item is not None:
        return _held(write, entry, entry.item)
    if write.kind == "edit":
        return _edit(write, entry)
    if write.kind == "delete":
        if entry.state == State.DELETED:
            return Way.OFFER, PUT_BACK
        waits = entry.state == State.DELETING and write.state in (Write.State.QUEUED, Write.State.RETRYING)
        return (Way.NOW, "") if waits else (Way.WAIT, BEING_SENT)
    if entry.state != (State.APPROVED if write.kind == "approve" else State.DELETED):
        return Way.NO, ELSEWHERE
    if write.kind == "approve" and entry.text_id != latest.text_hash:
        return Way.NO, "It was written again since. Look at it, and decide on the text that is there now."
    return Way.NOW, ""


def _held(write: Write, entry: ReviewEntry, item: RetainItem) -> tuple[Way, str]:
    """Approve and reject of what is no document yet."""
    if write.kind == "reject":
        return (Way.NOW, "") if entry.state == State.REJECTED else (Way.NO, ELSEWHERE)
    if entry.state != State.APPROVED:
        return Way.NO, ELSEWHERE
    if item.state == RetainItem.State.QUEUED and item.write_id is None:
        return Way.NOW, ""
    if item.state == RetainItem.State.DISCARDED:
        return Way.NO, held.NO_MORE
    return Way.WAIT, held.ON_ITS_WAY


def _edit(write: Write, entry: ReviewEntry) -> tuple[Way, str]:
    if write.is_open or entry.load_state == ReviewEntry.Load.LOADING:
        return Way.NO, STORING
    if write.state != Write.State.DONE:
        return Way.NO, f"The edit is not done: {write.error_text or write.get_state_display()}"
    if entry.text_id != write.request_id:
        return Way.NO, "It was written again since your edit."
    return Way.OFFER, REVERT


def _facts(write: Write, known: _Known) -> tuple[Way, str]:
    """Retire, restore, edit fact: as long as this person was the last to decide on each of the facts."""
    if write.is_open:
        unsent = write.sent is None and write.state in (Write.State.QUEUED, Write.State.RETRYING)
        return (Way.NOW, "") if unsent else (Way.WAIT, BEING_SENT)
    done = _done(write)
    if not done:
        why = write.error_text if write.state != Write.State.DONE else "It was so already."
        return Way.NO, f"Nothing was {PAST[write.kind]} by it. {why}".strip()
    for fact_id in done:
        now = known.now[write.bank_id, fact_id]
        for row in known.open:
            if (row.bank_id, row.document_hash) != (write.bank_id, write.document_hash):
                continue
            if row.kind in EXTRACTING:
                return Way.WAIT, EXTRACTED
            if now in row.fact_ids:
                by = "" if row.actor_id == known.user.pk else f" by {_who(row, known.user)}"
                return Way.WAIT, f"“{row.kind}” of it{by} is under way."
        fact = known.facts.get((write.bank_id, now))
        if fact is not None and (why := _decided_since(write, fact, known.user)):
            one = "it" if len(done) == 1 else "one of these facts"
            return Way.NO, why.format(one)
    return Way.NOW, ""


def _decided_since(write: Write, fact: FactDecision, user: Any) -> str:
    """Why a fact is not as this row left it, "" when it is. `{}` stands for the fact."""
    stands = {
        "retire": fact.verdict == Verdict.RETIRED,
        "restore": fact.verdict in (Verdict.RESTORED, Verdict.EDITED),
        "edit-fact": fact.verdict == Verdict.EDITED and fact.current_id == write.request_id,
    }[write.kind]
    if stands and fact.user_id == user.pk:
        return ""
    if fact.origin == FactDecision.Origin.OBSERVED:
        return f"On the server {{}} was {fact.get_verdict_display()} by somebody else since."
    who = "You" if fact.user_id == user.pk else fact.user_name or "Somebody else"
    return f"{who} {fact.get_verdict_display()} {{}} since, {words.ago(fact.at)}."


def _bulk(step: Step, known: _Known) -> Judged:
    """The undo of a group looks at each row again; here it is only about the group."""
    job = known.jobs[step.pk]
    states = known.groups[job.params["group"]]
    sent = step.kind == BULK_RESTORE and any(states.get(state) for state in Write.IN_FLIGHT)
    if not job.ended or sent:
        return Judged(step, Way.WAIT, "Some of them are being sent just now. When that has ended, press again.")
    if job.params["group"] in known.retired_again:
        return Judged(step, Way.NO, "It was taken back already.")
    if not any(states.get(state) for state in [*Write.OPEN, Write.State.DONE]):
        return Judged(step, Way.NO, "Nothing was done by it.")
    return Judged(step, Way.NOW)


def _done(write: Write) -> list[str]:
    done: Iterable[str] = write.outcome.get(PAST[write.kind], [])
    return [str(fact_id) for fact_id in done]


def _since(latest: Decision | None, user: Any) -> str:
    """What was decided about a memory after the step: who, what and when."""
    if latest is None:
        return "This memory was decided on otherwise since."
    if latest.decided_via == Decision.Via.PERSON:
        who = "You" if latest.user_id == user.pk else latest.user_name or "Somebody else"
        return f"{who} {latest.get_verdict_display()} it since, {words.ago(latest.at)}."
    note = f": {latest.note}" if latest.note else ""
    return f"It was {latest.get_verdict_display()} since by {latest.get_decided_via_display()}{note}."


def _who(row: Write, user: Any) -> str:
    if row.actor_id is not None and row.actor_id == user.pk:
        return "You"
    return row.actor_name or row.get_via_display().capitalize()
