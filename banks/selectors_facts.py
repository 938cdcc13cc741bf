"""What the write log shows of the facts of a row."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from banks import hooks
from banks.models import Write, WriteFact

ROWS_SHOWN = 200
# What the list of facts tells better than the raw outcome.
TOLD = {"retired", "restored", "edited", "not_called", "refused"}
PAST = {"retire": "retired", "restore": "restored", "edit-fact": "edited"}


@dataclass(frozen=True)
class FactOfRow:
    """`text`: as it was before the row, None when it was not stored; `what`: what became of it, in words."""

    id: str
    text: str | None
    what: str
    tone: str
    reason: str


def facts_of_row(write: Write) -> list[FactOfRow]:
    """The facts of a row of their own kinds, in its order."""
    if write.kind not in PAST:
        return []
    texts = _texts(write)
    return [_fact(write, fact_id, texts.get(fact_id)) for fact_id in write.fact_ids[:ROWS_SHOWN]]


def _fact(write: Write, fact_id: str, text: str | None) -> FactOfRow:
    past, outcome = PAST[write.kind], write.outcome
    if fact_id in outcome.get(past, []):
        what, tone = past, "approved"
    elif fact_id in outcome.get("not_called", []):
        what, tone = f"was {past} already, so it was not called", "none"
    elif fact_id in outcome.get("refused", {}):
        what, tone = f"refused: {outcome['refused'][fact_id]}", "attention"
    elif write.is_open:
        what, tone = "waits", "pending"
    else:
        what, tone = "not tried", "none"
    reasons = write.params.get("reasons", {})
    reason = reasons.get(fact_id) if isinstance(reasons, dict) else ""
    return FactOfRow(fact_id, text, what, tone, str(reason or write.params.get("reason", "")))


def _texts(write: Write) -> dict[str, str]:
    if write.facts_before is None or write.facts_before.erased:
        return {}
    try:
        rows = json.loads(write.facts_before.text)
    except ValueError:
        return {}
    return {str(row["id"]): str(row.get("text", "")) for row in rows if isinstance(row, dict) and "id" in row}


def told(write: Write) -> str:
    """A row about facts in a few words: "restored 2 of 3". Reads the outcome alone, which list rows have."""
    past = PAST.get(write.kind)
    if past is None or not write.outcome:
        return ""
    done, already = len(write.outcome.get(past, [])), len(write.outcome.get("not_called", []))
    total = done + already + len(write.outcome.get("refused", {}))
    if write.kind == "edit-fact" or total == 1:
        return past if done else ""
    return f"{past} {done:,} of {total:,}" + (
        f", {already:,} {'was' if already == 1 else 'were'} so already" if already else ""
    )


@dataclass(frozen=True)
class Standing:
    """Primary keys of retire rows: with facts that can be brought back, and with none because all of them are gone."""

    restorable: set[int]
    gone: set[int]


def standing(rows: Iterable[Write]) -> Standing:
    rows = list(rows)
    still = {pk: fact_ids for pk, fact_ids in still_retired(rows).items() if fact_ids}
    banks = {row.pk: row.bank_id for row in rows}
    gone = hooks.gone({(banks[pk], fact_id) for pk, fact_ids in still.items() for fact_id in fact_ids})
    lost = {pk for pk, fact_ids in still.items() if all((banks[pk], fact_id) in gone for fact_id in fact_ids)}
    return Standing(set(still) - lost, lost)


def still_retired(rows: Iterable[Write]) -> dict[int, list[str]]:
    """{retire row: the facts it retired that no later row has brought back}, as far as the log knows. Two queries.

    Two lines of an agent's log stand in the order of their file; against rows of ours their time counts.
    """
    retired = {
        row.pk: row for row in rows if row.kind == "retire" and not row.is_open and (row.outcome or {}).get("retired")
    }
    if not retired:
        return {}
    answers = Write.objects.filter(kind="restore", undo_of__in=retired, state__in=[*Write.OPEN, Write.State.DONE])
    answered = {pk: set[str]() for pk in retired}
    for answer in answers.only("undo_of", "params"):
        if (pk := answer.undo_of_id) is not None:
            answered[pk].update(answer.params.get("answers") or retired[pk].outcome["retired"])
    left = {pk: [each for each in row.outcome["retired"] if each not in answered[pk]] for pk, row in retired.items()}
    restores = _restores_of(retired[pk] for pk, fact_ids in left.items() if fact_ids)
    return {pk: _open(retired[pk], fact_ids, restores) if fact_ids else [] for pk, fact_ids in left.items()}


def _restores_of(rows: Iterable[Write]) -> list[Write]:
    """Restore rows, by whomever, that name a fact of one of these rows."""
    named = WriteFact.objects.filter(write__in=list(rows)).values("fact_hash")
    naming = WriteFact.objects.filter(fact_hash__in=named).values("write")
    found = Write.objects.filter(kind="restore", pk__in=naming)
    return list(found.only("bank", "via", "state", "fact_ids", "outcome", "occurred_at"))


def _open(row: Write, fact_ids: list[str], restores: list[Write]) -> list[str]:
    back: set[str] = set()
    for restore in restores:
        if restore.bank_id == row.bank_id and _is_later(restore, row):
            back.update(restore.outcome.get("restored", []), restore.outcome.get("not_called", []))
            back.update(restore.fact_ids if restore.is_open else [])
    return [fact_id for fact_id in fact_ids if fact_id not in back]


def _is_later(restore: Write, row: Write) -> bool:
    if restore.via == Write.Via.IMPORT:
        # What a file claims was never confirmed: it answers the file's own lines, and no row of ours.
        return row.via == Write.Via.IMPORT and restore.pk > row.pk
    return restore.occurred_at > row.occurred_at
