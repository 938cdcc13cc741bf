"""Operations by a program: the list of all banks, one with its parts, and acts on them as rows of the write log."""

from typing import Any

import pytest

from banks import jobs, writes
from banks.api import operations
from banks.models import Bank, Job, Role, Write
from tests import factories
from tests.api.asking import Program, issue
from tests.banks.operations import make_operation
from tests.conftest import People

pytestmark = pytest.mark.django_db


def ids(answer: Any) -> list[int]:
    assert answer.status_code == 200, answer.content
    return [each["id"] for each in answer.json()["operations"]]


@pytest.fixture
def admin(bank: Bank, people: People) -> Program:
    return Program(issue(people.owner, role=Role.ADMIN))


def test_page_by_page_and_only_what_the_token_sees(bank: Bank, program: Program) -> None:
    rows = [make_operation(bank) for _ in range(5)]
    make_operation(factories.make_bank())
    found: list[int] = []
    cursor = ""
    while cursor is not None:
        page = program.get("/operations", limit=2, cursor=cursor)
        found, cursor = found + ids(page), page.json()["next"]
    assert found == [row.pk for row in reversed(rows)]


def test_narrowed_as_the_page_is(bank: Bank, program: Program) -> None:
    failed = make_operation(bank, "failed", error="no model", document_id="notes/b.md")
    odd = make_operation(bank, "sleeping", type="dream")
    for query in ({"show": "failed"}, {"status": "failed"}, {"q": "notes/b"}, {"q": failed.operation_id}):
        assert ids(program.get("/operations", **query)) == [failed.pk]
    for query in ({"status": "sleeping"}, {"type": "dream"}, {"show": "open"}):
        assert ids(program.get("/operations", **query)) == [odd.pk]
    for query in ({"bank": bank.bank_id}, {"server": bank.server.name}):
        assert ids(program.get("/operations", **query)) == [odd.pk, failed.pk]
    for query, status in (
        ({"server": "none"}, 404),
        ({"bank": "none"}, 404),
        ({"show": "x"}, 422),
        ({"cursor": "x"}, 422),
    ):
        assert program.get("/operations", **query).status_code == status


def test_one_with_its_parts_and_what_this_token_may_do(bank: Bank, program: Program, admin: Program) -> None:
    batch = make_operation(bank, type="batch_retain")
    part = make_operation(bank, "failed", parent=batch, error="no model")
    said = program.get(f"/operations/{batch.pk}").json()
    assert (said["parts_count"], said["parts_failed"], said["ended"]) == (1, 1, False)
    assert [(each["id"], each["status"], each["error"], each["may"]) for each in said["parts"]] == [
        (part.pk, "failed", "no model", ["retry"])
    ]
    assert admin.get(f"/operations/{batch.pk}").json()["may"] == ["retry", "cancel"]
    assert program.get("/operations/999999").status_code == program.get(f"/operations/{'9' * 30}").status_code == 404


def test_an_act_is_a_row_and_a_second_one_waits(bank: Bank, people: People, program: Program) -> None:
    row = make_operation(bank, "failed")
    answer = program.post(f"/operations/{row.pk}/retry", {})
    (made,) = answer.json()["writes"]
    write = Write.objects.get(pk=made)
    assert (answer.status_code, write.kind, write.via, write.actor) == (202, "operation-retry", "api", people.reviewer)
    assert (write.token.name, write.params["operation"]) == ("agent", row.operation_id)  # type: ignore[union-attr]
    told = program.get(f"/writes/{made}").json()
    assert (told["state"], told["open"], told["said"]) == ("queued", True, "")
    assert program.get(f"/operations/{row.pk}").json()["act"] == made
    again = program.post(f"/operations/{row.pk}/retry", {})
    assert (again.status_code, "already" in again.json()["detail"]) == (409, True)
    Write.objects.filter(pk=made).update(state="done", outcome={"about": "notes/a.md", "said": "It ran again."})
    told = program.get(f"/writes/{made}").json()
    assert (told["open"], told["said"]) == (False, "notes/a.md: It ran again.")


def test_a_repeated_request_is_one_act(bank: Bank, program: Program) -> None:
    row = make_operation(bank, "failed")
    first, again = (program.post(f"/operations/{row.pk}/retry", {}, **{"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert Write.objects.count() == 1


def test_a_batch_is_cancelled_by_its_parts(bank: Bank, program: Program, admin: Program) -> None:
    batch = make_operation(bank, type="batch_retain")
    parts = [make_operation(bank, status, parent=batch) for status in ("pending", "processing", "completed")]
    assert program.post(f"/operations/{batch.pk}/cancel", {}).status_code == 403
    made = admin.post(f"/operations/{batch.pk}/cancel", {}).json()["writes"]
    assert {Write.objects.get(pk=pk).params["operation"] for pk in made} == {row.operation_id for row in parts[:2]}
    assert {each["group"] for each in admin.get("/log").json()["rows"]} == {str(Write.objects.get(pk=made[0]).group)}
    done = parts[2]
    assert "nothing to cancel" in admin.post(f"/operations/{done.pk}/cancel", {}).json()["detail"]
    answer = admin.post(f"/operations/{done.pk}/forget", {})
    assert (answer.status_code, Write.objects.get(pk=answer.json()["writes"][0]).kind) == (202, "operation-forget")


@pytest.mark.django_db(transaction=True)
def test_many_parts_are_recorded_by_a_worker_that_ends_with_the_token(
    bank: Bank, people: People, admin: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "AT_ONCE", 1)
    batch = make_operation(bank, type="batch_retain")
    for _ in range(3):
        make_operation(bank, parent=batch)
    answer = admin.post(f"/operations/{batch.pk}/cancel", {}).json()
    assert answer["writes"] == []
    assert jobs.run(answer["job"]) == "done"
    told = admin.get(f"/jobs/{answer['job']}").json()
    assert (told["state"], told["counts"]) == (
        "done",
        [{"what": "skipped", "count": 0}, {"what": "recorded", "count": 3}],
    )
    assert {write.via for write in Write.objects.filter(group=told["group"])} == {"api"}
    for write in Write.objects.all():
        writes.cancel(write=write)
    late = admin.post(f"/operations/{batch.pk}/cancel", {}).json()["job"]
    people.owner.tokens.update(revoked=batch.began)
    assert jobs.run(late) == "failed"
    assert "token" in Job.objects.get(pk=late).error


def test_a_page_costs_the_same_however_long(bank: Bank, program: Program, django_assert_max_num_queries: Any) -> None:
    for _ in range(30):
        make_operation(bank, "failed")
    with django_assert_max_num_queries(14):
        assert len(ids(program.get("/operations", limit=30))) == 30
