"""Import of a log.jsonl: what becomes of its lines, and that nothing of it is ever sent."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings
from django.core.exceptions import PermissionDenied
from django.http import Http404

from banks import jobs, writes
from banks.models import Bank, Blob, JobItem, Membership, Write
from banks.selectors_imported import imported_of, summary
from reviews.importing import files
from reviews.importing.log_job import start_log_import
from reviews.models import FactDecision
from tests import factories
from tests.banks.conftest import LyingTransport, line
from tests.conftest import People
from tests.reviews.log_files import (
    CUT,
    DATA,
    KILL_A,
    KILL_B,
    entry,
    import_log,
    recall,
    restore,
    retained,
    retire,
    rows,
)

__all__ = ["line"]  # the fixture

NOW = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)
GOLDEN = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("*.json"))]
LOOKS = {"↙": "recall", "↗": "retain", "↓": "retire", "↑": "restore", "!": "error"}


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return tmp_path / "uploads"


def test_each_line_is_a_done_row_that_nobody_sends(
    bank: Bank, people: People, line: LyingTransport, uploads: Path
) -> None:
    job = import_log(
        [recall(), entry("reflect"), retained(), retire(KILL_A), restore(KILL_A), entry("error")], people.reviewer, bank
    )
    assert job.state == "done", job.error
    assert [row.kind for row in rows()] == ["recall", "reflect", "retain", "retire", "restore", "error"]
    for row in rows():
        assert (row.bank, row.state, row.slot, row.via, row.actor, row.actor_name) == (
            bank,
            "done",
            "",
            "import",
            None,
            "",
        )
        assert writes.run(row.pk) != "done"
    assert job.result["kinds"] == {row.kind: 1 for row in rows()}
    assert (job.result["lines"], job.result["accepted"], job.result["known"]) == (6, 6, 0)
    assert job.owner == people.reviewer
    assert line.calls == []
    assert list(uploads.iterdir()) == []


def test_a_recall_keeps_its_prompt_apart_from_everything_else(bank: Bank, people: People) -> None:
    import_log([recall()], people.reviewer, bank)
    (row,) = rows()
    assert row.private is not None
    assert row.private.text == "how do we run it? My password is hunter2."
    assert (row.request and row.request.text, row.after and row.after.text) == (
        "run migrations",
        "- The exporter writes the nightly dump.",
    )
    others = [row.params, row.outcome, row.error_text, row.facts_before and row.facts_before.text]
    assert "hunter2" not in json.dumps(others)
    found = imported_of(row)
    assert found is not None
    assert [hit.text for hit in found.hits.items] == [KILL_A["text"], KILL_B["text"]]
    assert dict(found.numbers) == {"found": 12, "injected": 3, "skipped": 1}


def test_a_retire_row_has_the_shape_of_ours_and_is_no_decision(bank: Bank, people: People) -> None:
    import_log([retire(KILL_A, KILL_B)], people.reviewer, bank)
    (row,) = rows()
    assert row.fact_ids == row.outcome["retired"] == ["fact-a", "fact-b"]
    assert row.params["reasons"] == {"fact-a": KILL_A["quote"], "fact-b": KILL_B["quote"]}
    assert row.facts_before is not None
    assert [(each["id"], each["text"]) for each in json.loads(row.facts_before.text)] == [
        ("fact-a", KILL_A["text"]),
        ("fact-b", KILL_B["text"]),
    ]
    assert not FactDecision.objects.exists()


def test_ids_that_name_nothing_are_shown_and_never_asked_for(bank: Bank, people: People) -> None:
    bad = ["..", "", "a/b", "x\0y", "\ud800", "z" * 300]
    import_log([retire(*({"id": each, "text": "t", "quote": "q"} for each in bad), KILL_A)], people.reviewer, bank)
    (row,) = rows()
    assert row.fact_ids == ["fact-a"]
    found = imported_of(row)
    assert found is not None
    assert [fact.usable for fact in found.facts.items] == [False] * 6 + [True]


@pytest.mark.parametrize(
    ("ts", "at", "why"),
    [
        ("2026-08-19T10:04:00.000Z", datetime(2026, 8, 19, 10, 4, tzinfo=UTC), ""),
        ("2026-08-19T12:04:00+02:00", datetime(2026, 8, 19, 10, 4, tzinfo=UTC), ""),
        ("2026-08-20T12:00:01.000Z", NOW, "a time that has not come yet"),
        ("last Monday", NOW, "no time that can be read"),
        (None, NOW, "no time"),
    ],
)
def test_a_row_stands_at_the_time_of_its_line(
    bank: Bank, people: People, ts: str | None, at: datetime, why: str
) -> None:
    with time_machine.travel(NOW, tick=False):
        job = import_log([entry("error", ts, message="m")], people.reviewer, bank)
    (row,) = rows()
    assert (row.occurred_at, row.params.get("undated", "")) == (at, why)
    assert job.result["undated"] == (1 if why else 0)


def test_bad_lines_are_listed_and_the_others_land(bank: Bank, people: People) -> None:
    job = import_log(
        [recall(), "{ torn", "", "[1]", '{"type":"error","found":NaN}', "{}", retained()], people.reviewer, bank
    )
    assert (job.result["accepted"], job.result["skipped"], job.result["blank"]) == (2, 4, 1)
    assert list(JobItem.objects.filter(job=job).values_list("number", "reason")) == [
        (2, "not JSON: torn, or several entries on one line"),
        (4, "not a JSON object"),
        (5, "not JSON: torn, or several entries on one line"),
        (6, "it has no type"),
    ]


def test_an_unknown_type_is_kept_under_its_name(bank: Bank, people: People) -> None:
    import_log([entry("futuretype", message="hm", prompt="secret")], people.reviewer, bank)
    (row,) = rows()
    assert (row.kind, row.params["type"], summary(row)) == ("error", "futuretype", "futuretype hm")
    assert row.private is not None
    assert "secret" in row.private.text


def test_a_text_that_was_cut_is_marked_and_is_the_text_of_no_document(bank: Bank, people: People) -> None:
    factories.make_entry(bank, "notes/cut.md", text=CUT)
    job = import_log(
        [retained(CUT), retire({"id": "a", "text": CUT, "quote": "q"}), recall(user=CUT)], people.reviewer, bank
    )
    retain, retired, recalled = rows()
    assert (retain.document_id, retain.params["clipped"]) == ("", ["documentText"])
    assert retired.facts_before is not None
    assert json.loads(retired.facts_before.text)[0]["clipped"] is True
    assert recalled.params["clipped"] == ["user"]
    assert (job.result["clipped"], job.result["joined"]) == (3, 0)


def test_a_retain_finds_its_document_by_the_text(bank: Bank, people: People) -> None:
    factories.make_entry(bank, "notes/a.md", text="- Ann pays.")
    factories.make_entry(factories.make_bank(), "elsewhere.md", text="- Ben pays.")
    for name in ("twin-1", "twin-2"):
        factories.make_entry(bank, name, text="- Twins.")
    edited = Blob.objects.store("- As it was before an edit.")
    Write.objects.create(
        kind="edit", bank=bank, via="web", state="done", slot="s", document_id="notes/b.md", before=edited
    )
    texts = ["- Ann pays.", "- Ben pays.", "- Twins.", edited.text, "- Nobody knows.", None]
    job = import_log([retained(text) for text in texts], people.reviewer, bank)
    assert [row.document_id for row in rows()] == ["notes/a.md", "", "", "notes/b.md", "", ""]
    assert rows()[0].document_hash == Write.hash_of("notes/a.md")
    assert job.result["joined"] == 2


def test_who_may_not_review_the_bank_imports_nothing(bank: Bank, people: People, uploads: Path) -> None:
    for person, refusal in ((people.stranger, Http404), (people.viewer, PermissionDenied)):
        with pytest.raises(refusal):
            start_log_import(user=person, bank_id=bank.pk, chunks=[b"{}"])
    with pytest.raises(Http404):
        start_log_import(user=people.operator, bank_id=99_999, chunks=[])
    assert not uploads.exists() or list(uploads.iterdir()) == []


def test_who_lost_the_right_meanwhile_imports_nothing_more(bank: Bank, people: People) -> None:
    job = start_log_import(user=people.reviewer, bank_id=bank.pk, chunks=[recall().encode()])
    Membership.objects.filter(user=people.reviewer).delete()
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert "may not review this bank any more" in job.error
    assert rows() == []


def test_what_is_too_large_leaves_nothing(bank: Bank, people: People, settings: LazySettings, uploads: Path) -> None:
    settings.IMPORT_MAX_BYTES = 10
    with pytest.raises(files.TooLarge):
        start_log_import(user=people.reviewer, bank_id=bank.pk, chunks=[b"x" * 11])
    assert list(uploads.iterdir()) == []


def test_an_empty_file_is_an_import_of_nothing(bank: Bank, people: People) -> None:
    job = import_log(b"", people.reviewer, bank)
    assert (job.state, job.result["lines"], job.result["accepted"]) == ("done", 0, 0)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_rows_say_what_the_tool_says(case: dict, bank: Bank, people: People) -> None:
    """Its first line is a message; a row is a cursor, a glyph, a time, a label and the rest."""
    import_log(case["input"]["lines"], people.reviewer, bank)
    expected = [drawn.replace("›", " ").split() for drawn in case["expected"]["rowsNewestFirst"][1:]]
    assert len(expected) == len(rows())
    for row, (glyph, _, _, _, *said) in zip(reversed(rows()), expected, strict=True):
        assert writes.get(row.kind).glyph == glyph
        label = [LOOKS[glyph]] if row.kind != "reflect" else ["reflect"]
        said = said[1:] if said[:1] in (label, ["error"]) else said
        # An error without a stage is called by its type.
        ours = summary(row).split()
        assert (ours[1:] if row.params["type"] not in LOOKS.values() and row.kind == "error" else ours) == said
