"""After a document was extracted anew: decisions whose facts are gone are found again, and applied or asked about.

Called in the transaction that stores the loaded facts; sends nothing itself, the door does.
"""

import json
from collections.abc import Sequence
from itertools import count
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import F, QuerySet
from django.http import Http404
from django.utils import timezone

from banks import access, writes
from banks.fact_kinds import seen_hash
from banks.hindsight import Fact
from banks.models import Bank, Blob, Reapply, Role, Write
from memadmin.accounts.models import User
from reviews import fact_words
from reviews.curation import ghosts
from reviews.curation.matching import Match, Numbered, match
from reviews.curation.remember import as_extracted, decisions_at
from reviews.errors import TooLate
from reviews.models import FactDecision, Reapplication

State, Verdict = Reapplication.State, FactDecision.Verdict

CLOSE_TEXT = "It says nearly the same."
POLICY = "This bank asks before it applies decisions again."
SAID_AGAIN = "A person's edit says it again."
LET_GO = "This bank lets decisions go."
ONCE_MORE = "The same sentence is there once more, and its server does not tell whether it was extracted anew."
PER_ROW = 20  # facts: a worker holds a row for a minute or so, and each fact takes three calls


@transaction.atomic
def look(*, bank: Bank, document_id: str, facts: Sequence[Fact], cause: Write | None = None) -> int:
    """Handles each pair of a lost decision and a new fact once. Returns how many pairs were new.

    `facts`: all facts of the document as they are now; `cause`: the write of ours after which it was extracted anew.
    The bank's policy at the time of the extraction counts: what is let go stays so, until the next one.
    """
    sifted = ghosts.sift(bank, document_id, facts)
    present = {fact.id for fact in sifted.live}
    _withdraw(bank, document_id, present)
    standing = FactDecision.objects.select_related("extracted", "current").filter(
        bank=bank, document_hash=Write.hash_of(document_id), verdict__in=FactDecision.STANDING
    )
    lost = [each for each in standing if each.fact_id not in present]
    unsure = [each for each in standing if each.fact_id in sifted.doubtful]
    here = [each for each in standing if each.fact_id in present - sifted.doubtful]
    FactDecision.objects.filter(pk__in=[each.pk for each in here if each.gone_since is not None]).update(
        gone_since=None  # it was away, not gone
    )
    ghosts.note_beside(here, sifted.live)
    if not lost and not unsure:
        return 0
    known = decisions_at(bank, sifted.live)
    valid = {fact.id for fact in sifted.live if not fact.is_retired and not fact.is_observation}
    free = [each for each in as_extracted(sifted.live, known) if each.fact_id in valid and each.fact_id not in known]
    found = match([(each, each.extracted.text, each.occurrence) for each in lost], free)
    new = [pair for each in found if (pair := _pair(each, bank, cause)) is not None]
    new += [pair for each in _twins(unsure, free, sifted.live) if (pair := _pair(each, bank, cause, ONCE_MORE))]
    _apply(bank, document_id, [pair for pair in new if pair.state == State.SENT])
    _gone(lost)
    return len(new)


def _twins(
    unsure: Sequence[FactDecision], free: Sequence[Numbered], facts: Sequence[Fact]
) -> list[Match[FactDecision]]:
    """For retired facts that may be ghosts: valid ones of the same chunk with the same text."""
    chunk = {fact.id: fact.chunk_id for fact in facts}
    found: list[Match[FactDecision]] = []
    for decision in unsure:
        same = [
            each
            for each in free
            if each.text == decision.extracted.text and chunk[each.fact_id] == chunk[decision.fact_id]
        ]
        found += [Match(decision, each, exact=True, score=100.0) for each in same[:1]]
    return found


def _gone(lost: Sequence[FactDecision]) -> None:
    """Decisions whose facts are not there, and that are not just being applied to others."""
    pks = [each.pk for each in lost]
    sent = Reapplication.objects.filter(decision__in=pks, state=State.SENT).values_list("decision", flat=True)
    FactDecision.objects.filter(pk__in=set(pks) - set(sent), gone_since=None).update(gone_since=timezone.now())


