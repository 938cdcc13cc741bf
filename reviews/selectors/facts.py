"""The facts on a card: as they were last loaded, what people decided about them, and what is under way."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from banks.access import bank_ids_for
from banks.fact_kinds import seen_hash
from banks.hindsight.fields import aware
from banks.models import Reapply, Role, Write
from memadmin.counting import Count, count_of
from memadmin.retention import NOTHING, Omitted, RetainedItems, first_of
from reviews.curation.reapply import open_questions
from reviews.curation.remember import at_stake
from reviews.models import FactDecision, Reapplication, ReviewEntry
from reviews.services.extraction import EXTRACTING, may_extract

SHOWN = 20
MOST = 1_000
WRITES_SHOWN = 50
QUESTIONS_SHOWN = 20
STAKED_SHOWN = 30
DOING = {"retire": "retiring", "restore": "restoring", "edit-fact": "changing its text"}
REPLACING = {"reprocess": "extracting all facts again", "edit": "replacing its document", "put-back": "putting it back"}


@dataclass(frozen=True)
class FactRow:
    """`seen`: the hash of the text on screen, which acts on the fact carry."""

    id: str
    text: str
    seen: str
    kind: str  # world, experience, observation
    retired: bool
    reason: str
    entities: list[str]
    edited: bool
    sources: list[str]  # ids of the facts that an observation is made from
    made_from: tuple[str, ...] = ()  # the texts of those that are on this card
    tags: tuple[str, ...] = ()  # the first of them
    mentioned_at: datetime | None = None
    document_id: str = ""  # in lists of more than one document
    entry_id: int | None = None  # its memory here
    decision: FactDecision | None = None
    write: Write | None = None  # of this fact: under way, or in need of a person
    beside: tuple[str, ...] = ()  # what the list it is in says of it

    @property
    def observation(self) -> bool:
        return self.kind == "observation"

    @property
    def doing(self) -> str:
        return (DOING | REPLACING).get(self.write.kind, self.write.kind) if self.write else ""

    @property
    def free(self) -> bool:
        """Whether a person may act on it now."""
        return bool(self.id) and not self.observation and not (self.write and self.write.is_open)


@dataclass(frozen=True)
class FactSheet:
    """The list of facts of one card. `unread`: those that the bank counts and that were not loaded."""

    facts: list[FactRow]
    total: int
    omitted: Omitted
    unread: Omitted
    questions: list[Reapplication]
    working: bool
    mark: str  # another one where the list would look different
    extraction: Write | None = None  # of all facts anew: under way, or one that did not work
    extractable: bool = False

    @property
    def free(self) -> bool:
        """Whether anything may be done to single facts: not while all of them are being replaced."""
        return self.extraction is None or not self.extraction.is_open


@dataclass(frozen=True)
class Stake:
    """Decisions about facts that a new extraction would make the server forget, and what would become of them."""

    retired: int
    edited: int
    policy: str

    def __bool__(self) -> bool:
        return self.retired + self.edited > 0


def stake_of(entry: ReviewEntry) -> Stake:
    counts = at_stake(bank=entry.bank, document_id=entry.document_id)
    then = {
        Reapply.AUTO: "Where the same facts are found again, they are applied again; close ones are asked about.",
        Reapply.ASK: "This bank asks a person before they are applied again.",
        Reapply.OFF: "This bank lets them go: nothing is applied again.",
    }[Reapply(entry.bank.reapply)]
    return Stake(counts.get("retired", 0), counts.get("edited", 0), then)


def staked(entry: ReviewEntry) -> RetainedItems[FactDecision]:
    """These decisions, the latest first."""
    standing = FactDecision.objects.filter(
        bank=entry.bank_id, document_hash=entry.document_hash, verdict__in=FactDecision.STANDING, gone_since=None
    )
    return first_of(standing.order_by("-at", "-pk"), STAKED_SHOWN)


def sheet_of(entry: ReviewEntry, *, everything: bool = False) -> FactSheet:
    found = first_of(facts_of(entry), MOST if everything else SHOWN)
    writes = _writes_of(entry)
    rows = with_news(entry.bank_id, found.items, writes)
    questions = questions_of(entry)
    # A load that is due brings the end of what was sent; of an entry that is not loaded the card asks itself.
    reading = entry.load_after is not None and entry.loaded
    state = [f"{write.pk}{write.state}" for write in writes] + [str(pair.pk) for pair in questions]
    loaded = entry.loaded_at.isoformat() if entry.loaded_at else ""
    return FactSheet(
        facts=rows,
        total=found.seen,
        omitted=found.omitted,
        unread=_unread(entry, found.seen),
        questions=questions,
        working=reading or any(write.is_open for write in writes),
        mark=seen_hash("|".join([loaded, str(reading), *state]))[:16],
        extraction=_extraction(writes),
        extractable=may_extract(entry),
    )


def _extraction(writes: list[Write]) -> Write | None:
    """The latest that replaces all facts. Of an edit that did not work the card speaks elsewhere."""
    found = [write for write in writes if write.kind in EXTRACTING and (write.is_open or write.kind == "reprocess")]
    return found[-1] if found else None


def facts_of(entry: ReviewEntry) -> list[FactRow]:
    """The facts as they were last loaded. What is wrongly shaped is left out."""
    if entry.facts is None:
        return []
    try:
        rows = json.loads(entry.facts.text)
    except ValueError:
        return []
    return [fact_row(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def fact_of(entry: ReviewEntry, fact_id: str) -> FactRow | None:
    """One of them with what is known about it; None when it is not there (any more)."""
    rows = [fact for fact in facts_of(entry) if fact_id and fact.id == fact_id]
    return with_news(entry.bank_id, rows, _writes_of(entry))[0] if rows else None


def questions_of(entry: ReviewEntry) -> list[Reapplication]:
    """Decisions about facts of this document that wait for a person's answer."""
    asked = open_questions().filter(decision__bank=entry.bank_id, decision__document_hash=entry.document_hash)
    return list(
        asked.select_related("decision__extracted", "decision__current", "text").order_by("pk")[:QUESTIONS_SHOWN]
    )


