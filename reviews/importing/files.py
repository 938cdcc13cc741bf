"""Uploaded files: in the data folder until their job has ended; afterwards the raw lines are in the database."""

from collections.abc import Iterable

from django.conf import settings

from banks import kept_files
from banks.kept_files import TooLarge, opened, remove
from banks.models import Job

__all__ = ["TooLarge", "keep", "opened", "remove", "remove_strays"]

KIND = "jsonl"


def keep(chunks: Iterable[bytes]) -> str:
    """Stores the bytes and returns the name to give to `opened`. Raises TooLarge above the limit."""
    return kept_files.keep(chunks, kind=KIND, most=settings.IMPORT_MAX_BYTES)


def remove_strays() -> int:
    """Removes files whose upload broke off or whose job has ended without removing them."""
    waiting = Job.objects.exclude(state__in=Job.ENDED)
    return kept_files.remove_strays(KIND, {params.get("file") for params in waiting.values_list("params", flat=True)})
