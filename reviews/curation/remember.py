"""Keeping what was decided about facts: by writes of ours, and by others as far as the server shows it.

Called in the transaction that stores the end of a write, or the loaded facts. No call to a bank is made here.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from banks.fact_kinds import GONE
from banks.hindsight import Fact
from banks.models import Bank, Blob, Write
from reviews import fact_words
from reviews.curation import ghosts
from reviews.curation.matching import Numbered, numbered
from reviews.models import FactDecision, Reapplication

Verdict, Origin = FactDecision.Verdict, FactDecision.Origin
AT_ONCE = 500  # ids in one question
PAST = {"retire": "retired", "restore": "restored", "edit-fact": "edited"}


def after_write(write: Write) -> None:
    """What a retire, restore or edit-fact row of a person has done, however far it came. Idempotent.

    A row that is retried or given up has done nothing since it was told of last.
    """
    if write.state in (Write.State.CANCELLED, Write.State.RETRYING):
        return
    done = write.outcome.get(PAST[write.kind], [])
    # What stood so already is a decision of this person all the same.
    done = [*done, *(fact_id for fact_id in write.outcome.get("not_called", []) if write.kind == "retire")]
    changed = _decide_all(write, done) if done else []
    if write.kind == "restore":
        gone = [fact_id for fact_id, why in write.outcome.get("refused", {}).items() if why == GONE]
        changed += [pk for fact_id in gone if (pk := _not_again(write, fact_id))]
    fact_words.keep(changed)


def _decide_all(write: Write, done: Sequence[str]) -> list[int]:
    """Primary keys of what was changed."""
    rows = rows_before(write)
    texts = {fact.fact_id: fact for fact in _as_extracted(write.bank, rows)}
    types = {row["id"]: str(row.get("type") or "") for row in rows}
    found = []
    for fact_id in done:
        if pk := _decide(write, fact_id, texts.get(fact_id), types.get(fact_id, "")):
            found.append(pk)
    return found


def _decide(write: Write, fact_id: str, text: Numbered | None, fact_type: str) -> int | None:
    known = FactDecision.objects.filter(bank=write.bank, fact_id=fact_id).first()
    if known is not None and _later(known, write):
        return None
    values: dict[str, Any] = {
        "user": write.actor,
        "user_name": write.actor_name,
        "origin": Origin.OURS,
        "via": write.via,
        "write": write,
        "at": write.occurred_at,
        "gone_since": None,
    }
    if write.kind == "edit-fact":
        assert write.request is not None
        values |= {"current": write.request, "preview": FactDecision.preview_of(write.request.text)}
        if known is None or known.verdict == Verdict.RESTORED:
            values["verdict"] = Verdict.EDITED
    elif write.kind == "retire":
        reason = write.params.get("reasons", {}).get(fact_id) or write.params.get("reason", "")
        values |= {"verdict": Verdict.RETIRED, "reason": reason, "restored_at": None, "again": 0}
    else:
        # An edit that stands beside the retirement stays.
        values |= {"verdict": _restored(known), "restored_at": write.occurred_at}
    if known is not None:
        FactDecision.objects.filter(pk=known.pk).update(**values)
        return known.pk
    if text is None:
        return None
    return _remember(write.bank, write.document_id, text, fact_type=fact_type, **values).pk


def _later(known: FactDecision, write: Write) -> bool:
    """Whether it was decided anew since the row has done its part: by a later row, or past us."""
    if known.write_id is None or known.write_id < write.pk:
        return False
    return known.write_id > write.pk or known.origin == Origin.OBSERVED


def _restored(known: FactDecision | None) -> str:
    return Verdict.EDITED if known is not None and known.current_id is not None else Verdict.RESTORED


def _not_again(write: Write, fact_id: str) -> int | None:
    """The fact that a person wants back is gone: should it come, in a new extraction, it is not retired again."""
    known = FactDecision.objects.filter(bank=write.bank, fact_id=fact_id, verdict=Verdict.RETIRED).first()
    if known is None or _later(known, write):
        return None
    FactDecision.objects.filter(pk=known.pk, verdict=Verdict.RETIRED).update(
        verdict=_restored(known), gone_since=known.gone_since or timezone.now(), write=write
    )
    return known.pk


def _remember(bank: Bank, document_id: str, fact: Numbered, **values: Any) -> FactDecision:
    """One row per identity: a fact that was extracted anew takes over the row of its older self."""
    key = {
        "bank": bank,
        "document_hash": Write.hash_of(document_id) if document_id else "",
        "extracted": Blob.objects.store(fact.text),
        "occurrence": fact.occurrence,
    }
    before = FactDecision.objects.filter(**key).first()
    if before is not None and _stands(before, values):
        # Somebody else has retired it again: whose decision it is, and why, does not change by that.
        values = {"gone_since": None}
    now = values.get("current") or (before.current if before is not None else None)
    preview = FactDecision.preview_of(fact.text if now is None else now.text)
    found, _ = FactDecision.objects.update_or_create(
        **key,
        defaults={"fact_id": fact.fact_id, "preview": preview, "beside": None, **values},
        create_defaults={"document_id": document_id, "fact_id": fact.fact_id, "preview": preview, **values},
    )
    if before is not None and before.fact_id != fact.fact_id:
        _followed(found, before.fact_id)
    return found


def _stands(before: FactDecision, values: dict[str, Any]) -> bool:
    both = before.verdict == values.get("verdict") == Verdict.RETIRED
    return both and before.origin == Origin.OURS and values.get("origin") == Origin.OBSERVED


def _followed(decision: FactDecision, before: str) -> None:
    """From which id to which: rows of the log find their facts by that."""
    Reapplication.objects.get_or_create(
        decision=decision,
        fact_id=decision.fact_id,
        defaults={
            "replaces": before,
            "text": decision.extracted,
            "exact": True,
            "why": "It was decided about anew.",
            "state": Reapplication.State.DONE,
        },
    )


def rows_before(write: Write) -> list[dict[str, Any]]:
    """The facts of the document as they were before the write, from what was stored with the row."""
    if write.facts_before is None or write.facts_before.erased:
        return []
    rows: list[dict[str, Any]] = json.loads(write.facts_before.text)
    return [row for row in rows if not row.get("claimed")]  # what a file says is not how the facts were


def _as_extracted(bank: Bank, rows: Sequence[dict[str, Any]]) -> list[Numbered]:
    """As `as_extracted`, of stored rows."""
    decisions = FactDecision.objects.select_related("extracted").filter(bank=bank)
    known = {each.fact_id: each for each in decisions.filter(fact_id__in=[row["id"] for row in rows])}
    ordered = sorted(rows, key=lambda row: (row.get("mentioned_at") is None, row.get("mentioned_at") or "", row["id"]))
    return _numbered([(row["id"], row["text"]) for row in ordered], known)


def mirror(*, bank: Bank, document_id: str, facts: Sequence[Fact]) -> int:
    """Retirements, restorations and edits that were made past us, so that they survive too. How many were new.

    `facts`: all facts of the document, valid ones and retired ones, in its order.
    """
    facts = ghosts.sift(bank, document_id, facts).live
    known = decisions_at(bank, facts)
    texts = {fact.fact_id: fact for fact in as_extracted(facts, known)}
    changed = [
        pk for fact in facts if (pk := _mirror(bank, document_id, fact, known.get(fact.id), texts[fact.id])) is not None
    ]
    fact_words.keep(changed)
    return len(changed)


def decisions_at(bank: Bank, facts: Sequence[Fact]) -> dict[str, FactDecision]:
    """{fact id: the decision about it}"""
    rows = FactDecision.objects.select_related("extracted").filter(bank=bank)
    ids = [fact.id for fact in facts]
    found: dict[str, FactDecision] = {}
    for start in range(0, len(ids), AT_ONCE):
        found |= {each.fact_id: each for each in rows.filter(fact_id__in=ids[start : start + AT_ONCE])}
    return found


def as_extracted(facts: Sequence[Fact], known: dict[str, FactDecision]) -> list[Numbered]:
    """The facts in the order of their document, under the texts they were extracted with as far as those are known."""
    ordered = sorted(facts, key=lambda fact: (fact.mentioned_at is None, fact.mentioned_at, fact.id))
    return _numbered([(fact.id, fact.text) for fact in ordered], known)


def _numbered(facts: Sequence[tuple[str, str]], known: dict[str, FactDecision]) -> list[Numbered]:
    return numbered(facts, {fact_id: (each.extracted.text, each.occurrence) for fact_id, each in known.items()})


def _mirror(bank: Bank, document_id: str, fact: Fact, known: FactDecision | None, text: Numbered) -> int | None:
    """The primary key of what changed."""
    if fact.is_observation:
        return None
    if known is None:
        return _retired_elsewhere(bank, document_id, fact, text) if fact.is_retired else None
    past_us: dict[str, Any] = {"origin": Origin.OBSERVED, "via": Write.Via.OBSERVED, "user": None, "user_name": ""}
    values: dict[str, Any] = {}
    if fact.edited_at and Blob.key_of(fact.text) != known.text_id:
        values = {"current": Blob.objects.store(fact.text), "preview": FactDecision.preview_of(fact.text)}
        if known.verdict != Verdict.RETIRED:
            values |= past_us | {"verdict": Verdict.EDITED, "at": fact.edited_at}
    if fact.is_retired and known.verdict != Verdict.RETIRED:
        values |= past_us | {
            "verdict": Verdict.RETIRED,
            "reason": fact.invalidation_reason,
            "at": fact.invalidated_at or timezone.now(),
            "restored_at": None,
            "gone_since": None,
        }
    elif not fact.is_retired and known.verdict == Verdict.RETIRED:
        now = timezone.now()
        edited = known.current_id or "current" in values
        verdict = Verdict.EDITED if edited else Verdict.RESTORED
        values |= past_us | {"verdict": verdict, "at": now, "restored_at": now, "gone_since": None}
    if not values:
        return None
    changed = FactDecision.objects.filter(pk=known.pk, verdict=known.verdict).update(**values)
    return known.pk if changed else None


def _retired_elsewhere(bank: Bank, document_id: str, fact: Fact, text: Numbered) -> int:
    values: dict[str, Any] = {
        "verdict": Verdict.RETIRED,
        "reason": fact.invalidation_reason,
        "origin": Origin.OBSERVED,
        "via": Write.Via.OBSERVED,
        "fact_type": fact.type,
        "user": None,
        "user_name": "",
        "at": fact.invalidated_at or timezone.now(),
        "restored_at": None,
        "gone_since": None,
        "again": 0,
    }
    if fact.edited_at:
        values["current"] = Blob.objects.store(fact.text)  # nobody has the text as extracted
    return _remember(bank, document_id, text, **values).pk


def at_stake(*, bank: Bank, document_id: str) -> dict[str, int]:
    """{verdict: how many} decisions of a document that a new extraction would make the server forget."""
    standing = FactDecision.objects.filter(
        bank=bank, document_hash=Write.hash_of(document_id), verdict__in=FactDecision.STANDING, gone_since=None
    )
    counts: dict[str, int] = {}
    for verdict in standing.values_list("verdict", flat=True):
        counts[verdict] = counts.get(verdict, 0) + 1
    return counts
