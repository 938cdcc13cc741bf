"""The facts behind a number of a bank's health, as they were when they were counted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.urls import reverse
from django.utils.http import urlencode

from banks.models import Bank, Write
from reviews.health import languages
from reviews.health import tally as of
from reviews.models import HealthFact, HealthReport, ReviewEntry
from reviews.selectors.bank_health import WORDS, about_share, count_of, list_of

FACTS_PER_PAGE = 50
SEARCHED = 100  # characters of a fact by which the bank's own list finds it
GROUPED = (of.SAME, of.ALIKE)


@dataclass(frozen=True)
class FactFilters:
    of: str = of.ONE_PROOF
    told: str = ""
    after: int = 0

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "FactFilters":
        finding, after = query.get("of", ""), query.get("after", "")
        return cls(
            of=finding if finding in WORDS else of.ONE_PROOF,
            told=query.get("told", "").replace("\0", "")[:20],
            after=int(after) if after.isascii() and after.isdigit() and len(after) < 8 else 0,
        )


@dataclass(frozen=True)
class FactLine:
    """`group`: the number of the statement that its neighbours say too, where it differs from the row before."""

    fact: HealthFact
    document_url: str
    find_url: str
    group: str = ""
    language: str = ""


@dataclass(frozen=True)
class FactList:
    report: HealthReport | None
    filters: FactFilters
    label: str
    about: str
    lines: list[FactLine] = field(default_factory=list)
    count: int | None = None
    kept: int = 0
    later: str = ""
    taken: datetime | None = None


def facts_behind(bank: Bank, filters: FactFilters) -> FactList:
    """By place, some at a time; of the latest report that was taken."""
    label, about = WORDS[filters.of]
    report = HealthReport.objects.filter(bank=bank).exclude(taken=None).order_by("-pk").first()
    if report is None:
        return FactList(None, filters, label, about)
    rows = HealthFact.objects.filter(report=report, finding=filters.of)
    rows = rows.filter(told=filters.told) if filters.told else rows
    found = list(rows.filter(place__gt=filters.after).order_by("place")[: FACTS_PER_PAGE + 1])
    shown = found[:FACTS_PER_PAGE]
    more = {"told": filters.told} if filters.told else {}
    later = list_of(bank, filters.of, **more, after=str(shown[-1].place)) if len(found) > FACTS_PER_PAGE else ""
    count, _ = count_of(filters.of, report.numbers)
    if filters.told and filters.of == of.FOREIGN:
        count = report.numbers["languages"]["mix"].get(filters.told, 0)
        label = f"In {languages.TOLD.get(filters.told, filters.told)}"
    return FactList(
        report,
        filters,
        label,
        about_share(filters.of, about, report.numbers),
        _lines(bank, shown, filters),
        count,
        rows.count(),
        later,
        report.taken,
    )


def _lines(bank: Bank, facts: list[HealthFact], filters: FactFilters) -> list[FactLine]:
    hashes = {fact.document_id: Write.hash_of(fact.document_id) for fact in facts if fact.document_id}
    entries = ReviewEntry.objects.filter(bank=bank, document_hash__in=set(hashes.values())).order_by()
    known = dict(entries.values_list("document_hash", "pk"))
    plain = reverse("reviews:bank-facts", args=[bank.pk])
    lines, last = [], ""
    for fact in facts:
        grouped = filters.of in GROUPED and fact.told != last
        last = fact.told
        lines.append(
            FactLine(
                fact,
                _page_of(bank, fact.document_id, known.get(hashes.get(fact.document_id, ""))),
                f"{plain}?{urlencode({'q': fact.text[:SEARCHED].strip()})}",
                fact.told if grouped else "",
                languages.TOLD.get(fact.told, "") if filters.of == of.FOREIGN else "",
            )
        )
    return lines


def _page_of(bank: Bank, document_id: str, entry: int | None) -> str:
    """Its card, else its page in the bank; "" for what has no document."""
    if entry is not None:
        return reverse("reviews:entry-detail", args=[entry])
    document = urlencode({"document": document_id})
    return f"{reverse('reviews:bank-document', args=[bank.pk])}?{document}" if document_id else ""
