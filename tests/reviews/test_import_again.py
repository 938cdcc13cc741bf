"""A file that was imported before: its lines are looked up, and only what is new is applied."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from banks.models import Bank, Server
from tests.conftest import People
from tests.reviews.queue_files import URL, add, done, import_lines


@pytest.fixture
def server(bank: Bank) -> Server:
    bank.server.base_url = URL
    bank.server.save()
    return bank.server


def stored_by(queries: CaptureQueriesContext) -> list[str]:
    """The tables of ours that were written to, jobs left aside."""
    found = [
        re.match(r'(?:\d+ times: )?(?:INSERT INTO|UPDATE|DELETE FROM) "?(reviews_\w+)', query["sql"])
        for query in queries
    ]
    return [match[1] for match in found if match]


def test_known_lines_are_not_touched(server: Server, people: People) -> None:
    lines = [add(f"notes/{number}.md") for number in range(30)] + [done(f"notes/{number}.md") for number in range(20)]
    import_lines(lines, people.reviewer)
    with CaptureQueriesContext(connection) as queries:
        job = import_lines(lines, people.reviewer)
    assert stored_by(queries) == []
    assert (job.done, job.total, job.result["known"]) == (50, 50, 50)


def test_new_lines_of_a_known_file_are_applied_alone(server: Server, people: People) -> None:
    lines = [add(f"notes/{number}.md") for number in range(30)]
    import_lines(lines, people.reviewer)
    with CaptureQueriesContext(connection) as queries:
        job = import_lines([*lines, done("notes/25.md"), add("new.md")], people.reviewer)
    assert (job.done, job.result["known"], job.result["accepted"]) == (32, 30, 2)
    assert stored_by(queries).count("reviews_sourceevent") == 1
    assert stored_by(queries).count("reviews_reviewentry") == 2  # one is new, one was decided