def document_gone(*, bank: Bank, document_id: str) -> None:
    """The bank has the document no more. What was decided is remembered: it may be put back."""
    FactDecision.objects.filter(
        bank=bank, document_hash=Write.hash_of(document_id), verdict__in=FactDecision.STANDING, gone_since=None
    ).update(gone_since=timezone.now())
    _withdraw(bank, document_id, set())


def open_questions() -> QuerySet[Reapplication]:
    """What waits for an answer. A decision that somebody took anew meanwhile asks nothing more."""
    return Reapplication.objects.filter(
        state=State.ASKED, decision__verdict__in=FactDecision.STANDING, decision__fact_id=F("replaces")
    )


def _withdraw(bank: Bank, document_id: str, present: set[str]) -> None:
    """Questions about facts that are gone themselves: a newer extraction asks about its own."""
    asked = Reapplication.objects.filter(
        state=State.ASKED, decision__bank=bank, decision__document_hash=Write.hash_of(document_id)
    )
    gone = [pk for pk, fact_id in asked.values_list("pk", "fact_id") if fact_id not in present]
    Reapplication.objects.filter(pk__in=gone, state=State.ASKED).update(state=State.FAILED)


def _pair(found: Match[FactDecision], bank: Bank, cause: Write | None, doubt: str = "") -> Reapplication | None:
    """None when this pair was handled before, or when there is nothing to handle. `doubt`: why to ask in any case."""
    why, state = doubt, State.ASKED
    if bank.reapply == Reapply.OFF:
        if not found.exact or doubt:
            return None
        why, state = LET_GO, State.DECLINED
    elif why:
        pass
    elif not found.exact:
        why = CLOSE_TEXT
    elif bank.reapply == Reapply.ASK:
        why = POLICY
    elif _said_again(found, cause):
        why = SAID_AGAIN
    pair, created = Reapplication.objects.get_or_create(
        decision=found.key,
        fact_id=found.fact.fact_id,
        defaults={
            "replaces": found.key.fact_id,
            "text": Blob.objects.store(found.fact.text),
            "exact": found.exact,
            "score": found.score,
            "why": why,
            "state": state if why else State.SENT,
        },
    )
    return pair if created else None


def _said_again(found: Match[FactDecision], cause: Write | None) -> bool:
    """Since the decision somebody wrote the sentence into the document that had it no more."""
    if cause is None or cause.actor_id is None or cause.request is None or cause.before is None:
        return False
    fact = _plain(found.fact.text)
    since = cause.occurred_at > found.key.at
    return since and fact in _plain(cause.request.text) and fact not in _plain(cause.before.text)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _apply(bank: Bank, document_id: str, pairs: Sequence[Reapplication]) -> None:
    """Edits one by one, since each has its own text; then the retirements, in rows that a worker can hold."""
    group = uuid4() if len(pairs) > 1 else None
    for pair in pairs:
        if pair.decision.current_id is not None and pair.decision.current_id != pair.text_id:
            write = writes.record(
                kind="edit-fact",
                bank=bank,
                via=Write.Via.REAPPLY,
                document_id=document_id,
                fact_ids=[pair.fact_id],
                request=pair.decision.current,
                before=pair.text,
                facts_before=_stored([pair]),
                params={"seen": {pair.fact_id: seen_hash(pair.text.text)}},
                group=group,
            )
            Reapplication.objects.filter(pk=pair.pk).update(write=write)
    retired = [pair for pair in pairs if pair.decision.verdict == Verdict.RETIRED]
    for start in range(0, len(retired), PER_ROW):
        lot = retired[start : start + PER_ROW]
        write = writes.record(
            kind="retire",
            bank=bank,
            via=Write.Via.REAPPLY,
            document_id=document_id,
            fact_ids=[pair.fact_id for pair in lot],
            facts_before=_stored(lot),
            params={"reasons": {pair.fact_id: pair.decision.reason for pair in lot}},
            group=group,
        )
        Reapplication.objects.filter(pk__in=[pair.pk for pair in lot]).update(write=write)


def _stored(pairs: Sequence[Reapplication]) -> Blob:
    """The facts as they were extracted, as other rows keep them."""
    rows = [{"id": pair.fact_id, "text": pair.text.text, "type": pair.decision.fact_type} for pair in pairs]
    return Blob.objects.store(json.dumps(rows, ensure_ascii=False))


