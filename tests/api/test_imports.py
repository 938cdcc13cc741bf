"""Imports by a program: the file is the body, a job reads it with no more rights than the token has."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from banks import jobs
from banks.models import Bank, Job, Role, Write
from reviews.api import imports
from reviews.models import ReviewEntry, SourceEvent
from tests import factories
from tests.api.asking import Program, issue
from tests.conftest import People
from tests.reviews.log_files import KILL_A, recall, retained, retire
from tests.reviews.queue_files import add, as_bytes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def kept(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def lines_for(*banks: Bank) -> bytes:
    return as_bytes(
        [add(f"doc-{number}", bank=bank.bank_id, baseUrl=bank.server.base_url) for number, bank in enumerate(banks)]
    )


def done(program: Program, answer: Any, state: str = "done") -> dict[str, Any]:
    """What the job says once a worker has had it."""
    assert answer.status_code == 202, answer.content
    assert answer.json()["state"] == "queued"
    jobs.run(answer.json()["id"])
    told: dict[str, Any] = program.get(f"/jobs/{answer.json()['id']}").json()
    assert told["state"] == state, told
    return told


def counts(told: dict[str, Any]) -> dict[str, int]:
    return {each["what"]: each["count"] for each in told["counts"] if each["count"]}


def test_a_queue_file_and_what_became_of_each_line(bank: Bank, program: Program, kept: Path) -> None:
    body = lines_for(bank) + b"torn\n" + as_bytes([add("far", bank="nowhere", baseUrl="http://other.test")])
    told = done(program, program.send("/imports/queue", body, machine="Mira's laptop"))
    assert counts(told) == {"lines": 3, "accepted": 1, "parked": 1, "skipped": 1, "pending_in_the_tool": 2}
    assert (told["done"], told["total"], told["title"]) == (3, 3, "Queue file of Mira's laptop")
    assert [(each["line"], each["document_id"]) for each in told["lines"]] == [(2, "")]
    parked = program.get(f"/jobs/{told['id']}", lines="parked").json()["lines"]
    assert [(each["line"], each["document_id"]) for each in parked] == [(3, "far")]
    assert ReviewEntry.objects.get().document_id == "doc-0"
    assert list(kept.iterdir()) == []
    assert counts(done(program, program.send("/imports/queue", body, machine="Mira's laptop")))["known"] == 1


def test_no_line_counts_where_the_token_may_not_review(bank: Bank, people: People) -> None:
    other = factories.make_bank(server=bank.server)
    factories.grant(people.reviewer, other, Role.REVIEWER)
    factories.grant(people.owner, bank.server, Role.ADMIN)
    body = lines_for(bank, other)
    narrow = Program(issue(people.reviewer, banks=[other]))
    assert counts(done(narrow, narrow.send("/imports/queue", body)))["parked"] == 1
    assert [entry.bank for entry in ReviewEntry.objects.all()] == [other]
    # By a token nobody registers a bank, whatever its owner may do.
    new = as_bytes([add("doc", bank="brand-new", baseUrl=bank.server.base_url)])
    admin = Program(issue(people.owner, role=Role.ADMIN))
    assert counts(done(admin, admin.send("/imports/queue", new)))["parked"] == 1
    assert not Bank.objects.filter(bank_id="brand-new").exists()


def test_what_its_localhost_means_and_where_every_line_belongs(bank: Bank, program: Program) -> None:
    body = as_bytes([add("a", bank=bank.bank_id, baseUrl="http://localhost:8888")])
    assert counts(done(program, program.send("/imports/queue", body, machine="m")))["parked"] == 1
    told = done(program, program.send("/imports/queue", body, machine="m", localhost=bank.server.name))
    assert counts(told)["accepted"] == 1
    every = as_bytes([add("b", bank=bank.bank_id, baseUrl="http://elsewhere.test")])
    assert counts(done(program, program.send("/imports/queue", every, server=bank.server.name)))["accepted"] == 1
    assert program.send("/imports/queue", body, server="none").status_code == 404


def test_a_log_goes_to_the_bank_that_is_named(bank: Bank, program: Program) -> None:
    body = as_bytes([retained(), retire(KILL_A), recall()])
    told = done(program, program.send("/imports/log", body, bank=bank.bank_id))
    assert counts(told)["accepted"] == sum(each["count"] for each in told["kinds"])
    answer = program.get("/log", group=told["group"])
    rows = answer.json()["rows"]
    assert {row["via"] for row in rows} == {"import"}
    assert {row["kind"] for row in rows} >= {"retain", "retire", "recall"}
    # What a person typed stays with the bank's admins.
    said = answer.content + b"".join(program.get(f"/writes/{row['id']}").content for row in rows)
    assert b"hunter2" not in said
    assert program.send("/imports/log", body).status_code == 422


def test_a_job_ends_with_its_token(bank: Bank, people: People, program: Program, kept: Path) -> None:
    queued = program.send("/imports/queue", lines_for(bank))
    logged = program.send("/imports/log", b"{}\n", bank=bank.bank_id)
    people.reviewer.tokens.update(expires=timezone.now())
    for answer in (queued, logged):
        assert jobs.run(answer.json()["id"]) == "failed"
        assert "does not work any more" in Job.objects.get(pk=answer.json()["id"]).error
    assert not ReviewEntry.objects.exists()
    assert not SourceEvent.objects.exists()
    assert list(kept.iterdir()) == []


def test_a_role_that_ended_brings_nothing(bank: Bank, people: People, program: Program) -> None:
    queued = program.send("/imports/queue", lines_for(bank))
    logged = program.send("/imports/log", b"{}\n", bank=bank.bank_id)
    people.reviewer.memberships.update(role=Role.VIEWER)
    assert counts(done(program, queued))["parked"] == 1
    done(program, logged, "failed")
    assert not Write.objects.exists()
    people.reviewer.memberships.all().delete()
    assert program.get(f"/jobs/{logged.json()['id']}").status_code == 404


def test_a_file_has_its_own_limit(bank: Bank, program: Program, settings: LazySettings, kept: Path) -> None:
    settings.API_MAX_BYTES, settings.IMPORT_MAX_BYTES = 10, 1_000
    assert program.send("/imports/queue", lines_for(bank)).status_code == 202
    answer = program.send("/imports/queue", b"x" * 1_001)
    assert (answer.status_code, "1000 bytes" in answer.json()["detail"]) == (413, True)
    assert program.post("/facts/retire", "x" * 11).status_code == 413
    broken = program.send("/imports/queue", b"x" * 10, announced=20)
    assert (broken.status_code, "broke off" in broken.json()["detail"]) == (400, True)
    assert len(list(kept.iterdir())) == 1


def test_a_repeated_request_is_one_job(bank: Bank, program: Program, kept: Path) -> None:
    key = {"Idempotency-Key": "k"}
    first, again = (program.send("/imports/queue", lines_for(bank), headers=key) for _ in range(2))
    assert (first.content, again["Idempotency-Replayed"]) == (again.content, "true")
    assert (Job.objects.count(), len(list(kept.iterdir()))) == (1, 1)
    assert program.send("/imports/queue", lines_for(bank, bank), headers=key).status_code == 422
    assert len(list(kept.iterdir())) == 1


def test_files_do_not_pile_up(bank: Bank, program: Program, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MOST_WAITING", 1)
    first = program.send("/imports/queue", lines_for(bank))
    answer = program.send("/imports/log", b"{}\n", bank=bank.bank_id)
    assert (answer.status_code, answer["Retry-After"], len(list(kept.iterdir()))) == (429, "30", 1)
    done(program, first)
    assert program.send("/imports/log", b"{}\n", bank=bank.bank_id).status_code == 202


def test_only_the_token_that_started_it_sees_a_job(bank: Bank, people: People, program: Program) -> None:
    pk = program.send("/imports/queue", lines_for(bank)).json()["id"]
    for other in (issue(people.reviewer), issue(people.operator, role=Role.ADMIN)):
        assert Program(other).get(f"/jobs/{pk}").status_code == 404
    assert program.get(f"/jobs/{pk}", after=-1).status_code == program.get(f"/jobs/{pk}", lines="x").status_code == 422
