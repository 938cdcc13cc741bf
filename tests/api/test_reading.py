"""What a program reads: itself, its banks, the log, one row."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from banks import log_index
from banks.models import Bank, Role, Write
from tests import factories
from tests.api.asking import Program, issue
from tests.conftest import People

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 16, 12, 0, tzinfo=UTC)


def row(bank: Bank, **values: Any) -> Write:
    document_id = str(values.pop("document_id", "notes/a.md"))
    values = {"kind": "edit", "via": "web", "state": "done", "occurred_at": NOON, **values}
    return Write.objects.create(bank=bank, document_id=document_id, document_hash=Write.hash_of(document_id), **values)


def ids(answer: Any) -> list[int]:
    assert answer.status_code == 200, answer.content
    return [each["id"] for each in answer.json()["rows"]]


def test_me_says_whose_the_token_is_and_what_it_may(bank: Bank, people: People) -> None:
    told = Program(issue(people.reviewer, role=Role.VIEWER, banks=[bank], name="nightly job")).get("/me").json()
    assert (told["person"], told["username"]) == ("Mira Kovač", "mira")
    token = told["token"]
    assert (token["name"], token["role"], token["banks"]) == ("nightly job", "viewer", [bank.bank_id])
    assert set(token) == {"name", "prefix", "role", "banks", "expires"}


def test_banks_are_paged_each_with_the_role_that_counts(bank: Bank, people: People) -> None:
    others = [factories.make_bank(server=bank.server) for _ in range(3)]
    for each in others:
        factories.grant(people.reviewer, each, Role.ADMIN)
    factories.make_bank()
    program, seen, cursor = Program(issue(people.reviewer, role=Role.ADMIN)), [], ""
    for _ in range(2):
        page = program.get("/banks", limit=2, cursor=cursor).json()
        seen += [(each["bank"], each["role"]) for each in page["banks"]]
        cursor = page["next"]
    assert cursor is None
    assert seen == [(bank.bank_id, "reviewer"), *((each.bank_id, "admin") for each in others)]


def test_many_banks_cost_no_more_queries(bank: Bank, people: People, django_assert_max_num_queries: Any) -> None:
    for _ in range(30):
        factories.grant(people.reviewer, factories.make_bank(server=bank.server), Role.VIEWER)
    program = Program(issue(people.reviewer, role=Role.ADMIN))
    with django_assert_max_num_queries(10):
        assert len(program.get("/banks").json()["banks"]) == 31


def test_the_log_is_read_page_by_page_and_no_row_twice(bank: Bank, program: Program) -> None:
    rows = [row(bank, occurred_at=NOON + timedelta(hours=hour // 2)) for hour in range(5)]
    row(factories.make_bank())
    seen, cursor = [], ""
    while cursor is not None:
        answer = program.get("/log", limit=2, cursor=cursor)
        seen += ids(answer)
        cursor = answer.json()["next"]
    assert seen == [each.pk for each in reversed(rows)]


def test_the_log_is_narrowed_by_what_is_asked_for(bank: Bank, people: People, program: Program) -> None:
    old = row(bank, occurred_at=NOON - timedelta(days=9))
    retired = row(bank, kind="retire", document_id="b", fact_ids=["f1"])
    log_index.note([(retired.pk, ["f1"])])
    assert ids(program.get("/log", kind="retire")) == [retired.pk]
    assert ids(program.get("/log", bank=bank.bank_id)) == [retired.pk, old.pk]
    assert ids(program.get("/log", bank=bank.bank_id, document="b")) == [retired.pk]
    assert ids(program.get("/log", bank=bank.bank_id, fact="f1")) == [retired.pk]
    assert ids(program.get("/log", since="2026-03-16T12:00:00Z")) == [retired.pk]
    assert ids(program.get("/log", since="2026-03-16T12:00:01")) == []
    assert ids(program.get("/log", kind="no such kind")) == []


def test_a_long_log_costs_no_more_queries(bank: Bank, program: Program, django_assert_max_num_queries: Any) -> None:
    for number in range(60):
        row(bank, document_id=str(number))
    with django_assert_max_num_queries(8):
        assert len(ids(program.get("/log", limit=50))) == 50


def test_a_bank_that_two_servers_have_needs_the_server(bank: Bank, people: People, program: Program) -> None:
    twin = factories.make_bank(bank.bank_id)
    factories.grant(people.reviewer, twin, Role.VIEWER)
    there = row(twin)
    answer = program.get("/log", bank=bank.bank_id)
    assert answer.status_code == 409
    assert set(answer.json()["servers"]) == {bank.server.name, twin.server.name}
    assert ids(program.get("/log", bank=bank.bank_id, server=twin.server.name)) == [there.pk]
    # A token that sees one of them is asked nothing.
    assert ids(Program(issue(people.reviewer, banks=[twin])).get("/log", bank=bank.bank_id)) == [there.pk]


def test_a_row_tells_what_became_of_each_fact(bank: Bank, people: People, program: Program) -> None:
    write = row(
        bank,
        kind="retire",
        actor_name="Ann",
        fact_ids=["f1", "f2", "f3"],
        params={"reason": "It was removed for good."},
        outcome={"retired": ["f1"], "not_called": ["f2"], "refused": {"f3": "It is no longer in the bank."}},
        state="attention",
        error_text="x" * 5_000,
    )
    told = program.get(f"/writes/{write.pk}").json()
    assert [(each["id"], each["result"], each["why"]) for each in told["facts"]] == [
        ("f1", "changed", ""),
        ("f2", "already", ""),
        ("f3", "refused", "It is no longer in the bank."),
    ]
    assert (told["reason"], told["who"], told["token"], told["state"]) == (
        "It was removed for good.", "Ann", None, "attention"
    )  # fmt: skip
    assert len(told["error"]) == 2_000
    assert Program(issue(people.operator)).get(f"/writes/{write.pk}").status_code == 200


def test_the_log_by_everything_that_its_page_has(bank: Bank, people: People, program: Program) -> None:
    group = uuid4()
    mine = row(bank, actor=people.reviewer, via="api", group=group, state="attention", error_text="the heron flew")
    row(bank, actor=people.owner, occurred_at=NOON - timedelta(days=9))
    log_index.note([(mine.pk, [])])
    log_index.sweep()
    asked = [
        {"state": "attention"},
        {"via": "api"},
        {"who": "me"},
        {"who": "mira"},
        {"group": str(group)},
        {"q": "heron"},
    ]
    for query in asked:
        assert ids(program.get("/log", **query)) == [mine.pk], query
    assert ids(program.get("/log", who="nobody")) == ids(program.get("/log", who="me", via="web")) == []
    assert ids(program.get("/log", until="2026-03-16T12:00:00Z", since="2026-03-01T00:00:00Z")) != [mine.pk]
    wrong = [{"state": "x"}, {"via": "x"}, {"group": "x"}, {"q": "!"}, {"since": "0001-01-01T00:00:00+23:00"}]
    for query in wrong:
        assert program.get("/log", **query).status_code == 422, query
