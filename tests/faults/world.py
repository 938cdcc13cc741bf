"""What is in the bank before anybody does anything, and who may review it. Uses the product's own models."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.test import Client

from banks.models import Bank, Membership, Role, Server
from memadmin.accounts.models import User

BANK = "kill-tests"
NAMES = ("ann", "ben", "mira")


def subject(number: int) -> str:
    """A name of letters alone, another one for each document."""
    letters = ""
    while True:
        number, rest = divmod(number, 26)
        letters = chr(ord("a") + rest) + letters
        if not number:
            return f"Subject{letters.capitalize()}x"


def retain(demo_url: str, document_ids: list[str], *, first: int) -> dict[str, str]:
    """What agents did: stores these documents, past memadmin, at once. Returns their texts."""
    texts = {
        name: f"{subject(first + n)} keeps the ledger number {n}.\n{subject(first + n)} reads it on Mondays."
        for n, name in enumerate(document_ids)
    }
    items = [{"content": text, "document_id": name, "tags": ["kept"]} for name, text in texts.items()]
    answer = httpx.post(f"{demo_url}/v1/default/banks/{BANK}/memories", json={"items": items}, timeout=60)
    answer.raise_for_status()
    return texts


def open_bank(server_url: str) -> Bank:
    """The bank, registered, with people who may review it. The server is not waited for as long as usual."""
    from tests.faults.stack import READ_TIMEOUT

    server = Server.objects.get(base_url=server_url)
    Server.objects.filter(pk=server.pk).update(read_timeout=READ_TIMEOUT, connect_timeout=1.0)
    bank = Bank.objects.get_or_register(server=server, bank_id=BANK)
    for name in NAMES:
        user = User.objects.create_user(name, first_name=name.capitalize())
        Membership.objects.create(user=user, bank=bank, role=Role.REVIEWER)
    return bank


def session_of(name: str) -> str:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def queue_lines(bank: Bank, document_ids: list[str]) -> list[str]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {
        "ev": "add",
        "bank": bank.bank_id,
        "baseUrl": bank.server.base_url,
        "namespace": "default",
        "project": "/home/ann/ledger",
        "reason": "compact",
        "language": "en",
        "ts": now,
    }
    return [json.dumps({**line, "docId": name}) for name in document_ids]


@dataclass(frozen=True)
class Contents:
    """Everything that the demo server holds, read from its file."""

    documents: dict[tuple[str, str], tuple[Any, ...]]  # (bank, document) → everything about it
    facts: dict[str, tuple[Any, ...]]  # fact id → (bank, document, everything else)
    operations: dict[str, tuple[str, str]]  # operation id → (document, status)

    @classmethod
    def read(cls, file: Path) -> "Contents":
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
            columns = "bank_id, id, text, content_hash, created_at, updated_at, tags, params"
            documents = db.execute(f"SELECT {columns} FROM documents")
            facts = db.execute(
                "SELECT id, bank_id, document_id, text, type, state, tags, entities, created_at FROM facts "
                "WHERE type != 'observation'"
            )
            operations = db.execute(
                "SELECT id, document_id, status FROM operations WHERE bank_id = ? AND type = 'batch_retain'", [BANK]
            )
            return cls(
                {(row[0], row[1]): row[2:] for row in documents},
                {row[0]: row[1:] for row in facts},
                {row[0]: row[1:] for row in operations},
            )

    def text(self, document_id: str) -> str | None:
        row = self.documents.get((BANK, document_id))
        return str(row[0]) if row else None

    def but(self, document_ids: set[str]) -> tuple[object, object]:
        """Everything that does not belong to these documents, for comparing."""
        mine = {(BANK, name) for name in document_ids}
        return (
            {key: row for key, row in self.documents.items() if key not in mine},
            {key: row for key, row in self.facts.items() if (row[0], row[1]) not in mine},
        )
