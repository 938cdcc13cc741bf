"""Queue files and failed sends: good lines land, bad ones are told, and what failed waits in plain sight."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import LazySettings

from banks.models import Bank, Server, Write
from reviews.models import Decision, ReviewEntry
from reviews.services import decide
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.known_failures.world import loaded, work_off
from tests.reviews.pages import text_of
from tests.reviews.queue_files import URL, add, as_bytes, done, import_lines

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def server(bank: Bank, settings: LazySettings, tmp_path: Path) -> Server:
    settings.MEDIA_ROOT = tmp_path
    bank.server.base_url = URL
    bank.server.save()
    return bank.server


def test_row_060_a_torn_line_in_the_middle_costs_that_line_alone(server: Server, people: People, as_user: Any) -> None:
    lines = [add("a"), '{"ev":"add","docId":"torn', "[1,2]", '{"ev":"add","docId":7}', done("a"), add("b")]
    job = import_lines(lines, people.reviewer)
    states = dict(ReviewEntry.objects.values_list("document_id", "state"))
    assert states == {"a": "approved", "b": "pending"}
    assert list(job.items.values_list("number", flat=True)) == [2, 3, 4]
    assert all(job.items.values_list("reason", flat=True))
    client = as_user(people.reviewer)
    assert "3" in text_of(client.get(f"/imports/{job.pk}/?lines=skipped"))
    download = b"".join(client.get(f"/imports/{job.pk}/skipped/").streaming_content)
    assert download == as_bytes(lines[1:4])


def test_row_061_only_a_line_feed_ends_a_line(server: Server, people: People) -> None:
    reason = "a\u2028b\u2029c\u0085d\x1ee"
    raw = "\ufeff" + add("a", reason=reason).replace("\\u001e", "\x1e") + "\r\n" + add("b") + "\r\n"
    job = import_lines(raw.replace("\x1e", "\\u001e").encode(), people.reviewer)
    assert job.result["accepted"] == job.result["lines"] == 2
    assert ReviewEntry.objects.get(document_id="a").reason == reason


@pytest.mark.parametrize("copy", ["the same", "longer", "compacted"])
def test_row_062_no_copy_of_a_file_changes_what_was_there(server: Server, people: People, copy: str) -> None:
    lines = [add("a"), add("a"), done("a"), add("b"), done("c"), add("c")]
    import_lines(lines, people.reviewer)
    entries = list(ReviewEntry.objects.order_by("pk").values_list("pk", "state", "version", "age_from"))
    decisions = list(Decision.objects.values_list("pk", flat=True))
    again = {"the same": lines, "longer": [*lines, add("d")], "compacted": [add("b"), add("c")]}[copy]
    import_lines(again, people.reviewer)
    after = list(ReviewEntry.objects.order_by("pk").values_list("pk", "state", "version", "age_from"))
    assert after[: len(entries)] == entries
    assert len(after) == len(entries) + (copy == "longer")
    assert list(Decision.objects.values_list("pk", flat=True)) == decisions


def test_row_063_a_send_that_failed_is_on_the_first_page_with_age_reason_and_ways_out(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    entry = loaded(bank, "b")
    line.cut_before += ["GET"] * 1000
    decide.delete(user=people.reviewer, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    work_off()
    write = Write.objects.get(kind="delete")
    assert write.state == Write.State.ATTENTION
    with time_machine.travel(write.occurred_at + timedelta(hours=5, seconds=30), tick=False):
        page = text_of(as_user(people.reviewer).get("/"))
    assert "<b>1</b><span>failed write</span>" in page
    assert 'id="rail-attention"' in page
    assert "5 h ago" in page
    assert "refused" in page
    assert f'formaction="/log/{write.pk}/retry/"' in page
    assert f'formaction="/log/{write.pk}/discard/"' in page


def test_row_064_an_old_add_opens_nothing_and_a_new_one_shows_the_earlier_decision(
    server: Server, people: People, as_user: Any
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        import_lines([add("a", ts="2026-08-18T10:00:00Z")], people.reviewer)
        entry = ReviewEntry.objects.get()
        ReviewEntry.objects.update(load_state="loaded", text=None)
        import_lines([add("a", ts="2026-08-18T10:00:00Z"), done("a", ts="2026-08-19T11:00:00Z")], people.reviewer)
        clock.shift(timedelta(hours=1))
        import_lines([add("a", ts="2026-08-19T10:59:00Z")], people.owner, machine="another laptop")
        entry.refresh_from_db()
        assert entry.state == "approved"
        import_lines([add("a", ts="2026-08-19T11:01:00Z")], people.owner, machine="a third laptop")
        entry.refresh_from_db()
        assert entry.state == "pending"
        page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert "Earlier decisions" in page
    assert "claimed by a file" in page
