"""Retirements that were made past us, in documents that nobody here has loaded."""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import transaction
from django.utils import timezone

from banks import connections, fact_kinds, jobs, writes
from banks.hindsight import Fact
from banks.models import Bank, Blob, Job, Write
from banks.numbers import look as numbers
from reviews.curation import archive, elsewhere
from reviews.models import FactDecision, ReviewEntry
from reviews.services import document_facts
from tests import factories
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.known_failures.world import loaded, work_off
from tests.reviews.pages import text_of
from tests.reviews.retired import retired

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


def test_what_a_person_did_while_it_was_read_is_not_taken_for_somebody_elses(
    bank: Bank, line: LyingTransport, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch(bank, facts(bank)[0], state="invalidated", reason="x")
    look(bank)
    decision = FactDecision.objects.get()
    real = document_facts.read

    def read_and_then(*args: Any, **values: Any) -> Any:
        found = real(*args, **values)
        archive.restore_one(user=people.reviewer, decision_id=decision.pk)
        work_off()
        return found

    patch(bank, facts(bank)[0], state="invalidated", reason="y")  # the other fact: so there is news
    monkeypatch.setattr(document_facts, "read", read_and_then)
    look(bank)
    decision.refresh_from_db()
    assert (decision.verdict, decision.user) == ("restored", people.reviewer)


def test_an_edit_that_a_new_extraction_forgot_is_found_although_no_list_tells(bank: Bank, line: LyingTransport) -> None:
    fact = next(fact for fact in facts(bank) if fact.text.startswith("Ben"))
    with transaction.atomic():
        writes.record(
            kind="edit-fact", bank=bank, via=Write.Via.WEB, document_id="notes/a.md", fact_ids=[fact.id],
            request=Blob.objects.store("Ben audits it."), before=Blob.objects.store(fact.text),
            facts_before=Blob.objects.store(json.dumps([{"id": fact.id, "text": fact.text, "type": "world"}])),
        )  # fmt: skip
    work_off()
    assert "Ben audits it." in [each.text for each in facts(bank)]
    look(bank)
    assert Write.objects.count() == 1
    with connections.client_for(bank.server) as client:
        client.reprocess_document(bank.bank_id, "notes/a.md")
        client.get_operation(bank.bank_id, "00000000-0000-4000-8000-000000000000")  # lets the work be done
    assert fact.id not in [each.id for each in facts(bank)]
    look(bank)
    work_off()
    assert "Ben audits it." in [each.text for each in facts(bank)]


def test_a_server_that_does_not_know_states_is_said_and_nothing_is_believed(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    class NoStates(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/memories/list"):
                request = httpx.Request("GET", request.url.copy_remove_param("state"), headers=request.headers)
            return line.handle_request(request)

    Bank.objects.filter(pk=bank.pk).update(retired_count=3, counted_at=timezone.now())
    connections.TRANSPORTS[bank.server.base_url] = NoStates()
    job = elsewhere.start(bank)
    assert jobs.run(job.pk) == "failed"
    assert not FactDecision.objects.exists()
    page = text_of(as_user(people.viewer).get("/facts/retired/"))
    assert "does not tell retired facts from others" in page
    assert "<b>unknown</b>, it could not be read" in page
    numbers.look(bank.server_id)
    bank.refresh_from_db()
    assert (bank.retired_count, bank.fact_count) == (None, 2)
    entry = loaded(bank, "notes/b.md")
    assert (entry.retired_count, entry.fact_count) == (None, 2)
    assert "Ann keeps the ledger." in text_of(as_user(people.viewer).get(f"/reviews/{entry.pk}/"))


def test_what_is_gone_is_looked_for_once_more_and_then_no_news(bank: Bank, line: LyingTransport) -> None:
    retired(bank, 1, document_id="notes/a.md")
    assert look(bank)["documents"] == 1
    assert FactDecision.objects.get().shelf == "gone"
    assert look(bank)["documents"] == 1
    FactDecision.objects.update(gone_since=timezone.now() - timedelta(hours=3))
    assert look(bank)["documents"] == 0


def test_what_cannot_be_read_does_not_keep_the_others_waiting(
    bank: Bank, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        retired(bank, number, document_id=f"doc-{number}")
    seen: list[str] = []
    monkeypatch.setattr(elsewhere, "MOST_DOCUMENTS", 2)
    monkeypatch.setattr(elsewhere, "_look_at", lambda *args, **_: seen.append(args[3]) or 0)
    for _ in range(3):
        look(bank)
    assert seen == ["doc-0", "doc-1", "doc-2", "doc-0", "doc-1", "doc-2"]
