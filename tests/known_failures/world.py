"""What these tests share: nasty ids, a wire that is looked at, and work that is done until nothing is left."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

import time_machine
from django.apps import apps
from django.db import connection
from django.utils import timezone

from banks import connections
from banks.hindsight import NotFound
from banks.models import Bank, Write
from banks.writes import worker
from reviews.models import ReviewEntry
from reviews.services import load
from tests import factories
from tests.banks.conftest import later, store

DOCUMENT_IDS = [
    "folder/file.md",
    "/lead/and/trail/",
    "../climb",
    "x/../y",
    "...",
    " lead trail ",
    "ABC#DEF?x=1",
    "100%",
    "team%20x",
    "a%2Fb",
    "%2e%2e",
    "a\\b",
    "a+b&c=d;e",
    'it\'s "quoted"',
    "agent-1::channel-2::user-3",
    "журнал/прибор 7.md",
    "記憶",
    "atlas-🗺️",
    "\u202egnp.exe",
    "z\u200bw",
    "<img src=x onerror=alert(1)>",
    "ж" * 600,
]
# Refused before any call; "" stands for "no document" in a filter.
UNADDRESSABLE = ["", ".", "..", "a\0b", "half \ud83d"]
# Reading them is answered by another route of the server, or by none.
SHADOWED = ["notes/chunks", "notes/history"]

BANK_IDS = [
    "agent-1::channel-2::user-3",
    "team x",
    "team%20x",
    "100%",
    "claude-code::мой проект",
    "a?b=c#d",
    "it's & co",
    "...",
    "\u202egnp",
    "ж" * 96,
]
BANKS_REFUSED = ["", ".", "..", "x/documents/y", "x/memories", "org/user", "/", "a\0b"]

PRESENCE = {"accounts.user", "sessions.session", "account.emailaddress"}
CONSTANT = {"auth.permission", "contenttypes.contenttype"}  # as the migrations have made them


def short(value: object) -> str:
    return ascii(value)[:24]


@dataclass
class Wire:
    """A server's side of the line: (method, raw path with query) of each request, in order."""

    url: str = ""
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def segments(self) -> list[list[str]]:
        """The path of each request as the server decodes it, segment by segment."""
        return [[unquote(part) for part in raw.partition("?")[0].split("/")] for _, raw in self.lines]

    @property
    def queries(self) -> list[dict[str, list[str]]]:
        return [parse_qs(raw.partition("?")[2], keep_blank_values=True) for _, raw in self.lines]


def work_off(*, rounds: int = 80) -> None:
    """What sweeps and workers do, with the clock moved on to whatever is due next, until nothing is."""
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for _ in range(rounds):
            writes = list(Write.objects.filter(state__in=Write.OPEN).order_by("pk"))
            entries = list(ReviewEntry.objects.filter(load_after__isnull=False))
            due = [write.not_before for write in writes] + [entry.load_after for entry in entries if entry.load_after]
            if not due:
                return
            clock.move_to(max(min(due), timezone.now()) + later(1), tick=False)
            for write in writes:
                worker.run(write.pk)
            for entry in entries:
                load.load(entry.pk)


def in_bank(bank: Bank, document_id: str) -> str | None:
    """The text as the bank has it, None when it has no such document."""
    with connections.client_for(bank.server) as client:
        try:
            return client.get_document(bank.bank_id, document_id).text
        except NotFound:
            return None


def waiting(bank: Bank, document_id: str, **values: Any) -> ReviewEntry:
    """An entry as a source brings it: its text is not here yet."""
    unread = {"load_state": ReviewEntry.Load.LOADING, "load_after": timezone.now(), "fact_count": None}
    entry = factories.make_entry(bank, document_id, **{**unread, **values})
    entry.text, entry.preview = None, ""
    entry.save(update_fields=["text", "preview"])
    return entry


def loaded(bank: Bank, document_id: str, text: str = "Ann keeps the ledger. Ben reads it.") -> ReviewEntry:
    """A memory that an agent stored and a worker has loaded."""
    store(bank, document_id, text)
    entry = waiting(bank, document_id)
    assert load.load(entry.pk) == "loaded"
    entry.refresh_from_db()
    return entry


def everything(*, without: Collection[str] = ()) -> str:
    """Every row of the product as text; what only says that somebody was here is left out."""
    found, left_out = [], PRESENCE | CONSTANT | set(without)
    with connection.cursor() as cursor:  # ten times as fast as by its models, for what is asked hundreds of times
        for model in apps.get_models(include_auto_created=True):
            if (name := model._meta.label_lower) not in left_out:
                cursor.execute(f"SELECT * FROM {model._meta.db_table} ORDER BY {model._meta.pk.column}")
                found += [f"{name} {[bytes(v) if isinstance(v, memoryview) else v for v in row]}" for row in cursor]
    return "\n".join(found)
