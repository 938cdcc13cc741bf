"""An export with a budget: whole lines, a notice, and no more read from the database than is written."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from banks.models import Bank
from memadmin.bounded import BoundedLines
from tests import factories

pytestmark = pytest.mark.django_db


def export(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("export", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture(autouse=True)
def _entries(bank: Bank) -> None:
    for number in range(5):
        factories.make_entry(bank, f"doc-{number}")


def test_rows_beyond_the_limit_are_left_out_and_that_is_said() -> None:
    out, err = export("reviews", "--max-items", "2")
    assert [json.loads(line)["document_id"] for line in out.splitlines()] == ["doc-0", "doc-1"]
    assert (
        err.strip() == "More items were omitted. Stopped after 2. Raise --max-items or --max-bytes, or name a --bank."
    )


def test_what_fits_exactly_has_no_notice() -> None:
    out, err = export("reviews", "--max-items", "5")
    assert (len(out.splitlines()), err) == (5, "")


def test_bytes_are_counted_in_whole_lines() -> None:
    whole, _ = export("reviews")
    first = len(whole.splitlines(keepends=True)[0].encode())
    out, err = export("reviews", "--max-bytes", str(first + 10))
    assert len(out.encode()) == first
    assert "Stopped after 1." in err


def test_the_header_of_a_table_is_no_row(tmp_path: Path) -> None:
    out, _ = export("reviews", "--format", "csv", "--max-items", "1")
    assert len(out.splitlines()) == 2
    told, _ = export("reviews", "--format", "csv", "--max-items", "1", "--json", "-o", str(tmp_path / "x.csv"))
    assert json.loads(told)["rows"] == 1
    assert "notice" in json.loads(told)


def test_the_source_is_closed_at_the_first_line_that_does_not_fit() -> None:
    read: list[int] = []

    def source() -> Iterator[str]:
        try:
            for number in range(1_000):
                read.append(number)
                yield "x\n"
        finally:
            read.append(-1)

    lines = BoundedLines(source(), max_items=3)
    assert list(lines) == ["x\n"] * 3
    assert read == [0, 1, 2, 3, -1]  # three, the probe, and closed


@pytest.mark.parametrize("cap", ["-1", "1.5", "many"])
def test_a_limit_is_a_whole_number(cap: str) -> None:
    with pytest.raises(CommandError, match="a whole number from 0"):
        export("reviews", f"--max-items={cap}")
