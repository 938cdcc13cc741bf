"""The words and facts of the write log: what is found, what never is, and that no row is forgotten."""

import json
from importlib import import_module
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from banks import log_index, tasks, writes
from banks.models import Bank, Blob, Unindexed, Write, WriteFact
from banks.writes import claim
from memadmin import fulltext
from tests.banks.log_rows import make_row, rows_of
from tests.banks.retaining import flush_now, put, sent
from tests.conftest import People
from tests.reviews.pages import text_of


def found(query: str) -> set[int]:
    return set(Write.objects.filter(log_index.matching(query)).values_list("pk", flat=True))


def blob(text: str) -> Blob:
    return Blob.objects.store(text)


def test_a_row_is_found_by_every_text_it_has(bank: Bank) -> None:
    facts = [{"id": "f1", "text": "Flags live in Consul."}, {"id": "f2", "text": "Ports are fixed."}]
    row = make_row(
        bank,
        "sessions/2026-03-02.md",
        kind="retire",
        actor_name="Ann Weber",
        request=blob("The proxy listens on 8443."),
        before=blob("The proxy listened on 8080."),
        after=blob("Настройки хранятся в файле"),
        facts_before=blob(json.dumps(facts)),
        fact_ids=["f1"],
        params={"reason": "The registry moved", "reasons": {"f1": "said in standup"}, "seen": {"f1": "topsecrethash"}},
        error_text="no space left on device",
    )
    make_row(bank, "other.md")
    for query in (
        "2026-03-02",
        "weber",
        "8443",
        "8080",
        "настройки",
        "consul",
        '"registry moved"',
        "standup",
        "no space",
    ):
        assert found(query) == {row.pk}, query
    for query in ("ports", "topsecrethash", '"device flags"', "8443 nowhere", ""):
        assert found(query) == set(), query


def test_what_is_private_or_erased_is_not_found(bank: Bank) -> None:
    make_row(bank, private=blob("my password is hunter2"), outcome={"said": "whispered"}, kind="recall")
    erased = blob("forgotten words")
    Blob.objects.filter(pk=erased.pk).update(data=b"", erased=timezone.now())
    make_row(bank, before=erased)
    for query in ("hunter2", "whispered", "forgotten"):
        assert found(query) == set()


def test_a_decision_is_found_after_the_next_sweep(bank: Bank, people: People, as_user) -> None:
    with transaction.atomic():
        row = writes.record(
            kind="retire",
            bank=bank,
            via=Write.Via.WEB,
            actor=people.reviewer,
            document_id="a.md",
            fact_ids=["f1", "f1"],
        )
    client = as_user(people.viewer)
    assert rows_of(client, "?fact=f1") == [row.pk]
    page = text_of(client.get("/log/?q=mira"))
    assert "Not in the search yet: 1." in page
    assert tasks.index_log() == 1
    page = text_of(client.get("/log/?q=mira"))
    assert "Not in the search yet" not in page
    assert rows_of(client, "?q=mira") == [row.pk]
    assert tasks.index_log() == 0


@transaction.atomic
def _recorded_and_regretted(bank: Bank) -> None:
    writes.record(kind="retire", bank=bank, via=Write.Via.WEB, document_id="a.md", fact_ids=["f1"])
    raise RuntimeError("another thought")


def test_nothing_is_noted_for_a_row_that_was_not_stored(bank: Bank) -> None:
    with pytest.raises(RuntimeError, match="another thought"):
        _recorded_and_regretted(bank)
    assert not Unindexed.objects.exists()
    assert not WriteFact.objects.exists()


def test_an_error_that_comes_later_is_found(bank: Bank) -> None:
    row = make_row(bank, state="sending", slot="s", error_text="time-out")
    assert claim.store(row, state="attention", error_text="quota exceeded")
    log_index.sweep()
    assert found("quota") == {row.pk}
    assert found("time-out") == set()


def test_what_is_stored_again_meanwhile_is_indexed_again(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    row, words = make_row(bank, indexed=False), log_index.fulltext.parted

    def changed_meanwhile(texts):  # by another process, after the row was read
        said = words(texts)
        if not row.error_text:
            row.error_text = "late news"
            row.save()
            log_index.again(row.pk)
        return said

    monkeypatch.setattr(log_index.fulltext, "parted", changed_meanwhile)
    log_index.sweep()
    assert found("late news") == {row.pk}


def test_existing_rows_are_noted_down_by_the_migration(bank: Bank) -> None:
    row = make_row(bank, "old.md", kind="retire", fact_ids=["f1"])
    WriteFact.objects.all().delete()
    log_index.INDEX.forget(row.pk)
    migration = import_module("banks.migrations.0007_log_search").Migration("0007_log_search", "banks")
    with connection.cursor() as cursor:
        cursor.execute(migration.operations[-1].sql)
    assert log_index.sweep() == 1
    assert found("old") == {row.pk}
    assert set(Write.objects.filter(log_index.naming("f1"))) == {row}


def test_a_sweep_ends_and_the_next_one_goes_on_with_the_older_rows(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_index, "LOT", 2)
    rows = [make_row(bank, f"doc-{number}", indexed=False) for number in range(5)]
    assert log_index.sweep(seconds=0) == 2
    assert found("doc") == {rows[4].pk, rows[3].pk}
    assert log_index.sweep() == 3
    assert found("doc") == {row.pk for row in rows}


def test_few_and_many_are_found_alike(bank: Bank, people: People, as_user, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [make_row(bank, f"flags {number}", kind="retire", fact_ids=["f"]) for number in range(4)]
    make_row(bank, "ports")
    client, expected = as_user(people.reviewer), [row.pk for row in reversed(rows)]
    for few in (fulltext.FEW, 2):
        monkeypatch.setattr(fulltext, "FEW", few)
        assert rows_of(client, "?q=flags") == expected
        assert rows_of(client, "?fact=f") == expected
        assert rows_of(client, "?q=fla&fact=f&kind=retire") == expected


def test_the_index_of_the_database_is_used(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "FEW", -1)  # as if very many were found
    row = make_row(bank, "flags and ports")
    if connection.vendor == "postgresql":  # which otherwise reads so small a table from its beginning
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
    rows = Write.objects.filter(log_index.matching("flags po"))
    assert list(rows) == [row]
    plan = rows.explain()
    assert "banks_log_search_words" in plan or "SCAN banks_log_search VIRTUAL TABLE INDEX" in plan


def test_the_memories_of_a_batch_are_read_together(
    bank: Bank, people: People, django_assert_max_num_queries: Any
) -> None:
    put(people.reviewer, bank, *(f"Ann keeps ledger {number}." for number in range(20)))
    flush_now(bank)
    with django_assert_max_num_queries(16):  # however many they are
        assert log_index.sweep() == 1
    assert found("ledger 19") == {row.pk for row in sent(bank)}


def test_large_batches_are_indexed_one_after_the_other(
    bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_index, "MEMORIES", 3)
    for batch in (["one", "two"], ["three", "four"], ["five", "six", "seven", "eight"]):
        put(people.reviewer, bank, *batch)
        flush_now(bank)
        Write.objects.filter(kind="retain").update(slot="")  # it has gone out
    assert [log_index.sweep(seconds=0) for _ in range(4)] == [1, 1, 1, 0]
    assert [found(word) for word in ("two", "four", "eight")] == [{row.pk} for row in sent(bank)]
