"""The feed of decisions: each one once, in the order in which they took effect, and none is missed."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from banks.models import Bank, Write
from reviews.models import Decision, ReviewEntry
from reviews.selectors import feed as selectors
from reviews.services import decide, expiry, feed
from tests import factories
from tests.api.asking import Program, issue
from tests.conftest import People
from tests.reviews.pages import shown

pytestmark = pytest.mark.django_db


def decision(entry: ReviewEntry, verdict: str = "approved", **values: Any) -> Decision:
    return Decision.objects.create(
        **{"entry": entry, "verdict": verdict, "decided_via": "person", "version": 1, **values}
    )


def read(program: Program, cursor: str = "", **query: Any) -> tuple[list[dict[str, Any]], str]:
    """All there is behind the cursor, page by page."""
    found: list[dict[str, Any]] = []
    while True:
        answer = program.get("/decisions", cursor=cursor, **query)
        assert answer.status_code == 200, answer.content
        found, cursor = found + answer.json()["decisions"], answer.json()["next"]
        if not answer.json()["more"]:
            return found, cursor


def test_every_decision_once_with_where_and_by_whom(bank: Bank, people: People, program: Program) -> None:
    approved, old = factories.make_entry(bank, "notes/a.md"), factories.make_entry(bank, "notes/b.md")
    decide.approve(user=people.owner, entry_id=approved.pk, **shown(approved))  # type: ignore[arg-type]
    ReviewEntry.objects.filter(pk=old.pk).update(expires_at=timezone.now())
    expiry.run(now=timezone.now() + timedelta(seconds=1))
    claimed = decision(factories.make_entry(bank), "deleted", decided_via="file")
    assert read(program)[0] == []
    assert feed.number() == 3
    rows, cursor = read(program, limit=2)
    first, second, third = rows
    assert (first["bank"], first["server"], first["document_id"]) == (bank.bank_id, bank.server.name, "notes/a.md")
    assert (first["verdict"], first["by"], first["who"], first["undone"]) == ("approved", None, "Ann Weber", False)
    assert (second["verdict"], second["by"], second["via"]) == ("approved", "expiry", "expiry")
    assert (third["id"], third["by"], third["via"]) == (claimed.pk, None, "file")
    assert read(program, cursor) == ([], cursor)
    assert feed.number() == 0


def test_a_row_that_appears_late_with_a_lower_id_is_not_missed(bank: Bank, program: Program) -> None:
    entry = factories.make_entry(bank)
    decision(entry, pk=1_000)
    feed.number()
    seen, cursor = read(program)
    decision(entry, "edited", pk=999)
    feed.number()
    late, _ = read(program, cursor)
    assert ([each["id"] for each in seen], [each["id"] for each in late]) == ([1_000], [999])


def test_a_delete_is_told_when_the_bank_has_done_it(bank: Bank, people: People, program: Program) -> None:
    entry = factories.make_entry(bank)
    write = decide.delete(user=people.owner, entry_id=entry.pk, **shown(entry))  # type: ignore[arg-type]
    for state in ("sending", "unknown", "attention"):
        Write.objects.filter(pk=write.pk).update(state=state)
        assert feed.number() == 0
    # It needed a person: the memory waited again, and then the delete was sent once more.
    decision(entry, "reopened", decided_via="housekeeping")
    feed.number()
    Write.objects.filter(pk=write.pk).update(state="done")
    feed.number()
    rows, _ = read(program)
    assert [(each["verdict"], each["undone"], each["by"]) for each in rows] == [
        ("reopened", False, "auto"),
        ("deleted", False, None),
    ]


def test_what_was_taken_back_says_so(bank: Bank, people: People, program: Program) -> None:
    approved, deleted = factories.make_entry(bank), factories.make_entry(bank)
    decide.approve(user=people.owner, entry_id=approved.pk, **shown(approved))  # type: ignore[arg-type]
    feed.number()
    decide.undo(user=people.owner, entry_id=approved.pk)
    assert [each["undone"] for each in read(program)[0]] == [True]
    decide.delete(user=people.owner, entry_id=deleted.pk, **shown(deleted))  # type: ignore[arg-type]
    decide.undo(user=people.owner, entry_id=deleted.pk)
    feed.number()
    told = [(each["verdict"], each["undone"]) for each in read(program)[0]]
    assert told == [("approved", True), ("reopened", False), ("deleted", True), ("reopened", False)]


def test_only_the_banks_that_the_token_sees(
    bank: Bank, people: People, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "LOOKED_THROUGH", 3)
    away = factories.make_entry(factories.make_bank())
    for _ in range(8):
        decision(away)
    mine = decision(factories.make_entry(bank))
    feed.number()
    page = program.get("/decisions").json()
    assert (page["decisions"], page["next"], page["more"]) == ([], "3", True)
    assert [each["id"] for each in read(program)[0]] == [mine.pk]
    assert [each["id"] for each in read(program, bank=bank.bank_id)[0]] == [mine.pk]
    assert len(read(Program(issue(people.operator)))[0]) == 9
    for wrong in ({"cursor": "x"}, {"cursor": "-1"}, {"cursor": "9" * 19}, {"server": "s"}, {"limit": 0}):
        assert program.get("/decisions", **wrong).status_code == 422


def test_a_page_costs_the_same_however_long(bank: Bank, program: Program, django_assert_max_num_queries: Any) -> None:
    for _ in range(30):
        decision(factories.make_entry(bank))
    feed.number()
    with django_assert_max_num_queries(10):
        assert len(program.get("/decisions", limit=30).json()["decisions"]) == 30
