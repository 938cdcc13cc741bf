"""The address of the log is its filter: what it finds, what it leaves out, and that nothing in it is an error."""

import json
from datetime import UTC, datetime
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest
from django.http import QueryDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banks.log_filters import LogFilters, parse_log
from banks.models import Bank, Role, Write
from tests import factories
from tests.banks.log_rows import make_row, rows_of
from tests.conftest import People
from tests.reviews.pages import NASTY_IDS, text_of


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def log(bank: Bank, people: People) -> dict[str, Write]:
    other = factories.make_bank("second")
    factories.grant(people.reviewer, other, Role.VIEWER)
    group = uuid4()
    return {
        "edit": make_row(bank, occurred_at=at("2026-03-16T23:30"), actor=people.reviewer),
        "delete": make_row(other, "b.md", kind="delete", occurred_at=at("2026-03-16T00:00"), actor=people.owner),
        "retire": make_row(bank, kind="retire", fact_ids=["f1", "f2"], occurred_at=at("2026-03-15T23:59:59")),
        "stuck": make_row(bank, "c.md", state="attention", slot="c", occurred_at=at("2026-03-14T12:00")),
        "moving": make_row(other, "c.md", state="unknown", slot="d", occurred_at=at("2026-03-13T12:00"), group=group),
        "aged": make_row(bank, "d.md", kind="approve", via="expiry", occurred_at=at("2026-03-12T12:00"), group=group),
    }


def test_each_filter_finds_its_rows(log: dict[str, Write], bank: Bank, people: People, as_user) -> None:
    for user in (people.reviewer, people.operator):
        client = as_user(user)
        for query, names in {
            "": "edit delete retire stuck moving aged",
            "?kind=retire": "retire",
            "?kind=retire&via=expiry": "",
            f"?bank={bank.pk}": "edit retire stuck aged",
            f"?bank={bank.pk}&kind=approve": "aged",
            "?via=expiry": "aged",
            "?via=web&state=done": "edit delete retire",
            f"?who={people.owner.pk}": "delete",
            f"?who={people.reviewer.pk}&kind=edit": "edit",
            "?state=attention": "stuck",
            "?state=flight&kind=edit": "moving",
            "?state=unknown": "moving",
            "?state=done&kind=delete": "delete",
            "?document=notes/a.md": "edit retire",
            "?document=c.md&state=attention": "stuck",
            "?document=notes": "",
            "?fact=f2": "retire",
            "?fact=f": "",
            "?fact=f1&kind=edit": "",
            "?since=2026-03-16": "edit delete",
            "?until=2026-03-15&since=2026-03-14": "retire stuck",
            "?until=2026-03-12": "aged",
            "?since=2026-03-16&until=2026-03-12": "",
            f"?group={log['aged'].group}": "moving aged",
            "?q=notes&kind=retire&since=2026-03-15&until=2026-03-15": "retire",
        }.items():
            assert rows_of(client, query) == [log[name].pk for name in names.split()], query
    assert rows_of(as_user(people.reviewer), "?who=me") == [log["edit"].pk]


def test_days_are_those_of_the_site(bank: Bank, people: People, as_user, settings) -> None:
    settings.TIME_ZONE = "Asia/Tokyo"
    late = make_row(bank, occurred_at=at("2026-03-15T15:00"))  # midnight there
    make_row(bank, occurred_at=at("2026-03-15T14:59:59"))
    make_row(bank, occurred_at=at("2026-03-16T15:00"))
    assert rows_of(as_user(people.reviewer), "?since=2026-03-16&until=2026-03-16") == [late.pk]


def test_what_cannot_be_asked_is_said_and_left_out(log: dict[str, Write], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    for query, said in {
        "since=2026-02-30": "“2026-02-30” is no day",
        "until=0001-01-01": "is no day",
        "since=16.03.2026": "is no day",
        "bank=x": "That is no bank.",
        "who=them": "That is no person.",
        "state=nonsense": "There is no such state.",
        "via=pigeon": "Rows do not come that way.",
        "group=1": "There is no such action.",
        "q=-%3E": "at least one letter or digit",
    }.items():
        page = text_of(client.get(f"/log/?{query}"))
        assert said in page, query
        assert "6 of 6 rows" in page, query


def test_empty_values_are_no_part_of_the_address(people: People, as_user, bank: Bank) -> None:
    client = as_user(people.reviewer)
    answer = client.get("/log/?q=&state=&kind=edit&bank=&page=a~1~2026-03-16T00:00:00%2B00:00")
    assert answer.status_code == 302
    assert answer["Location"] == "/log/?kind=edit&page=a~1~2026-03-16T00%3A00%3A00%2B00%3A00"
    assert client.get("/log/?q=")["Location"] == "/log/"


@pytest.mark.parametrize("document_id", NASTY_IDS)
def test_a_row_leads_to_the_rows_of_its_document_and_fact(document_id: str, bank, people, as_user) -> None:
    row = make_row(bank, document_id, kind="retire", fact_ids=[document_id])
    make_row(bank, f"{document_id}x", kind="retire", fact_ids=[f"{document_id}x"])
    client = as_user(people.viewer)
    page = client.get(f"/log/{row.pk}/").content.decode()
    for name in ("document", "fact"):
        query = f"?{name}={quote(document_id, safe='')}"
        assert f'href="/log/{query}"' in page
        assert rows_of(client, query) == [row.pk]


def test_nobody_learns_of_banks_that_they_do_not_see(bank: Bank, people: People, as_user) -> None:
    hidden = factories.make_bank("hidden")
    row = make_row(hidden, "secret.md", actor=people.owner, fact_ids=["f"], kind="retire", group=uuid4())
    queries = [
        *(f"?bank={hidden.pk}", "?document=secret.md", "?fact=f", "?q=secret", f"?who={people.owner.pk}"),
        *("?kind=retire", f"?group={row.group}", "?state=done"),
    ]
    for query in queries:
        page = text_of(as_user(people.reviewer).get(f"/log/{query}"))
        assert "No row matches." in page, query
        assert "0 of 0 rows" in page, query
        assert "Ann Weber" not in page, query
    assert rows_of(as_user(people.operator), queries[0]) == [row.pk]


def test_the_people_who_did_something_can_be_asked_for(log: dict[str, Write], people: People, as_user) -> None:
    page = text_of(as_user(people.viewer).get("/log/"))
    assert "Mira Kovač</option>" in page
    assert "Ann Weber" not in page  # of another bank
    assert "Ann Weber</option>" in text_of(as_user(people.reviewer).get("/log/"))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from([*LogFilters.__dataclass_fields__, "page"]), st.text(max_size=40)))
def test_no_address_is_an_error(asked: dict[str, str]) -> None:
    query = urlencode({name: value.encode("utf-8", "replace") for name, value in asked.items()})
    filters = parse_log(QueryDict(query)).filters
    assert parse_log(QueryDict(filters.query().removeprefix("?"))).filters == filters
    json.dumps(filters.query())


@pytest.mark.parametrize("value", ["\x00", "'", "١", "9" * 30, "-1", "🙂", "a" * 3000])
def test_strange_values_show_a_page(value: str, bank: Bank, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    for name in [*LogFilters.__dataclass_fields__, "page"]:
        assert client.get("/log/", {name: value}).status_code == 200, name