def question_count(user: Any) -> Count:
    """Of all banks on which this person may answer."""
    banks = bank_ids_for(user, Role.REVIEWER)
    asked = open_questions()
    return count_of(asked if banks is None else asked.filter(decision__bank__in=banks))


def fact_row(row: dict[str, Any]) -> FactRow:
    """Of a fact as loads keep it."""
    entities, sources, tags = row.get("entities"), row.get("source_fact_ids"), row.get("tags")
    text = str(row.get("text") or "")
    return FactRow(
        id=str(row.get("id") or ""),
        text=text,
        seen=seen_hash(text),
        kind=str(row.get("type") or row.get("fact_type") or "fact"),
        retired=row.get("state") == "invalidated",
        reason=str(row.get("invalidation_reason") or ""),
        entities=[str(name) for name in entities[:8]] if isinstance(entities, list) else [],
        edited=bool(row.get("edited_at")),
        sources=[str(fact_id) for fact_id in sources] if isinstance(sources, list) else [],
        tags=tuple(str(tag) for tag in tags[:8]) if isinstance(tags, list) else (),
        mentioned_at=_moment(row.get("mentioned_at")),
        document_id=str(row.get("document_id") or ""),
    )


def _moment(given: Any) -> datetime | None:
    try:
        return aware(datetime.fromisoformat(given)) if isinstance(given, str) else None
    except (ValueError, OverflowError):
        return None


def with_news(bank_id: int, facts: Iterable[FactRow], writes: Iterable[Write]) -> list[FactRow]:
    """The same with what was decided about them, and what is under way. `writes`: oldest first."""
    facts = list(facts)
    ids = [fact.id for fact in facts if fact.id]
    decided = FactDecision.objects.filter(bank=bank_id, fact_id__in=ids) if ids else []
    decisions = {each.fact_id: each for each in decided}
    acts = {fact_id: write for write in writes for fact_id in write.fact_ids}
    texts = {fact.id: fact.text for fact in facts if fact.id}
    return [
        replace(
            fact,
            decision=decisions.get(fact.id),
            write=acts.get(fact.id),
            made_from=tuple(texts[fact_id] for fact_id in fact.sources if fact_id in texts),
        )
        for fact in facts
    ]


def _writes_of(entry: ReviewEntry) -> list[Write]:
    """Those about its facts that have not ended well, oldest first."""
    states = [*Write.OPEN, Write.State.ATTENTION, Write.State.CHANGED]
    rows = Write.objects.filter(
        bank=entry.bank_id, document_hash=entry.document_hash, state__in=states, kind__in=[*DOING, *EXTRACTING]
    ).only("kind", "state", "fact_ids", "actor_name", "via", "error_text", "occurred_at")
    return list(rows.order_by("-pk")[:WRITES_SHOWN])[::-1]


def _unread(entry: ReviewEntry, loaded: int) -> Omitted:
    """Facts that the bank counts and that were not loaded: of huge documents only the first are."""
    missing = (entry.fact_count or 0) + (entry.retired_count or 0) - loaded
    return Omitted("exact", missing) if loaded and missing > 0 else NOTHING
