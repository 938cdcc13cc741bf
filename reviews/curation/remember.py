"""Keeping what was decided about facts: by writes of ours, and by others as far as the server shows it.

Called in the transaction that stores the end of a write, or the loaded facts. No call to a bank is made here.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from banks.hindsight import Fact
from banks.models import Bank, Blob, Write
from reviews.curation.matching import Numbered, numbered
from reviews.models import FactDecision

Verdict, Origin = FactDecision.Verdict, FactDecision.Origin


def after_write(write: Write) -> None:
    """What a retire, restore or edit-fact row of a person has done, however far it came. Idempotent."""
    done = write.outcome.get({"retire": "retired", "restore": "restored", "edit-fact": "edited"}[write.kind], [])
    # What stood so already is a decision of this person all the same.
    done = [*done, *(fact_id for fact_id in write.outcome.get("not_called", []) if write.kind == "retire")]
    if not done:
        return
    rows = rows_before(write)
    texts = {fact.fact_id: fact for fact in _as_extracted(write.bank, rows)}
    types = {row["id"]: str(row.get("type") or "") for row in rows}
    for fact_id in done:
        _decide(write, fact_id, texts.get(fact_id), types.get(fact_id, ""))


def _decide(write: Write, fact_id: str, text: Numbered | None, fact_type: str) -> None:
    known = FactDecision.objects.filter(bank=write.bank, fact_id=fact_id).first()
    values: dict[str, Any] = {
        "user": write.actor,
        "user_name": write.actor_name,
        "origin": Origin.OURS,
        "write": write,
        "at": write.occurred_at,
    }
    if write.kind == "edit-fact":
        assert write.request is not None
        values |= {"current": write.request, "preview": FactDecision.preview_of(write.request.text)}
        if known is None or known.verdict == Verdict.RESTORED:
            values["verdict"] = Verdict.EDITED
    elif write.kind == "retire":
        reason = write.params.get("reasons", {}).get(fact_id) or write.params.get("reason", "")
        values |= {"verdict": Verdict.RETIRED, "reason": reason}
    else:
        # An edit that stands beside the retirement stays.
        edited = known is not None and known.current_id is not None
        values |= {"verdict": Verdict.EDITED if edited else Verdict.RESTORED, "reason": ""}
    if known is not None:
        FactDecision.objects.filter(pk=known.pk).update(**values)
    elif text is not None:
        _remember(write.bank, write.document_id, text, fact_type=fact_type, **values)


def _remember(bank: Bank, document_id: str, fact: Numbered, **values: Any) -> FactDecision:
    """One row per identity: a fact that was extracted anew takes over the row of its older self."""
    found, _ = FactDecision.objects.update_or_create(
        bank=bank,
        document_hash=Write.hash_of(document_id) if document_id else "",
        extracted=Blob.objects.store(fact.text),
        occurrence=fact.occurrence,
        defaults={
            "document_id": document_id,
            "fact_id": fact.fact_id,
            "preview": FactDecision.preview_of(fact.text),
            **values,
        },
    )
    return found


def rows_before(write: Write) -> list[dict[str, Any]]:
    """The facts of the document as they were before the write, from what was stored with the row."""
    if write.facts_before is None or write.facts_before.erased:
        return []
    rows: list[dict[str, Any]] = json.loads(write.facts_before.text)
    return rows


def _as_extracted(bank: Bank, rows: Sequence[dict[str, Any]]) -> list[Numbered]:
    """As `as_extracted`, of stored rows."""
    decisions = FactDecision.objects.select_related("extracted").filter(bank=bank)
    known = {each.fact_id: each for each in decisions.filter(fact_id__in=[row["id"] for row in rows])}
    ordered = sorted(rows, key=lambda row: (row.get("mentioned_at") is None, row.get("mentioned_at") or "", row["id"]))
    return _numbered([(row["id"], row["text"]) for row in ordered], known)


def mirror(*, bank: Bank, document_id: str, facts: Sequence[Fact]) -> int:
    """Retirements and restorations that were made past us, so that they survive too. Returns how many were new.

    `facts`: all facts of the document, valid ones and retired ones, in its order.
    """
    known = decisions_at(bank, facts)
    texts = {fact.fact_id: fact for fact in as_extracted(facts, known)}
    return sum(_mirror(bank, document_id, fact, known.get(fact.id), texts[fact.id]) for fact in facts)


def decisions_at(bank: Bank, facts: Sequence[Fact]) -> dict[str, FactDecision]:
    """{fact id: the decision about it}"""
    rows = FactDecision.objects.select_related("extracted").filter(bank=bank, fact_id__in=[fact.id for fact in facts])
    return {each.fact_id: each for each in rows}


def as_extracted(facts: Sequence[Fact], known: dict[str, FactDecision]) -> list[Numbered]:
    """The facts in the order of their document, under the texts they were extracted with as far as those are known."""
    ordered = sorted(facts, key=lambda fact: (fact.mentioned_at is None, fact.mentioned_at, fact.id))
    return _numbered([(fact.id, fact.text) for fact in ordered], known)


def _numbered(facts: Sequence[tuple[str, str]], known: dict[str, FactDecision]) -> list[Numbered]:
    return numbered(facts, {fact_id: (each.extracted.text, each.occurrence) for fact_id, each in known.items()})


def _mirror(bank: Bank, document_id: str, fact: Fact, known: FactDecision | None, text: Numbered) -> bool:
    if fact.is_observation:
        return False
    if fact.is_retired and (known is None or known.verdict != Verdict.RETIRED):
        values: dict[str, Any] = {
            "verdict": Verdict.RETIRED,
            "reason": fact.invalidation_reason,
            "origin": Origin.OBSERVED,
            "fact_type": fact.type,
            "user": None,
            "user_name": "",
            "write": None,
            "at": fact.invalidated_at or timezone.now(),
        }
        if known is not None:
            return bool(FactDecision.objects.filter(pk=known.pk, verdict=known.verdict).update(**values))
        if fact.edited_at:
            values["current"] = Blob.objects.store(fact.text)  # nobody has the text as extracted
        _remember(bank, document_id, text, **values)
        return True
    if not fact.is_retired and known is not None and known.verdict == Verdict.RETIRED:
        return bool(
            FactDecision.objects.filter(pk=known.pk, verdict=Verdict.RETIRED).update(
                verdict=Verdict.EDITED if known.current_id else Verdict.RESTORED,
                origin=Origin.OBSERVED,
                user=None,
                user_name="",
                at=timezone.now(),
            )
        )
    return False


def at_stake(*, bank: Bank, document_id: str) -> dict[str, int]:
    """{verdict: how many} decisions of a document that a new extraction would make the server forget."""
    standing = FactDecision.objects.filter(
        bank=bank, document_hash=Write.hash_of(document_id), verdict__in=FactDecision.STANDING
    )
    counts: dict[str, int] = {}
    for verdict in standing.values_list("verdict", flat=True):
        counts[verdict] = counts.get(verdict, 0) + 1
    return counts
