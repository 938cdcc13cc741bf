"""Where memories come from: the banks that are looked at, the files, and the jobs that looked back."""

from dataclasses import dataclass
from typing import Any

from banks import access
from banks.models import Bank, Job, Role
from reviews.models import SourceFile
from reviews.services import look_back

BANKS_SHOWN = 300
JOBS_SHOWN = 10


@dataclass(frozen=True)
class Source:
    """A bank as a source; `may_look_back` for its admins."""

    bank: Bank
    may_look_back: bool
    job: Job | None  # the latest look back


def bank_sources(user: Any) -> list[Source]:
    """By a constant number of queries."""
    banks = list(access.banks_for(user).select_related("server").order_by("name", "bank_id", "id")[:BANKS_SHOWN])
    administered = set(access.banks_for(user, Role.ADMIN).values_list("pk", flat=True))
    latest: dict[int, Job] = {}
    for job in Job.objects.filter(kind=look_back.KIND, params__bank__in=[bank.pk for bank in banks]).order_by("pk"):
        latest[job.params["bank"]] = job
    return [Source(bank, bank.pk in administered, latest.get(bank.pk)) for bank in banks]


def watched_files(user: Any) -> list[SourceFile]:
    """The watched files of this person, or of everybody for operators."""
    files = SourceFile.objects.exclude(path="").select_related("owner").order_by("pk")
    return list(files if getattr(user, "is_superuser", False) else files.filter(owner=user))
