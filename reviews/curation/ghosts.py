"""Retired facts that a server keeps although their sentence was extracted anew.

Where only some chunks of a document change, a server replaces the valid facts of those chunks and leaves the retired
ones as they are: the same sentence is there once more, valid and under a new id. The retired one is a ghost then.
Restored, it would state the sentence twice; and who believes that its decision stands leaves the valid one alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from banks.hindsight import Fact
from banks.models import Bank, Write
from reviews.models import FactDecision, Reapplication

BESIDE = 5  # of the valid facts of a chunk: by them it is known again


@dataclass(frozen=True)
class Sifted:
    """live: all facts but the ghosts. doubtful: ids of retired ones of which nothing tells whether they are ghosts."""

    live: list[Fact]
    doubtful: frozenset[str]


def left_behind(bank: Bank, document_id: str) -> set[str]:
    """The ids that decisions of this document were about before an extraction, as far as that is settled."""
    settled = [Reapplication.State.DONE, Reapplication.State.DECLINED]
    rows = Reapplication.objects.filter(
        decision__bank=bank, decision__document_hash=Write.hash_of(document_id), state__in=settled
    )
    return set(rows.values_list("replaces", flat=True))


def sift(bank: Bank, document_id: str, facts: Sequence[Fact]) -> Sifted:
    retired = {fact.id: fact for fact in facts if fact.is_retired and not fact.is_observation}
    if not retired:
        return Sifted(list(facts), frozenset())
    chunks = _chunks(facts)
    ghosts, doubtful = left_behind(bank, document_id) & set(retired), set()
    for decision in _decisions(bank, document_id, retired):
        verdict = _is_ghost(decision, retired[decision.fact_id], chunks, set(retired))
        if verdict is None:
            doubtful.add(decision.fact_id)
        elif verdict:
            ghosts.add(decision.fact_id)
        else:
            ghosts.discard(decision.fact_id)
    return Sifted([fact for fact in facts if fact.id not in ghosts], frozenset(doubtful))


def note_beside(decisions: Iterable[FactDecision], facts: Sequence[Fact]) -> None:
    """Keeps by which facts the chunk of a retired one is known again. `facts`: live ones."""
    here, chunks = {fact.id: fact for fact in facts}, _chunks(facts)
    for decision in decisions:
        fact = here.get(decision.fact_id)
        if fact is None or not fact.is_retired or not fact.chunk_id:
            continue
        beside = [each.id for each in chunks[fact.chunk_id]][:BESIDE]
        if decision.beside != beside:
            FactDecision.objects.filter(pk=decision.pk, fact_id=decision.fact_id).update(beside=beside)


def _decisions(bank: Bank, document_id: str, retired: dict[str, Fact]) -> list[FactDecision]:
    rows = FactDecision.objects.filter(bank=bank, document_hash=Write.hash_of(document_id))
    return [each for each in rows.only("fact_id", "beside", "verdict") if each.fact_id in retired]


def _chunks(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """{chunk: its valid facts}"""
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if not fact.is_retired and not fact.is_observation and fact.chunk_id:
            found[fact.chunk_id].append(fact)
    return found


def _is_ghost(decision: FactDecision, fact: Fact, chunks: dict[str, list[Fact]], retired: set[str]) -> bool | None:
    """None where nothing tells."""
    valid, since = chunks.get(fact.chunk_id, []), fact.invalidated_at
    ids, beside = {each.id for each in valid}, set(decision.beside or [])
    if not valid or beside & ids:
        return False
    if since is None:
        return None
    if any(each.updated_at is not None and each.updated_at <= since for each in valid):
        return False  # one that was there already
    if beside and not beside & retired:
        return True
    # Facts that nobody dated are dated when they are extracted.
    return True if all(each.mentioned_at is not None and each.mentioned_at > since for each in valid) else None
