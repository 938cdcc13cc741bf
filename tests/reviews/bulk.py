"""Facts of five documents that are retired on the server and here, and what restores them."""

import pytest

from banks import connections, fact_kinds, jobs
from banks.models import Bank, Job, Write
from banks.writes import run
from reviews.curation import archive
from reviews.models import FactDecision
from reviews.selectors.retired_filters import RetiredFilters
from tests.banks.conftest import NOW, LyingTransport, store
from tests.conftest import People
from tests.reviews.retired import retired


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_kinds, "AWAY_PAUSE", 0.0)
    monkeypatch.setattr(archive, "ROWS_PER_STEP", 2)


@pytest.fixture
def facts(bank: Bank, line: LyingTransport) -> list[FactDecision]:
    """Five facts of five documents, retired on the server and here."""
    found = []
    with connections.client_for(bank.server) as client:
        for number in range(5):
            store(bank, f"doc-{number}", f"Person{number} keeps the ledger.")
            fact = client.list_facts(bank.bank_id, document_id=f"doc-{number}").items[0]
            client.patch_fact(bank.bank_id, fact.id, state="invalidated", reason=f"reason {number}")
            found.append(retired(bank, number, text=fact.text, fact_id=fact.id))
    return found


def on_the_server(bank: Bank, state: str) -> dict[str, str]:
    with connections.client_for(bank.server) as client:
        items = client.list_facts(bank.bank_id, state=state).items
    return {fact.document_id: fact.invalidation_reason for fact in items if fact.document_id.startswith("doc-")}


def drain() -> None:
    for _ in range(6):
        Write.objects.filter(state__in=Write.OPEN).update(not_before=NOW)
        for pk in Write.objects.filter(state__in=Write.OPEN).order_by("pk").values_list("pk", flat=True):
            run(pk)
    assert not Write.objects.filter(state__in=Write.OPEN).exists()


def restore_all(people: People, **filters: str) -> Job:
    job = archive.start_restore(user=people.reviewer, filters=RetiredFilters(**filters))
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    return job
