"""Retiring facts on a program's word: only candidates, and only where the evidence is in the transcript."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from banks import access, writes
from banks.fact_kinds import OBSERVATION, seen_hash
from banks.hindsight import NotAddressable, ids
from banks.models import Bank, Blob, Role, Write
from memadmin.accounts.models import User
from memadmin.retention import head_of
from reviews.evidence import Kill, judge
from reviews.models import FactDecision
from reviews.services.facts import LONGEST_REASON

NO_VERDICT = "No verdict was given for it."
ALREADY = "It is retired already."


@dataclass(frozen=True)
class Candidate:
    """A fact that a program was shown. `text` and `type` as it saw them, "" where it does not say."""

    id: str
    text: str = ""
    type: str = ""


@dataclass(frozen=True)
class Verdict:
    """What became of a candidate: `write` is the row that retires it, else `why` says why there is none."""

    id: str
    write: Write | None
    why: str = ""


def retire(
    *, user: User, bank: Bank, candidates: Sequence[Candidate], verdicts: Sequence[Any], transcript: str, via: Write.Via
) -> list[Verdict]:
    """One verdict for each candidate, in their order. 404 / 403 as ever.

    Each fact gets a row of its own: a row of several stops at the first refusal, and these are independent. What cannot
    be known here, whether it is in the bank and no observation, the door finds out before it calls.
    """
    access.require(user, bank, Role.REVIEWER)
    known = {each.id: each for each in candidates}
    judged = judge(transcript=transcript, candidates=known, verdicts=verdicts)
    kills = {kill.id: kill for kill in judged.kills}
    group = uuid4() if len(kills) > 1 else None
    with transaction.atomic():
        decisions = FactDecision.objects.select_related("extracted", "current").filter(bank=bank, fact_id__in=kills)
        decided = {each.fact_id: each for each in decisions}
        found = []
        for candidate in known.values():
            kill, decision = kills.get(candidate.id), decided.get(candidate.id)
            why = _objection(candidate, decision) if kill else judged.refused.get(candidate.id, NO_VERDICT)
            if kill is None or why:
                found.append(Verdict(candidate.id, None, why))
            else:
                write = _record(user, bank, candidate, kill, decision, group=group, via=via)
                found.append(Verdict(candidate.id, write))
    return found


def _objection(candidate: Candidate, decision: FactDecision | None) -> str:
    try:
        ids.fact_path("default", "bank", candidate.id)
    except NotAddressable as error:
        return str(error)
    if candidate.type == "observation":
        return OBSERVATION
    return ALREADY if decision and decision.verdict == FactDecision.Verdict.RETIRED else ""


def _record(
    user: User,
    bank: Bank,
    candidate: Candidate,
    kill: Kill,
    decision: FactDecision | None,
    *,
    group: UUID | None,
    via: Write.Via,
) -> Write:
    text = (decision.current or decision.extracted).text if decision else candidate.text
    row = {"id": candidate.id, "text": text, "type": candidate.type, "state": "valid"}
    seen = {"seen": {candidate.id: seen_hash(candidate.text)}} if candidate.text else {}
    return writes.record(
        kind="retire",
        bank=bank,
        via=via,
        actor=user,
        # Of a fact that nobody decided about before, the door learns the document when it reads the fact.
        document_id=decision.document_id if decision else "",
        fact_ids=[candidate.id],
        facts_before=Blob.objects.store(json.dumps([row], ensure_ascii=False)) if text else None,
        params={"reason": head_of(kill.quote, LONGEST_REASON).text, **seen},
        group=group,
    )
