"""Extraction without storing, with each server; and the scopes that a real one builds."""

import uuid
from typing import Any

import pytest

from banks.hindsight import DryRun, Invalid, RetainItem
from banks.retain import observations
from tests.contract.conftest import Bank, Target, until

TEXT = "Alice works at Acme. Bob likes tea."


def test_facts_are_told_and_nothing_is_stored(bank: Bank) -> None:
    found = bank.client.dry_run(bank.id, DryRun(TEXT, "a talk", "2026-03-16T10:00:00+01:00"))
    assert [fact.text for fact in found.facts] == ["Alice works at Acme.", "Bob likes tea."]
    assert {fact.type for fact in found.facts} == {"world"}
    assert "Alice" in found.facts[0].entities
    assert (found.chunks, found.tokens > 0) == (1, True)
    assert bank.client.list_documents(bank.id).total == 0
    assert bank.client.list_operations(bank.id, exclude_parents=False).total == 0


def test_an_unknown_bank_is_answered_and_not_made(bank: Bank) -> None:
    """So whoever asks looks first whether there is one."""
    other = f"{bank.id}-other"
    assert bank.client.dry_run(other, DryRun(TEXT)).facts
    assert not bank.client.has_bank(other)


def test_a_moment_that_is_none_is_refused(bank: Bank) -> None:
    with pytest.raises(Invalid):
        bank.client.dry_run(bank.id, DryRun(TEXT, timestamp="unset"))


@pytest.mark.parametrize(
    "value",
    ["combined", "shared", "per_tag", "all_combinations", [], [[]], [["a"], ["a", "c"]], [["b*"]], [["x*"]]],
    ids=str,
)
def test_the_scopes_of_the_preview_are_those_that_are_built(real_server: Target, value: Any) -> None:
    """The demo makes no observations by scopes; what the preview says is held to the real server alone."""
    tags = ["a", "b", "c"]
    with real_server.client() as client:
        bank = Bank(client, f"contract-{uuid.uuid4().hex[:12]}")
        client.put_bank(bank.id)
        item = RetainItem(TEXT, "d", tags=tags[:2], observation_scopes=value)
        operation = client.retain(bank.id, [item], operation_id=uuid.uuid4(), document_tags=tags[2:])
        bank.wait(operation.operation_id)
        expected = {tuple(sorted(scope)) for scope in observations.built(value, tags).scopes}
        found = until(lambda: scopes_of(client, bank), lambda scopes: scopes >= expected)
        bank.quiet()
        assert scopes_of(client, bank) == found == expected
        client.delete_bank(bank.id)


def scopes_of(client: Any, bank: Bank) -> set[tuple[str, ...]]:
    page = client.list_facts(bank.id, type="observation", limit=1_000)
    return {tuple(sorted(fact.tags)) for fact in page.items}
