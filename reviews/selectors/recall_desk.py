"""What came back for a query, for its page: hits as facts that can be acted on, the block, and what was left out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from banks.fact_kinds import seen_hash
from banks.models import Bank, Blob, ExpectedFact, Job, RecallCheck
from banks.recall import block, works
from banks.recall.asked import Asked
from banks.secrets.masking import masked
from reviews.models import FactDecision
from reviews.selectors.bank_facts import mark_of, with_documents, writes_of
from reviews.selectors.facts import REPLACING, FactRow, fact_row, with_news

Verdict = FactDecision.Verdict
LOOKED_FOR = 60  # characters

_LEFT_OUT = {
    block.SAME: "in the same words as one before",
    block.OVER: "that came when the block was full",
    block.BLANK: "without any text",
}


@dataclass(frozen=True)
class Expected:
    """A fact that a saved query expects. `retired`: who decided so, where it does not come back."""

    fact: ExpectedFact
    retired: FactDecision | None

    @property
    def words(self) -> str:
        """Its beginning up to a secret, to look for it by: what stands in an address is logged."""
        return masked(self.fact.text)[:LOOKED_FOR].partition("*")[0].strip()


@dataclass(frozen=True)
class DeskSheet:
    """The hits as they are now. `mark`: another one where a write of the bank began, went on or ended."""

    facts: list[FactRow]
    working: bool
    mark: str
    free: bool = True


@dataclass(frozen=True)
class Answer:
    """`told`: as the job kept it (banks.recall.kept). `left_out`: [(why, how many)] of the hits, for the block."""

    told: dict[str, Any]
    asked: Asked
    left_out: list[tuple[str, int]]

    @property
    def injected(self) -> int:
        return sum(hit["fate"][0] == block.INJECTED for hit in self.told["hits"])

    @property
    def found(self) -> int:
        return len(self.told["hits"]) + int(self.told["omitted"])

    @property
    def left_out_elsewhere(self) -> int:
        """Found by the server's searches, without those that a hit was made from."""
        trace = self.told["trace"]
        return int(trace["left_out_count"] - trace["replaced_count"]) if trace else 0

    @property
    def choices(self) -> list[tuple[int, str, bool]]:
        """(place, text, in the block) of the facts that may be expected to come back."""
        return [
            (place, hit["text"], hit["fate"][0] == block.INJECTED)
            for place, hit in enumerate(self.told["hits"], 1)
            if hit["type"] != "observation" and not hit["cut"]
        ]


def with_verdicts(check: RecallCheck, expected: Sequence[ExpectedFact]) -> list[Expected]:
    """By one query: who retired what is lost."""
    lost = [each.fact_id for each in expected if each.place is None]
    found = FactDecision.objects.filter(bank=check.bank_id, fact_id__in=lost, verdict=Verdict.RETIRED)
    retired = {decision.fact_id: decision for decision in found} if lost else {}
    return [Expected(each, retired.get(each.fact_id) if each.place is None else None) for each in expected]


def answer_of(job: Job) -> Answer | None:
    """None where there is none (yet)."""
    told = works.result_of(job)
    if told is None:
        return None
    asked = Asked.parse(job.params["asked"])
    counts = Counter(hit["fate"][0] for hit in told["hits"])
    left_out = [(said, counts[kind]) for kind, said in _LEFT_OUT.items() if counts[kind]]
    return Answer(told, asked, left_out)


def sheet_of(bank: Bank, told: dict[str, Any], answered: datetime | None) -> DeskSheet:
    """By a constant number of queries; the bank is not asked. `answered`: what was decided later counts beside it."""
    writes = writes_of(bank)
    rows = with_news(bank.pk, [_row(hit) for hit in told["hits"]], writes)
    rows = with_documents(bank, rows, {write.document_hash: write for write in writes if write.kind in REPLACING})
    return DeskSheet(
        facts=_as_decided(rows, answered),
        working=any(row.write is not None and row.write.is_open for row in rows),
        mark=mark_of(bank),
    )


def _row(hit: dict[str, Any]) -> FactRow:
    return replace(fact_row(hit), seen=hit["seen"], beside=tuple(_beside(hit)))


def _beside(hit: dict[str, Any]) -> list[str]:
    scores = [f"{name} {value:.2f}" for name, value in hit["scores"].items()]
    ranks = [f"{name} {place}" for name, place in sorted(hit["ranks"].items())]
    said = [f"scores: {', '.join(scores)}"] if scores else []
    return [*said, *([f"place by {', '.join(ranks)}"] if ranks else []), _fate(*hit["fate"])]


def _fate(kind: str, place: int) -> str:
    if kind == block.INJECTED:
        return f"in the block, line {place}"
    if kind == block.SAME:
        return f"not in the block: in the same words as hit {place}"
    return "not in the block: it was full" if kind == block.OVER else "not in the block: it has no text"


def _as_decided(rows: Sequence[FactRow], answered: datetime | None) -> list[FactRow]:
    """What was decided since: retired ones as retired, changed ones with their text of now."""
    since = {row.id: row.decision for row in rows if row.decision and answered and row.decision.at >= answered}
    edited = [each.current_id for each in since.values() if each.verdict == Verdict.EDITED and each.current_id]
    texts = Blob.objects.in_bulk(edited) if edited else {}
    return [_with(row, since[row.id], texts) if row.id in since else row for row in rows]


def _with(row: FactRow, decision: FactDecision, texts: dict[str, Blob]) -> FactRow:
    if decision.verdict == Verdict.RETIRED:
        return replace(row, retired=True, reason=decision.reason)
    blob = texts.get(decision.current_id or "")
    if decision.verdict != Verdict.EDITED or blob is None or blob.erased:
        return row
    return replace(row, text=blob.text, seen=seen_hash(blob.text), edited=True)
