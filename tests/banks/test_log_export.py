"""The log as a file: what the list shows, whole, in little memory, and honest about its end."""

import csv
import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from banks import log_export
from banks.log_filters import LogFilters
from banks.models import Bank, Blob, Role, Write
from memadmin import exporting
from tests import factories
from tests.banks.log_rows import make_row
from tests.conftest import People


def taken(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


def lines(client: Client, query: str = "") -> list[dict[str, Any]]:
    return [json.loads(line) for line in taken(client, f"/log/export.jsonl{query}").splitlines()]


def test_a_file_has_the_rows_of_the_list_the_oldest_first(bank: Bank, people: People, as_user) -> None:
    now = timezone.now()
    rows = [make_row(bank, f"doc-{n}", kind="retire", occurred_at=now - timedelta(days=n)) for n in range(3)]
    make_row(bank, "elsewhere")
    make_row(factories.make_bank(), "doc-hidden", kind="retire")
    found = lines(as_user(people.viewer), "?kind=retire")
    assert [row["id"] for row in found] == [row.pk for row in reversed(rows)]
    assert list(found[0]) == log_export.LOG_FIELDS
    assert (found[0]["bank"], found[0]["server"]) == (bank.bank_id, bank.server.name)
    assert len(lines(as_user(people.operator), "?kind=retire")) == 4
    assert lines(as_user(people.stranger)) == []


def test_it_is_a_download_that_nobody_keeps_or_guesses_at(bank: Bank, people: People, as_user) -> None:
    for ending, kind in [("jsonl", "application/x-ndjson"), ("csv", "text/csv")]:
        answer = as_user(people.viewer).get(f"/log/export.{ending}")
        assert answer["Content-Type"].startswith(kind)
        assert answer["Content-Disposition"] == f'attachment; filename="memadmin-log-{timezone.localdate()}.{ending}"'
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Cache-Control"] == "no-store"
    assert Client().get("/log/export.csv").status_code == 302
    assert as_user(people.viewer).post("/log/export.csv").status_code == 405


def test_texts_are_whole_in_lines_and_cut_in_a_table(bank: Bank, people: People, as_user) -> None:
    text = "ä\r\n\u2028" + "x" * 5_000
    make_row(
        bank, before=Blob.objects.store(text), request=Blob.objects.store("=1+1"), private=Blob.objects.store("shh")
    )
    client = as_user(people.viewer)
    (row,) = lines(client, "?texts=1")
    assert (row["before"], row["request"], row["after"]) == (text, "=1+1", None)
    assert row["before_sha256"] == Blob.objects.store(text).pk
    (cells,) = csv.DictReader(StringIO(taken(client, "/log/export.csv?texts=1"), newline=""))
    assert cells["before"].startswith("ä\\r\\n\\u2028xxx")
    assert cells["before"].endswith("x [Omitted 3007 bytes. JSON Lines has them.]")
    assert cells["request"] == "'=1+1"
    for path in ("/log/export.jsonl?texts=1", "/log/export.csv?texts=1"):
        assert "shh" not in taken(client, path)
    (row,) = lines(client)
    assert (row["before"], bool(row["before_sha256"])) == (None, True)


def test_an_erased_text_leaves_its_hash(bank: Bank, people: People, as_user) -> None:
    blob = Blob.objects.store("secret")
    make_row(bank, before=blob)
    Blob.objects.update(data=b"", erased=timezone.now())
    (row,) = lines(as_user(people.viewer), "?texts=1")
    assert (row["before"], row["before_sha256"]) == (None, blob.pk)


@pytest.mark.parametrize("first", [*"=+-@", "\t", "\r"])
def test_no_cell_begins_like_a_formula(first: str, bank: Bank, people: People, as_user) -> None:
    make_row(bank, f"{first}cmd|'/C calc'!A0", actor_name=f"{first}x", error_text=f"{first}1+1")
    (row,) = csv.DictReader(StringIO(taken(as_user(people.viewer), "/log/export.csv"), newline=""))
    assert all(row[name].startswith("'") for name in ("document_id", "actor", "error_text"))


def test_many_rows_are_read_in_lots_and_each_comes_once(
    bank: Bank, people: People, as_user, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries
) -> None:
    monkeypatch.setattr(log_export, "CHUNK", 7)
    monkeypatch.setattr(log_export, "TEXTS_AT_ONCE", 250)
    other, moment = factories.make_bank(), timezone.now()
    factories.grant(people.reviewer, other, Role.VIEWER)
    made = [
        make_row([bank, other][n % 2], indexed=False, before=Blob.objects.store(f"{n:03}" * 33), occurred_at=moment)
        for n in range(40)
    ]
    with django_assert_max_num_queries(80):
        found = lines(as_user(people.reviewer), "?texts=1&state=done")
    assert [row["id"] for row in found] == [row.pk for row in made]
    assert [row["before"][:3] for row in found] == [f"{n:03}" for n in range(40)]


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_file_that_ends_early_says_so_in_its_last_line(
    ending: str, bank: Bank, people: People, as_user, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    for _ in range(3):
        make_row(bank)
    rows = log_export.walk

    def failing(*args: Any) -> list[Write]:
        if args[2] is not None:
            raise OSError("the disk is gone")
        return rows(*args)

    monkeypatch.setattr(log_export, "CHUNK", 2)
    monkeypatch.setattr(log_export, "walk", failing)
    told = taken(as_user(people.viewer), f"/log/export.{ending}").splitlines()
    assert len(told) == (3 if ending == "jsonl" else 4)
    assert exporting.CUT_OFF in told[-1]
    assert "the disk is gone" not in told[-1]
    assert "the disk is gone" in caplog.text


def test_the_command_writes_the_same_rows(bank: Bank, people: People, as_user) -> None:
    make_row(bank, before=Blob.objects.store("text"))
    make_row(factories.make_bank("other"))
    out = StringIO()
    call_command("export", "log", "--bank", bank.bank_id, "--with-text", stdout=out)
    assert out.getvalue() == taken(as_user(people.viewer), "/log/export.jsonl?texts=1")
    assert len(list(log_export.log_rows(LogFilters().listed(None)))) == 2
