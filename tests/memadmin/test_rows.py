"""Many new rows at once are what bulk_create would have stored."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from banks.models import Bank, Blob, RetainItem, Write
from memadmin import rows
from reviews.models import ReviewEntry

pytestmark = pytest.mark.django_db

NOW = timezone.now()
ITEMS: list[dict[str, Any]] = [
    {"size": 1, "named": True, "metadata": {"a": "1"}, "tags": [], "resolve_entities": None},
    {"size": 1, "named": False, "metadata": {"a": "1"}, "tags": ["1"], "resolve_entities": True},
    {"size": 0, "named": True, "metadata": {}, "tags": ["ж", "\\u0031"], "resolve_entities": False},
    {"size": 2, "named": True, "entities": [{"text": "Ann"}], "observation_scopes": "shared", "context": ""},
    {"size": 2, "named": True, "entities": [], "observation_scopes": [["a"], []], "context": None},
    {"size": 2, "named": True, "queued_at": NOW - timedelta(days=1), "seen_at": NOW, "fact_count": 0},
]


def items(bank: Bank) -> list[RetainItem]:
    same = {"bank": bank, "via": "api", "content": Blob.objects.store("Ann came."), "not_before": NOW, "queued_at": NOW}
    return [RetainItem(**{**same, "document_id": f"d{number}", **more}) for number, more in enumerate(ITEMS)]


def stored(pks: list[int]) -> list[dict[str, Any]]:
    found = RetainItem.objects.filter(pk__in=pks).order_by("pk").values()
    return [{name: value for name, value in row.items() if name != "id"} for row in found]


def test_they_are_stored_as_bulk_create_would_and_know_their_keys(bank: Bank) -> None:
    ours, theirs = items(bank), items(bank)
    rows.insert(ours)
    RetainItem.objects.bulk_create(theirs)
    keys = [row.pk for row in ours]
    assert keys == sorted(keys)
    assert stored(keys) == stored([row.pk for row in theirs])
    for row, given in zip(ours, ITEMS, strict=True):
        row.refresh_from_db()
        assert (row.size, row.named) == (given["size"], given["named"])
    ours[0].error = "changed"
    ours[0].save()
    assert RetainItem.objects.count() == 2 * len(ITEMS)


def test_more_than_fit_into_a_statement(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "VALUES", 80)
    ours = items(bank)
    rows.insert(ours)
    assert [RetainItem.objects.get(pk=row.pk).document_id for row in ours] == [f"d{n}" for n in range(len(ITEMS))]
    rows.insert([])
    assert RetainItem.objects.count() == len(ITEMS)


def test_what_is_there_already_stays_as_it_is(bank: Bank) -> None:
    def entry(document_id: str, project: str) -> ReviewEntry:
        return ReviewEntry(
            bank=bank, document_id=document_id, document_hash=Write.hash_of(document_id), project=project
        )

    rows.insert([entry("a", "first")])
    rows.insert([entry("a", "second"), entry("b", "second")], ignore_conflicts=True)
    assert list(ReviewEntry.objects.order_by("pk").values_list("document_id", "project")) == [
        ("a", "first"),
        ("b", "second"),
    ]
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.insert([entry("a", "third")])
