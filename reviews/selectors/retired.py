"""The archive: facts that are retired, of all banks a person may see."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, time, timedelta
from typing import Any

from django.db.models import Count as CountOf
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.http import urlencode

from banks.access import bank_ids_for, banks_for
from banks.models import Bank, Job, JobItem, Role, Write
from memadmin.counting import Count, count_of
from memadmin.paging import Cursor, Order, Page, page_of
from reviews.models import FactDecision, ReviewEntry

ORDER = Order("at", descending=True)
PAGE_SIZE = 50
ITEMS_SHOWN = 100
PEOPLE_SHOWN = 200
JOBS = ["restore-facts", "retire-again"]


@dataclass(frozen=True)
class RetiredFilters:
    """Empty = not asked for. Anything unknown is dropped."""

    q: str = ""
    bank: str = ""
    who: str = ""  # a person's primary key
    origin: str = ""
    reason: str = ""
    since: str = ""  # days, both of them included
    until: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "RetiredFilters":
        def text(name: str) -> str:
            return str(query.get(name, "")).replace("\x00", "").strip()[:200]

        def number(name: str) -> str:
            given = text(name)
            return given if given.isascii() and given.isdigit() and len(given) < 18 else ""

        origin = text("origin")
        return cls(
            q=text("q"),
            bank=number("bank"),
            who=number("who"),
            origin=origin if origin in FactDecision.Origin.values else "",
            reason=text("reason"),
            since=_day(text("since")),
            until=_day(text("until")),
        )

    def query(self, **changes: str) -> str:
        asked = replace(self, **changes).values
        return f"?{urlencode(asked)}" if asked else ""

    @property
    def values(self) -> dict[str, str]:
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name))}

    def said(self, banks: Sequence[Bank], people: Sequence[tuple[int, str]]) -> list[tuple[str, str]]:
        """(label, value) of what is asked for, in words."""
        names = {str(pk): name for pk, name in people}
        called = {str(bank.pk): str(bank) for bank in banks}
        values = {
            "Text": self.q,
            "Reason": self.reason,
            "Bank": called.get(self.bank, self.bank),
            "Retired by": names.get(self.who, self.who),
            "Decided": str(FactDecision.Origin(self.origin).label) if self.origin else "",
            "On or after": self.since,
            "On or before": self.until,
        }
        return [(label, value) for label, value in values.items() if value]

    def condition(self) -> Q:
        asked = Q()
        if self.q:
            asked &= Q(preview__icontains=self.q) | Q(document_id__icontains=self.q)
        if self.bank:
            asked &= Q(bank=int(self.bank))
        if self.who:
            asked &= Q(user=int(self.who))
        if self.origin:
            asked &= Q(origin=self.origin)
        if self.reason:
            asked &= Q(reason__icontains=self.reason)
        if self.since:
            asked &= Q(at__gte=_midnight(self.since))
        if self.until:
            asked &= Q(at__lt=_midnight(self.until) + timedelta(days=1))
        return asked


@dataclass
class RetiredRow:
    decision: FactDecision
    entry: int | None = None
    write: Write | None = None  # under way, or in need of a person


@dataclass(frozen=True)
class Told:
    """What the servers say: the sum over the banks that could be read, the oldest reading, and the others."""

    total: int
    banks: int
    read_at: datetime | None
    unknown: list[Bank]


def retired_seen_by(user: Any, filters: RetiredFilters, role: Role = Role.VIEWER) -> QuerySet[FactDecision]:
    """The one base of the archive, of its counts and of what is done to all that match."""
    banks = bank_ids_for(user, role)
    rows = FactDecision.objects.filter(filters.condition(), verdict=FactDecision.Verdict.RETIRED)
    return rows if banks is None else rows.filter(bank__in=banks)


def retired_page(user: Any, filters: RetiredFilters, cursor: Cursor | None) -> Page[FactDecision]:
    return page_of(retired_seen_by(user, filters).select_related("bank"), ORDER, cursor, PAGE_SIZE)


def retired_count(user: Any, filters: RetiredFilters) -> Count:
    return count_of(retired_seen_by(user, filters))


def with_news(decisions: Iterable[FactDecision]) -> list[RetiredRow]:
    """The rows of a page with the card of each and what is under way. Two queries."""
    decisions = list(decisions)
    documents = {each.document_hash for each in decisions if each.document_hash}
    entries = ReviewEntry.objects.filter(document_hash__in=documents).values_list("bank", "document_hash", "pk")
    cards = {(int(bank), document): pk for bank, document, pk in entries}
    acts = under_way(decisions, [*Write.OPEN, Write.State.ATTENTION])
    return [
        RetiredRow(each, cards.get((each.bank_id, each.document_hash)), acts.get((each.bank_id, each.fact_id)))
        for each in decisions
    ]


def under_way(
    decisions: Iterable[FactDecision], states: Sequence[str] = tuple(Write.OPEN)
) -> dict[tuple[int, str], Write]:
    """{(bank, fact id): the latest row about it in one of the states}"""
    decisions = list(decisions)
    rows = Write.objects.filter(
        bank__in={each.bank_id for each in decisions},
        document_hash__in={each.document_hash for each in decisions},
        state__in=states,
    )
    found = rows.only("kind", "state", "fact_ids", "bank", "error_text").order_by("pk")
    return {(write.bank_id, str(fact_id)): write for write in found for fact_id in write.fact_ids}


def people_of(user: Any) -> list[tuple[int, str]]:
    """Who has retired something that is retired still."""
    rows = retired_seen_by(user, RetiredFilters()).filter(user__isnull=False).order_by()
    return sorted(set(rows.values_list("user", "user_name").distinct()[:PEOPLE_SHOWN]), key=lambda row: row[1].lower())


def told_by_servers(user: Any) -> Told:
    banks = list(banks_for(user).filter(gone_since=None).only("name", "bank_id", "retired_count", "counted_at"))
    read = [bank for bank in banks if bank.retired_count is not None]
    return Told(
        total=sum(bank.retired_count or 0 for bank in read),
        banks=len(read),
        read_at=min((bank.counted_at for bank in read if bank.counted_at), default=None),
        unknown=[bank for bank in banks if bank.retired_count is None],
    )


# ── bulk ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Progress:
    """A group of rows as they stand. `handled`: those that have ended, or wait for a person."""

    total: int
    done: int
    refused: int
    cancelled: int
    waiting: int

    @property
    def handled(self) -> int:
        return self.total - self.waiting


def get_job(user: Any, pk: int) -> Job:
    """Of who started it, or for an operator."""
    jobs = Job.objects.filter(pk=pk, kind__in=JOBS)
    job = (jobs if user.is_superuser else jobs.filter(owner=user)).first()
    if job is None:
        raise Http404("No such work.")
    return job


def rows_of(job: Job) -> QuerySet[Write]:
    return Write.objects.filter(group=job.params["group"])


def progress_of(job: Job) -> Progress:
    states = dict(rows_of(job).order_by().values_list("state").annotate(CountOf("pk")))
    waiting = sum(states.get(state, 0) for state in Write.OPEN)
    bad = states.get(Write.State.ATTENTION, 0) + states.get(Write.State.CHANGED, 0)
    done, cancelled = states.get(Write.State.DONE, 0), states.get(Write.State.CANCELLED, 0)
    return Progress(sum(states.values()), done, bad, cancelled, waiting)


def items_of(job: Job, after: int) -> tuple[list[tuple[Write, str]], int]:
    """(rows with the beginning of their fact's text, the next page's cursor or 0); what was refused comes first."""
    bad = [Write.State.ATTENTION, Write.State.CHANGED]
    rows = rows_of(job).select_related("bank").defer("facts_before")
    refused = list(rows.filter(state__in=bad).order_by("pk")[:ITEMS_SHOWN]) if not after else []
    others = list(rows.filter(pk__gt=after).exclude(state__in=bad).order_by("pk")[: ITEMS_SHOWN + 1])
    more = others[ITEMS_SHOWN - 1].pk if len(others) > ITEMS_SHOWN else 0
    found = [*refused, *others[:ITEMS_SHOWN]]
    pks = [write.params.get("decision") for write in found]
    texts = dict(FactDecision.objects.filter(pk__in=[pk for pk in pks if pk]).values_list("pk", "preview"))
    return [(write, texts.get(write.params.get("decision"), "")) for write in found], more


def skipped_of(job: Job) -> list[JobItem]:
    return list(job.items.order_by("number")[:ITEMS_SHOWN])


def may_undo(job: Job) -> bool:
    """Whether something of a bulk restore is there to be taken back, and nobody has done that."""
    if job.kind != "restore-facts" or not job.ended:
        return False
    restored = rows_of(job).filter(state__in=[*Write.OPEN, Write.State.DONE])
    return restored.exists() and not Write.objects.filter(kind="retire", undo_of__in=restored).exists()


def _day(text: str) -> str:
    try:
        return text if parse_date(text) else ""
    except ValueError:
        return ""


def _midnight(day: str) -> datetime:
    found = parse_date(day)
    assert found is not None
    return timezone.make_aware(datetime.combine(found, time.min))
