"""What is read for the pages about a bank's health: stored reports alone, with their time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from banks.models import Bank
from reviews.health import languages
from reviews.health import tally as of
from reviews.models import FactDecision, HealthReport

TYPES = ("world", "experience", "observation")
# Name and meaning of each number, in the order of the page.
WORDS = {
    of.ONE_PROOF: ("One proof", "said once: nothing else in the bank supports it"),
    of.SAME: ("In the same words", "facts that another fact says already, word for word"),
    of.ALIKE: ("Nearly the same", "close in their words, and the same in numbers, names and negations"),
    of.FOREIGN: ("In another language", "than the rest of the bank"),
    of.NO_CONTEXT: ("Without context", "nothing says what it was about when it was said"),
    of.NO_METADATA: ("Without metadata", "nothing says which program or session it came from"),
    of.NO_ENTITIES: ("Without entities", "nothing leads from it to other facts"),
    of.NOT_CONSOLIDATED: ("Not consolidated", "no observation was made from it yet, or it changed since"),
    of.EDITED: ("Edited", "a person or a program changed its text"),
}


@dataclass(frozen=True)
class Share:
    """One number: `count` of `whole`; None = not known. `url`: the facts behind it. `before`: in the report before."""

    label: str
    count: int | None
    whole: int
    about: str = ""
    url: str = ""
    before: int | None = None  # per cent
    key: str = ""

    @property
    def percent(self) -> str:
        if self.count is None or not self.whole:
            return ""
        share = 100 * self.count / self.whole
        rounded = round(share)
        if self.count and not rounded:
            return "under 1 %"
        return f"{rounded} %" if rounded < 100 or self.count >= self.whole else "over 99 %"


@dataclass(frozen=True)
class Health:
    """`latest`: the last one that was asked for; `report`: the last that was taken."""

    latest: HealthReport | None
    report: HealthReport | None = None
    shares: list[Share] = field(default_factory=list)
    types: list[Share] = field(default_factory=list)
    languages: list[Share] = field(default_factory=list)

    @property
    def under_way(self) -> bool:
        return self.latest is not None and self.latest.job is not None and not self.latest.job.ended

    @property
    def failure(self) -> str:
        """Why the last one came to nothing, "" when it did not."""
        latest = self.latest
        if latest is None or latest.taken or self.under_way:
            return ""
        return (latest.job.error if latest.job else "") or "It was stopped."


def health_of(bank: Bank) -> Health:
    """Three queries: two for the reports, one for the archive."""
    reports = HealthReport.objects.filter(bank=bank).order_by("-pk")
    latest = reports.select_related("job").first()
    taken = list(reports.exclude(taken=None)[:2])
    if not taken:
        return Health(latest)
    report, before = taken[0], taken[1].numbers if len(taken) > 1 else {}
    return Health(latest, report, _shares(bank, report, before), _types(bank, report), _mix(bank, report))


def _shares(bank: Bank, report: HealthReport, before: Mapping[str, Any]) -> list[Share]:
    numbers = report.numbers
    found = []
    for key, (label, about) in WORDS.items():
        count, whole = count_of(key, numbers)
        url = list_of(bank, key) if count else ""
        was, of_all = count_of(key, before) if before else (None, 0)
        percent = None if was is None or not of_all else round(100 * was / of_all)
        found.append(Share(label, count, whole, about_share(key, about, numbers), url, percent, key))
    return [*found, *_curated(bank, numbers)]


def count_of(key: str, numbers: Mapping[str, Any]) -> tuple[int | None, int]:
    """How many, and of how many; None = not known."""
    count, facts = numbers["counts"].get(key, 0), numbers["facts"]
    if key == of.ONE_PROOF:
        return (count if numbers["proofs"] else None), numbers["proofs"]
    if key == of.ALIKE:
        return count, numbers["alike"]["compared"]
    if key == of.FOREIGN:
        told = sum(numbers["languages"]["mix"].values())
        return (count if told else None), told
    if key == of.NOT_CONSOLIDATED and not numbers["consolidates"]:
        return None, facts
    return count, facts


def about_share(key: str, about: str, numbers: Mapping[str, Any]) -> str:
    """What there is to add about one number."""
    alike, facts = numbers["alike"], numbers["facts"]
    if key == of.SAME and numbers["groups"]:
        return f"{about}; {_said(numbers['groups'], 'statement')}"
    if key == of.ALIKE and alike["compared"] < facts - numbers["counts"].get(of.SAME, 0):
        return f"{about}; a sample: {alike['compared']:,} facts drawn by chance, each compared with each"
    if key == of.FOREIGN:
        return _about_languages(about, numbers["languages"])
    if key == of.NOT_CONSOLIDATED and numbers["waiting"] is not None:
        return f"{about}; the server says that {numbers['waiting']:,} wait"
    return about


def _about_languages(about: str, told: Mapping[str, Any]) -> str:
    if told["why"]:
        return str(told["why"])
    own = languages.TOLD.get(told["own"], "")
    if not own:
        return f"{about}; no text was long enough to tell"
    if languages.code_of(told["set"]):
        return f"than {own}, the bank's language; a guess"
    why = "that of its policy cannot be told here" if told["set"] else "its policy names no language"
    return f"than {own}, the most frequent one ({why}); a guess"


def _curated(bank: Bank, numbers: Mapping[str, Any]) -> list[Share]:
    """Counted by the server and in our archive, so of all facts, however many were read."""
    retired = numbers["retired"]
    whole = numbers["total"] + (retired or 0)
    facts, archive = reverse("reviews:bank-facts", args=[bank.pk]), reverse("reviews:retired-list")
    restored = FactDecision.objects.filter(bank=bank, shelf=FactDecision.Shelf.RESTORED).count()
    return [
        Share(
            "Retired",
            retired,
            whole,
            "recalled by nobody, and can be restored",
            f"{facts}?state=invalidated" if retired else "",
        ),
        Share(
            "Restored",
            restored,
            whole,
            "were retired once, as far as memadmin knows",
            f"{archive}?{urlencode({'tab': 'restored', 'bank': str(bank.pk)})}" if restored else "",
        ),
    ]


def _said(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _types(bank: Bank, report: HealthReport) -> list[Share]:
    counts, read = report.numbers["types"], report.numbers["read"]
    facts = reverse("reviews:bank-facts", args=[bank.pk])
    order = [*TYPES, *sorted(set(counts) - set(TYPES))]
    return [
        Share(kind, counts[kind], read, url=f"{facts}?type={kind}" if kind in TYPES else "")
        for kind in order
        if kind in counts
    ]


def _mix(bank: Bank, report: HealthReport) -> list[Share]:
    told = report.numbers["languages"]
    mix, read = told["mix"], told["read"]
    rows = [
        Share(
            languages.TOLD.get(code, code),
            count,
            read,
            about="the bank's language" if code == told["own"] and languages.code_of(told["set"]) else "",
            url="" if code == told["own"] else list_of(bank, of.FOREIGN, told=code),
        )
        for code, count in sorted(mix.items(), key=lambda each: (-each[1], each[0]))
    ]
    unsure = read - sum(mix.values())
    return (
        [*rows, Share("not told", unsure, read, "too short, mostly code, or between two")] if unsure and rows else rows
    )


def list_of(bank: Bank, key: str, **more: str) -> str:
    return f"{reverse('reviews:bank-health-facts', args=[bank.pk])}?{urlencode({'of': key, **more})}"
