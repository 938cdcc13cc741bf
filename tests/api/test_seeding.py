"""Seeds and seeding by a program: what there is, what would be made, and making it as rows of the write log."""

from typing import Any

import pytest

from banks import jobs
from banks.models import Bank, Job, Role, Write
from tests import factories
from tests.api.asking import Program, issue
from tests.banks.conftest import LyingTransport
from tests.banks.mental import make_model, make_seed, models_in, work
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def admin(bank: Bank, people: People) -> Program:
    return Program(issue(people.owner, role=Role.ADMIN))


def asked(bank: Bank, **more: Any) -> dict[str, Any]:
    return {"banks": [{"bank": bank.bank_id}], "scope": "per-project-tagged", "project": "/home/ann/Shop", **more}


def ended(program: Program, answer: Any) -> dict[str, Any]:
    assert answer.status_code == 202, answer.content
    key = answer.json()["id"]
    assert program.get(f"/seedings/{key}").json()["state"] == "queued"
    assert jobs.run(key) == "done"
    found: dict[str, Any] = program.get(f"/seedings/{key}").json()
    return found


def test_the_seeds_there_are(bank: Bank, program: Program) -> None:
    make_seed(trigger={"mode": "delta", "recall_max_tokens": 8000})
    told = {row["id"]: row for row in program.get("/seeds").json()["seeds"]}
    assert set(told) == {"user-preferences", "project-conventions", "project-decisions", "glossary"}
    assert (told["glossary"]["built_in"], told["user-preferences"]["built_in"]) == (False, True)
    assert told["glossary"]["trigger"]["recall_max_tokens"] == 8000


def test_a_dry_run_makes_nothing_and_says_what_it_would(bank: Bank, line: LyingTransport, admin: Program) -> None:
    make_model(bank, "project-decisions-shop", tags=["project:desk"])
    told = ended(admin, admin.post("/seedings", asked(bank, dry_run=True)))
    assert told["dry_run"] is True
    rows = {row["seed"]: row for row in told["rows"]}
    assert rows["project-decisions"]["status"] == "other-tags"
    assert rows["project-decisions"]["found_tags"] == ["project:desk"]
    assert (rows["project-conventions"]["status"], rows["project-conventions"]["write"]) == ("create", None)
    assert (rows["project-conventions"]["bank"], rows["project-conventions"]["server"]) == (
        bank.bank_id,
        bank.server.name,
    )
    assert not Write.objects.exists()


def test_what_is_missing_is_made_and_a_repeated_request_is_one(
    bank: Bank, line: LyingTransport, admin: Program
) -> None:
    once = {"Idempotency-Key": "a-1"}
    answer = admin.post("/seedings", asked(bank), **once)
    assert admin.post("/seedings", asked(bank), **once).json() == answer.json()
    assert Job.objects.count() == 1
    told = ended(admin, answer)
    rows = Write.objects.filter(kind="seed")
    assert {row["write"] for row in told["rows"]} == {row.pk for row in rows}
    assert {(row.via, row.token is not None) for row in rows} == {("api", True)}
    work(bank)
    assert set(models_in(bank)) == {"user-preferences", "project-conventions-shop", "project-decisions-shop"}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"banks": []}, 422),
        ({"banks": [{"bank": "nowhere"}]}, 404),
        ({"scope": "everywhere"}, 422),
        ({"project": " "}, 422),
        ({"seeds": ["none"]}, 422),
    ],
)
def test_what_cannot_be_asked_for_is_refused(bank: Bank, admin: Program, change: dict[str, Any], status: int) -> None:
    assert admin.post("/seedings", {**asked(bank), **change}).status_code == status
    assert not Job.objects.exists()


def test_a_reviewers_token_reads_the_seeds_and_makes_nothing(bank: Bank, program: Program) -> None:
    assert program.get("/seeds").status_code == 200
    assert program.post("/seedings", asked(bank)).status_code == 403
    assert not Job.objects.exists()


def test_a_role_that_ends_meanwhile_ends_it(bank: Bank, line: LyingTransport, people: People, admin: Program) -> None:
    answer = admin.post("/seedings", asked(bank))
    bank.memberships.filter(user=people.owner).update(role=Role.VIEWER)
    assert jobs.run(answer.json()["id"]) == "done"
    assert not Write.objects.exists()
    (row,) = admin.get(f"/seedings/{answer.json()['id']}").json()["rows"]
    assert row["status"] == "left"


def test_another_persons_seeding_does_not_exist(bank: Bank, line: LyingTransport, admin: Program) -> None:
    key = admin.post("/seedings", asked(bank)).json()["id"]
    other = factories.make_user("other")
    factories.grant(other, bank, Role.ADMIN)
    stranger = Program(issue(other, role=Role.ADMIN))
    assert stranger.get(f"/seedings/{key}").status_code == 404
    assert admin.get("/seedings/999999999999999999999").status_code == 404
