"""The import of a big queue file, and the least that any importer of it has to do."""

import json
import pickle
import time
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from banks import jobs
from banks.models import Bank, Job, Server
from memadmin.accounts.models import User
from reviews.importing.job import start_import
from reviews.models import Decision, ReviewEntry, SourceEvent, SourceFile

TABLES = [model._meta.db_table for model in (Job, SourceFile, ReviewEntry, SourceEvent, Decision)]
ROWS_AT_ONCE = 2_000


def prepare(url: str, banks: int) -> None:
    User.objects.create_superuser(username="ann", password="a long enough password")
    server = Server.objects.create(name="bench", base_url=url)
    for number in range(banks):
        bank_id = f"bank-{number}"
        Bank.objects.create(server=server, bank_id=bank_id, bank_hash=Bank.hash_of(bank_id))


def run(file: str) -> float:
    """Seconds of one import, from the sent file to the report."""
    content = Path(file).read_bytes()
    start = time.perf_counter()
    job = start_import(owner=User.objects.get(username="ann"), machine="laptop", chunks=[content], here=True)
    ended = jobs.run(job.pk, slice_seconds=None)
    taken = time.perf_counter() - start
    assert ended == "done", ended
    return taken


def keep_rows(target: str) -> dict[str, int]:
    """Writes what the import stored to a file, for `floor`."""
    found = {}
    with connection.cursor() as cursor:
        for table in [*TABLES, "reviews_search"]:
            key = "rowid, " if connection.vendor == "sqlite" and table == "reviews_search" else ""
            cursor.execute(f"SELECT {key}* FROM {table} ORDER BY 1")
            found[table] = [[column[0] for column in cursor.description], cursor.fetchall()]
    Path(target).write_bytes(pickle.dumps(found))
    return {table: len(rows) for table, (_, rows) in found.items()}


def floor(file: str, rows: str) -> float:
    """Seconds to parse each line, fold the lines by document, and insert the rows, which are ready."""
    content, found = Path(file).read_bytes(), pickle.loads(Path(rows).read_bytes())
    lots = [lot for table, (columns, values) in found.items() for lot in _lots(table, columns, values)]
    start = time.perf_counter()
    pending = _fold(content)
    for sql, values in lots:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(sql, values)
    taken = time.perf_counter() - start
    assert pending == sum(1 for row in found[TABLES[2]][1] if "pending" in row)
    return taken


def _fold(content: bytes) -> int:
    waiting: dict[str, dict[str, Any]] = {}
    for line in content.split(b"\n"):
        if line:
            event = json.loads(line)
            if event["ev"] == "add":
                waiting[event["docId"]] = event
            else:
                waiting.pop(event["docId"], None)
    return len(waiting)


def _lots(table: str, columns: list[str], rows: list[Any]) -> list[tuple[str, list[Any]]]:
    names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join(["%s"] * len(columns))
    sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"
    return [(sql, rows[start : start + ROWS_AT_ONCE]) for start in range(0, len(rows), ROWS_AT_ONCE)]
