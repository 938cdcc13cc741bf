"""Retirements that were made past us, in documents that nobody here has loaded."""

import pytest

from banks import connections, fact_kinds, jobs
from banks.hindsight import Fact
from banks.models import Bank, Job, Write
from reviews.curation import elsewhere
from reviews.models import FactDecision, ReviewEntry
from tests import factories
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.reviews.pages import text_of

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_kinds, "AWAY_PAUSE", 0.0)


def facts(bank: Bank, document: str = "notes/a.md", state: str = "valid") -> list[Fact]:
    with connections.client_for(bank.server) as client:
        return client.list_facts(bank.bank_id, document_id=document, state=state).items


def patch(bank: Bank, fact: Fact, **values: str) -> None:
    with connections.client_for(bank.server) as client:
        client.patch_fact(bank.bank_id, fact.id, **values)  # type: ignore[arg-type]


def look(bank: Bank) -> dict[str, object]:
    job = elsewhere.start(bank)
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    return dict(job.result)


def test_they_are_in_the_archive_then(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    patch(bank, facts(bank)[0], state="invalidated", reason="moved away")
    assert look(bank) == {"retired": 1, "documents": 1, "new": 1, "whole": True}
    decision = FactDecision.objects.get()
    assert (decision.verdict, decision.origin, decision.reason) == ("retired", "observed", "moved away")
    page = text_of(as_user(people.viewer).get("/facts/retired/"))
    assert "retired elsewhere" in page
    assert "“moved away”" in page
    line.calls.clear()
    assert look(bank)["documents"] == 0
    assert line.sent("GET") == 1  # the list alone
    assert Job.objects.count() == 1  # one row for each bank
    bank.refresh_from_db()
    assert bank.retired_count == 1


def test_what_was_restored_elsewhere_leaves_the_archive(bank: Bank, line: LyingTransport) -> None:
    patch(bank, facts(bank)[0], state="invalidated", reason="x")
    look(bank)
    patch(bank, facts(bank, state="invalidated")[0], state="valid")
    look(bank)
    assert FactDecision.objects.get().verdict == "restored"


def test_what_a_new_extraction_forgot_is_applied_again(bank: Bank, line: LyingTransport) -> None:
    patch(bank, next(fact for fact in facts(bank) if fact.text.startswith("Ben")), state="invalidated", reason="left")
    look(bank)
    store(bank, "notes/a.md", "Ann keeps the ledger. Ben reads it. It rained.")
    look(bank)
    row = Write.objects.get()
    assert (row.kind, row.via) == ("retire", "reapply")
    look(bank)
    assert Write.objects.count() == 1


def test_a_memory_under_review_is_loaded_again_instead(bank: Bank, line: LyingTransport) -> None:
    entry = factories.make_entry(bank, "notes/a.md")
    deleted = factories.make_entry(bank, "notes/gone.md", state="deleted")
    patch(bank, facts(bank)[0], state="invalidated", reason="x")
    assert look(bank)["new"] == 0
    entry.refresh_from_db()
    assert entry.load_after is not None
    assert ReviewEntry.objects.get(pk=deleted.pk).load_after is None


def test_a_server_that_does_not_answer_is_said(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    answer = client.post(f"/facts/retired/look/{bank.pk}/")
    assert answer.status_code == 303
    assert "being looked for" in text_of(client.get("/facts/retired/"))
    line.cut_before.extend(["GET"] * 20)
    assert jobs.run(Job.objects.get().pk) == "failed"
    assert "could not be read" in text_of(client.get("/facts/retired/"))