def after_write(write: Write) -> None:
    """A row that applied decisions again has ended: they are about the new facts from now on. Idempotent."""
    done = {*write.outcome.get("retired", []), *write.outcome.get("edited", []), *write.outcome.get("not_called", [])}
    pairs = Reapplication.objects.select_related("decision", "text").filter(write=write, decision__bank=write.bank_id)
    for pair in pairs.exclude(state=State.DONE):  # what was told before may have moved on since
        if pair.fact_id in done or write.state == Write.State.DONE:
            _move(pair, write)
            Reapplication.objects.filter(pk=pair.pk).update(state=State.DONE)
        elif write.state in (Write.State.ATTENTION, Write.State.CHANGED, Write.State.CANCELLED):
            Reapplication.objects.filter(pk=pair.pk).update(state=State.FAILED)
        elif write.state == Write.State.RETRYING:
            Reapplication.objects.filter(pk=pair.pk).update(state=State.SENT)


def _move(pair: Reapplication, write: Write) -> None:
    """The decision is about the new fact from now on, and about its text where that is another one."""
    decision = pair.decision
    if decision.fact_id != pair.replaces:  # it is about another one already
        return
    others = FactDecision.objects.filter(bank=decision.bank_id).exclude(pk=decision.pk)
    if others.filter(fact_id=pair.fact_id).exists():  # somebody decided about that fact by hand meanwhile
        FactDecision.objects.filter(pk=decision.pk).update(verdict=Verdict.RESTORED, restored_at=None)
        return
    changes: dict[str, Any] = {"fact_id": pair.fact_id, "write": write, "gone_since": None, "again": F("again") + 1}
    changes["beside"] = None
    if not pair.exact:
        same = others.filter(document_hash=decision.document_hash, extracted=pair.text_id)
        taken = set(same.values_list("occurrence", flat=True))
        changes["extracted"] = pair.text_id
        changes["occurrence"] = next(number for number in count() if number not in taken)
        if decision.current_id is None:
            changes["preview"] = FactDecision.preview_of(pair.text.text)
    FactDecision.objects.filter(pk=decision.pk).update(**changes)
    if not pair.exact:
        fact_words.keep([decision.pk])


def get_question(user: User, pk: int) -> Reapplication:
    """For who may answer it: 404 for strangers, 403 for readers."""
    rows = Reapplication.objects.select_related("decision__bank", "decision__current", "text")
    pair = rows.filter(pk=pk).first()
    if pair is None:
        raise Http404("No such question.")
    access.require(user, pair.decision.bank, Role.REVIEWER)
    return pair


@transaction.atomic
def answer(*, user: User, reapplication_id: int, apply: bool) -> Reapplication:
    """A person's answer to a question. Raises TooLate when somebody was faster; 404 / 403 as ever."""
    pair = get_question(user, reapplication_id)
    taken = Reapplication.objects.filter(pk__in=open_questions().filter(pk=pair.pk).values("pk")).update(
        state=State.SENT if apply else State.DECLINED, decided_by=user.display_name
    )
    if not taken:
        raise TooLate("Somebody has answered already.")
    if apply:
        _apply(pair.decision.bank, pair.decision.document_id, [pair])
    else:
        let_go(user=user, decision=pair.decision, fact_id=pair.fact_id)
    pair.refresh_from_db()
    return pair


def let_go(*, user: User, decision: FactDecision, fact_id: str) -> bool:
    """It does not stand any more: no later extraction applies it or asks again. False when it did not stand.

    To be called in a transaction; `fact_id`: the fact that this was about.
    """
    now = timezone.now()
    standing = FactDecision.objects.filter(pk=decision.pk, verdict__in=FactDecision.STANDING)
    if not standing.exists():
        return False
    write = writes.record(
        kind="let-go",
        bank=decision.bank,
        via=Write.Via.WEB,
        actor=user,
        document_id=decision.document_id,
        fact_ids=[fact_id],
        params={"reason": decision.reason} if decision.reason else None,
    )
    return bool(
        standing.update(
            verdict=Verdict.RESTORED,
            origin=FactDecision.Origin.OURS,
            via=Write.Via.WEB,
            user=user,
            user_name=user.display_name,
            write=write,
            at=now,
            # Of a fact that is gone nothing came back; a new one that was asked about is there, and stays.
            **({} if fact_id == decision.fact_id else {"restored_at": now, "gone_since": None}),
        )
    )
