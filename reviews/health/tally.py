"""Counting facts one by one, in bounded memory. Pure: facts in, numbers and the first facts behind each number out."""

import hashlib
import random
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from banks.hindsight import Fact

KEPT = 200  # facts behind a number
COMPARED = 3_000  # facts of which each is compared with each
LONGEST_KEPT, LONGEST_COMPARED = 400, 500  # characters
TYPES_KEPT, LONGEST_TYPE = 20, 60

ONE_PROOF, NO_CONTEXT, NO_METADATA, NO_ENTITIES = "one-proof", "no-context", "no-metadata", "no-entities"
NOT_CONSOLIDATED, EDITED, SAME, ALIKE, FOREIGN = "not-consolidated", "edited", "same", "alike", "foreign"
FINDINGS = (ONE_PROOF, SAME, ALIKE, FOREIGN, NO_CONTEXT, NO_METADATA, NO_ENTITIES, NOT_CONSOLIDATED, EDITED)


@dataclass(frozen=True, slots=True)
class Kept:
    """A fact behind a number. `told`: what there is to say of it there: its group, or its language."""

    fact_id: str
    document_id: str
    text: str
    told: str = ""


@dataclass
class Tally:
    """What was counted. Documents, context and consolidation are of facts; observations have none of them."""

    read: int = 0
    facts: int = 0
    with_proofs: int = 0  # of which the server tells how many they have
    types: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    kept: dict[str, list[Kept]] = field(default_factory=dict)
    sample: list[Kept] = field(default_factory=list)  # of facts, by chance
    ever_consolidated: bool = False
    groups: int = 0  # of facts in the same words
    _met: set[bytes] = field(default_factory=set)
    _first: dict[bytes, tuple[str, str, int]] = field(default_factory=dict)  # text → its first fact, and its group
    _chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311  # the same each time

    def add(self, facts: Iterable[Fact]) -> int:
        """How many of them were new: what is written meanwhile shifts lists, so that facts are met twice."""
        before = self.read
        for fact in facts:
            key = _key(fact.id)
            if key in self._met or fact.is_retired:
                continue
            self._met.add(key)
            self._add(fact)
        return self.read - before

    def _add(self, fact: Fact) -> None:
        self.read += 1
        kind = clean(fact.type)[:LONGEST_TYPE] or "unknown"
        self.types[kind if kind in self.types or len(self.types) < TYPES_KEPT else "other"] += 1
        if fact.proof_count is not None:
            self.with_proofs += 1
            self._count(ONE_PROOF, fact, fact.proof_count == 1)
        if fact.is_observation:
            return
        self.facts += 1
        self.ever_consolidated = self.ever_consolidated or fact.consolidated_at is not None
        self._count(NO_CONTEXT, fact, not fact.context.strip())
        self._count(NO_METADATA, fact, not fact.metadata)
        self._count(NO_ENTITIES, fact, not fact.entities)
        self._count(NOT_CONSOLIDATED, fact, fact.consolidated_at is None)
        self._count(EDITED, fact, fact.edited_at is not None)
        self._compare(fact)
        self._draw(fact)

    def _count(self, finding: str, fact: Fact, found: bool) -> None:
        if found:
            self.counts[finding] += 1
            self.keep(finding, _kept(fact))

    def keep(self, finding: str, fact: Kept) -> None:
        rows = self.kept.setdefault(finding, [])
        if len(rows) < KEPT:
            rows.append(fact)

    def _compare(self, fact: Fact) -> None:
        """Facts that say the same in the same words; the first of them is no surplus."""
        key = _key(plain(fact.text))
        if key not in self._first:
            self._first[key] = (clean(fact.id), clean(fact.document_id), 0)
            return
        first_id, first_document, group = self._first[key]
        if not group:
            self.groups = group = self.groups + 1
            self._first[key] = (first_id, first_document, group)
            self.keep(SAME, replace(_kept(fact, str(group)), fact_id=first_id, document_id=first_document))
        self.counts[SAME] += 1
        self.keep(SAME, _kept(fact, str(group)))

    def _draw(self, fact: Fact) -> None:
        """Each fact has the same chance to be in the sample, however many come."""
        drawn = _kept(fact, most=LONGEST_COMPARED)
        if len(self.sample) < COMPARED:
            self.sample.append(drawn)
        elif (place := self._chance.randrange(self.facts)) < COMPARED:
            self.sample[place] = drawn


def _kept(fact: Fact, told: str = "", *, most: int = LONGEST_KEPT) -> Kept:
    return Kept(clean(fact.id), clean(fact.document_id), clean(fact.text[:most]), told)


def clean(text: str) -> str:
    """As every database can store it."""
    return text.replace("\0", "")


def plain(text: str) -> str:
    """Without what changes no meaning: case, spacing, forms of letters, a full stop at the end."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".")


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
