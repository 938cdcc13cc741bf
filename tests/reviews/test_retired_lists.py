"""The lists of the archive: what is in each, how it is found, and that none of them reads more than it shows."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from banks.models import Bank, Blob, Role, Write
from reviews.models import FactDecision, Reapplication
from reviews.selectors import retired as lists
from reviews.selectors.retired_filters import RetiredFilters
from tests import factories
from tests.conftest import People
from tests.plans import Plans
from tests.reviews.pages import XSS, text_of
from tests.reviews.retired import retired

HERE = "/facts/retired/"


def listed(client: Client, query: str = "") -> list[int]:
    return [
        int(n) for n in re.findall(r'class="row-text"[^>]*>Fact number (\d+)\.<', text_of(client.get(HERE + query)))
    ]


def file(client: Client, query: str) -> str:
    answer = client.get(f"{HERE}export/{query}")
    assert answer.streaming
    assert "attachment" in answer["Content-Disposition"]
    return b"".join(answer.streaming_content).decode()  # type: ignore[arg-type]


def asked(bank: Bank, number: int, **values: Any) -> Reapplication:
    decision = retired(bank, number, **values)
    return Reapplication.objects.create(
        decision=decision, fact_id=f"new{number}", replaces=decision.fact_id, exact=False, state="asked",
        text=Blob.objects.store(f"Fact number {number}!"), why="It says nearly the same.",
    )  # fmt: skip


@pytest.fixture
def shelves(bank: Bank) -> None:
    now = timezone.now()
    retired(bank, 1, at=now - timedelta(hours=1))
    retired(bank, 2, at=now - timedelta(hours=2), again=1)
    retired(bank, 3, verdict="restored", restored_at=now)
    retired(bank, 4, gone_since=now)
    retired(bank, 5, verdict="edited")
    retired(bank, 6, verdict="edited", restored_at=now, current=Blob.objects.store("Fact number 6."))


def test_each_is_where_it_belongs(shelves: None, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    assert listed(client) == [1, 2]
    assert listed(client, "?order=oldest") == [2, 1]
    assert listed(client, "?tab=again") == [2]
    assert sorted(listed(client, "?tab=restored")) == [3, 6]
    assert listed(client, "?tab=gone") == [4]
    page = text_of(client.get(HERE))
    for name, count in [("Retired", 2), ("Restored", 2), ("Retired again", 1), ("Gone", 1), ("Questions", 0)]:
        assert re.search(rf'>{name} <span class="count">{count}<', page)
    page = text_of(client.get(f"{HERE}?tab=restored"))
    assert 'name="pick"' not in page  # what is not retired is not restored
    assert "Let it go" in text_of(client.get(f"{HERE}?tab=gone"))
    for tab in ("restored", "gone", "again"):
        assert "Nothing matches." in text_of(client.get(f"{HERE}?tab={tab}&q=nowhere"))


def test_words_are_found_in_facts_reasons_and_ids(bank: Bank, people: People, as_user) -> None:
    retired(bank, 1, reason="Der Cache läuft ab")
    retired(bank, 2, text="Fact number 2.", document_id="журнал/2026.md")
    client = as_user(people.reviewer)
    assert listed(client, "?q=lauft+cache") == listed(client, "?reason=CACHE") == [1]
    assert listed(client, "?reason=number") == []  # the reason alone
    assert listed(client, "?q=журнал") == [2]
    assert listed(client, "?q=act+umber") == []  # words, not parts of them
    assert listed(client, "?q=->") == []


def test_a_fact_is_found_by_the_text_it_was_given_and_the_one_it_had(bank: Bank, people: People, as_user) -> None:
    retired(bank, 1, text="Ann keeps it.", current=Blob.objects.store("Fact number 1."), preview="Fact number 1.")
    client = as_user(people.reviewer)
    assert listed(client, "?q=number+1") == listed(client, "?q=ann+keeps") == [1]


def test_questions_are_answered_here_whether_or_not_there_is_a_card(bank: Bank, people: People, as_user) -> None:
    first, second = asked(bank, 1), asked(bank, 2)
    factories.make_entry(bank, "doc-2")
    asked(factories.make_bank(), 3)  # of nobody here
    client = as_user(people.reviewer)
    page = text_of(client.get(f"{HERE}?tab=questions"))
    assert "Fact number 1!" in page
    assert "Fact number 3" not in page
    assert "Apply again" not in text_of(as_user(people.viewer).get(f"{HERE}?tab=questions"))
    answer = client.post(f"/facts/questions/{first.pk}/let-go/?bank={bank.pk}", {"archive": "1"})
    assert (answer.status_code, answer["Location"]) == (303, f"{HERE}?tab=questions&bank={bank.pk}")
    client.post(f"/facts/questions/{second.pk}/apply/", {"archive": "1"})
    assert FactDecision.objects.get(fact_id="f1").shelf == "restored"
    assert Write.objects.get(kind="retire").fact_ids == ["new2"]
    assert "Nothing is asked." in text_of(client.get(f"{HERE}?tab=questions"))
    answer = client.post(f"/facts/questions/{first.pk}/apply/", follow=True)  # without a card, and too late
    assert "Somebody has answered already." in text_of(answer)


def test_a_decision_whose_fact_is_gone_is_let_go(bank: Bank, people: People, as_user) -> None:
    gone, there = retired(bank, 1, gone_since=timezone.now()), retired(bank, 2)
    client = as_user(people.reviewer)
    client.post(f"{HERE}{gone.pk}/let-go/?tab=gone")
    gone.refresh_from_db()
    assert (gone.verdict, gone.shelf, gone.user) == ("restored", "gone", people.reviewer)
    assert Write.objects.get(kind="let-go").fact_ids == ["f1"]
    answer = client.post(f"{HERE}{there.pk}/let-go/", follow=True)
    assert "there it can be restored" in text_of(answer)
    assert as_user(people.viewer).post(f"{HERE}{gone.pk}/let-go/").status_code == 403
    assert as_user(people.stranger).post(f"{HERE}{gone.pk}/let-go/").status_code == 404
    FactDecision.objects.filter(pk=gone.pk).update(verdict="retired")
    assert "Its fact is not in the bank any more" in text_of(client.post(f"{HERE}{gone.pk}/restore/", follow=True))


def test_an_export_is_streamed_and_no_spreadsheet_runs_it(bank: Bank, people: People, as_user) -> None:
    retired(bank, 1, reason="=1+1", document_id="@x")
    retired(bank, 2, text=XSS, again=2)
    retired(bank, 3, verdict="restored", restored_at=timezone.now())
    retired(factories.make_bank(), 4)
    client = as_user(people.viewer)
    rows = list(csv.DictReader(io.StringIO(file(client, "?as=csv"), newline="")))
    assert [(row["fact_id"], row["reason"], row["document_id"]) for row in rows] == [
        ("f1", "'=1+1", "'@x"), ("f2", "reason 2", "doc-2"),
    ]  # fmt: skip
    (line,) = [json.loads(line) for line in file(client, "?q=number").splitlines()]
    assert (line["text"], line["reason"], line["list"]) == ("Fact number 1.", "=1+1", "retired")
    assert [json.loads(line)["list"] for line in file(client, "?tab=restored").splitlines()] == ["restored"]
    assert file(as_user(people.stranger), "") == ""


@pytest.fixture
def archive(bank: Bank, people: People) -> Bank:
    """Three banks, one of them not theirs, with a hundred thousand facts, most of which nobody here has retired."""
    other, hidden = factories.make_bank(), factories.make_bank()
    factories.grant(people.reviewer, other, Role.REVIEWER)
    text, now = Blob.objects.store("A fact."), timezone.now()
    shelves: list[dict[str, Any]] = [{}, {}, {"again": 1}, {"gone_since": now}, {"verdict": "restored"}]
    FactDecision.objects.bulk_create(
        FactDecision(
            **{
                "bank": [bank, other, hidden][n % 3], "document_id": f"d{n}", "document_hash": f"{n:064}",
                "fact_id": f"f{n}", "extracted": text, "preview": f"Fact {n}", "verdict": "retired",
                "at": now - timedelta(seconds=n), "user": None if n else people.owner, "restored_at": now,
                **shelves[n % 5],
            }
        )
        for n in range(1_000)
    )  # fmt: skip
    copy_each(99)
    return bank


def copy_each(times: int) -> None:
    """Each decision so often, of other facts and longer ago; the database does it, in the time that one of us takes for
    a few of them."""
    at = {"sqlite": "strftime('%%Y-%%m-%%d %%H:%%M:%%f', at, (n * -1000) || ' seconds')"}
    told = {
        "at": at.get(connection.vendor, "at - n * interval '1000 seconds'"),
        "fact_id": "fact_id || '-' || n",
        "document_id": "document_id || '-' || n",
        "document_hash": "n || 'x' || substr(document_hash, 10)",
    }
    fields = [field for field in FactDecision._meta.concrete_fields if not (field.primary_key or field.generated)]
    names = [connection.ops.quote_name(field.column) for field in fields]
    values = [told.get(field.column, name) for field, name in zip(fields, names, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE step(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step WHERE n < %s) "
            f"INSERT INTO reviews_factdecision ({', '.join(names)}) "
            f"SELECT {', '.join(values)} FROM reviews_factdecision, step",
            [times],
        )
        cursor.execute("ANALYZE")


def test_a_hundred_thousand_are_listed_by_ranges_of_indexes(archive: Bank, people: People, as_user) -> None:
    assert FactDecision.objects.count() == 100_000
    page = lists.retired_page(people.reviewer, RetiredFilters(), None)
    assert len(page.rows) == lists.PAGE_SIZE
    queries = ["", f"?page={page.later}", "?order=oldest", "?tab=again", "?tab=gone", "?tab=restored", "?tab=questions"]
    queries += [f"?bank={archive.pk}", f"?who={people.owner.pk}", "?since=2020-01-01&until=2099-01-01"]
    for who in ("reviewer", "operator"):
        client = as_user(getattr(people, who))
        for query in queries:
            plans = Plans([FactDecision])
            with connection.execute_wrapper(plans):
                assert client.get(HERE + query).status_code == 200
            assert plans.found
            for sql, plan in plans.found:
                assert not re.search(r"SCAN reviews_factdecision\b|Seq Scan on reviews_factdecision", plan), (sql, plan)
                if f"LIMIT {lists.PAGE_SIZE + 1}" in sql and "reapplication" not in sql:
                    assert not re.search(r"TEMP B-TREE|Sort", plan), (sql, plan)


def test_the_number_of_questions_to_the_database_stays(
    archive: Bank, people: People, as_user, django_assert_max_num_queries
) -> None:
    client = as_user(people.reviewer)
    for query in ("", "?tab=gone", "?order=oldest", "?q=fact"):
        with django_assert_max_num_queries(40):
            client.get(HERE + query)
