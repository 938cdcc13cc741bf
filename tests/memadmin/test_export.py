import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from banks.log_export import LOG_FIELDS
from banks.models import Bank, Write
from memadmin.exporting import cell
from tests import factories
from tests.reviews.retired import retired

NASTY = "=cmd|' /C calc'!A0"
TEXT = "one\ntwo\x1b[31m\u202egnp.exe\u2028 ü 記憶"


def export(*arguments: str) -> str:
    out = StringIO()
    call_command("export", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def write(bank: Bank) -> Write:
    return Write.objects.create(
        kind="approve",
        bank=bank,
        via=Write.Via.WEB,
        actor_name="mira",
        document_id=NASTY,
        state=Write.State.DONE,
        error_text="a\nb",
        fact_ids=["f1"],
    )


def test_reviews_come_as_json_lines_that_say_exactly_what_is_stored(bank: Bank) -> None:
    factories.make_entry(bank, "../x\u202e", text=TEXT, project="+1", tags=["a,b"])
    factories.make_entry(factories.make_bank("other"))

    lines = export("reviews", "--bank", bank.bank_id, "--with-text").splitlines()

    assert len(lines) == 1
    assert "\x1b" not in lines[0]
    assert "\u202e" not in lines[0]
    row = json.loads(lines[0])
    assert (row["document_id"], row["text"], row["project"], row["tags"]) == ("../x\u202e", TEXT, "+1", ["a,b"])
    assert row["bank"] == "checkout-service"


def test_texts_stay_at_home_unless_asked_for(bank: Bank) -> None:
    factories.make_entry(bank, text="a secret")

    assert "a secret" not in export("reviews")


def test_the_log_comes_as_a_table_that_no_spreadsheet_runs(write: Write) -> None:
    rows = list(csv.DictReader(StringIO(export("log", "--format", "csv"), newline="")))

    assert list(rows[0]) == LOG_FIELDS
    assert rows[0]["document_id"] == f"'{NASTY}"
    assert rows[0]["error_text"] == "a\\nb"
    assert rows[0]["fact_ids"] == '["f1"]'
    assert rows[0]["actor"] == "mira"
    assert rows[0]["sent"] == ""


@pytest.mark.parametrize("first", [*"=+-@", "\t", "\r"])
def test_a_cell_that_begins_like_a_formula_is_quoted(first: str) -> None:
    assert cell(f"{first}1+1").startswith("'")


def test_numbers_are_numbers() -> None:
    assert [cell(value) for value in (-3, 0, True, None)] == ["-3", "0", "true", ""]


def test_a_file_is_written_and_counted(write: Write, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"

    told = json.loads(export("log", "--format", "csv", "-o", str(file), "--json"))

    assert told == {"rows": 1, "bytes": file.stat().st_size, "file": str(file)}
    assert file.read_text().count("\n") == 2


def test_an_export_takes_the_same_number_of_queries_however_long(bank: Bank, django_assert_num_queries) -> None:
    for _ in range(5):
        factories.make_entry(bank)

    with django_assert_num_queries(1):
        export("reviews", "--with-text")


def test_decisions_about_facts_come_with_their_texts_on_demand(bank: Bank) -> None:
    retired(bank, 1, reason=NASTY)
    retired(factories.make_bank("other"), 2)
    (row,) = [json.loads(line) for line in export("facts", "--bank", bank.bank_id, "--with-text").splitlines()]
    assert (row["text"], row["list"], row["reason"]) == ("Fact number 1.", "retired", NASTY)
    (row,) = csv.DictReader(StringIO(export("facts", "--bank", bank.bank_id, "--format", "csv"), newline=""))
    assert (row["text"], row["reason"]) == ("", f"'{NASTY}")
