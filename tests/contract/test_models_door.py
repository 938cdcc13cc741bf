"""Seeding and acts on mental models through our own rows, with each server."""

import time

import pytest
from django.utils import timezone

from banks import jobs, selectors_models, writes
from banks.mental import acts
from banks.mental.looking import seen_of
from banks.models import Bank as BankRow
from banks.models import Role, Write
from banks.seeds import job as seeding
from tests import factories
from tests.banks.mental import AUTOMATIC, make_seed, models_in
from tests.contract.conftest import Bank, Target, registered, until

pytestmark = pytest.mark.django_db(transaction=True)
SEED = {"seed_id": "ledger", "name": "Ledger", "source_query": "Who keeps the Ledger with Alice?", "trigger": AUTOMATIC}


@pytest.fixture
def row(target: Target, bank: Bank):
    with registered(target, bank) as row:
        yield row


@pytest.fixture
def admin(row: BankRow):
    admin = factories.make_user("admin")
    factories.grant(admin, row, Role.ADMIN)
    return admin


def ended(write: Write) -> Write:
    def step() -> str:
        writes.run(write.pk)
        write.refresh_from_db()
        if write.is_open:
            wait = (write.not_before - timezone.now()).total_seconds()
            time.sleep(min(max(wait, 0.0), 1.0))  # another program works meanwhile
        return write.state

    until(step, lambda state: state not in Write.OPEN)
    return write


def seed(admin, row: BankRow) -> list[Write]:
    asked = seeding.Asked([row.pk], "per-project-tagged", "/home/ann/Shop", ["ledger"])
    job = seeding.create(user=admin, asked=asked)
    assert jobs.run(job.pk) == "done"
    return [ended(write) for write in Write.objects.filter(params__job=job.pk)]


def seen(row: BankRow, model_id: str) -> str:
    found = selectors_models.read(row, model_id).row
    assert found is not None
    return seen_of(found.model)


def test_a_seed_becomes_a_model_of_its_project_once(row: BankRow, bank: Bank, admin) -> None:
    make_seed(**{**SEED, "scopes": ["per-project-tagged"], "project_tagged": True})
    bank.store("d", "Alice keeps the Ledger.", tags=["project:shop"])
    bank.store("e", "Alice sold the Ledger.", tags=["project:desk"])
    bank.quiet()
    (write,) = seed(admin, row)
    assert (write.state, write.error_text) == ("done", "")
    model = models_in(row)["ledger-shop"]
    assert (model.tags, model.name, model.max_tokens) == (["project:shop"], "Ledger", 512)
    assert "keeps the Ledger" in (model.content or "")
    assert seed(admin, row) == []
    assert models_in(row)["ledger-shop"].refreshed_at == model.refreshed_at


def test_refreshed_pinned_unpinned_deleted_and_put_back(row: BankRow, bank: Bank, admin) -> None:
    make_seed(**{**SEED, "scopes": ["per-project-tagged"]})
    bank.store("d", "Alice keeps the Ledger.")
    bank.quiet()
    seed(admin, row)
    assert ended(acts.refresh(user=admin, bank=row, model_id="ledger")).state == "done"
    bank.quiet()
    first = models_in(row)["ledger"]
    assert ended(acts.pin(user=admin, bank=row, model_id="ledger", seen=seen(row, "ledger"))).state == "done"
    assert acts.texts_of(row) == {"ledger": first.content}
    assert (models_in(row)["ledger"].trigger or {})["refresh_after_consolidation"] is False
    assert ended(acts.unpin(user=admin, bank=row, model_id="ledger")).state == "done"
    assert (models_in(row)["ledger"].trigger or {})["refresh_after_consolidation"] is True
    bank.quiet()
    deleted = ended(acts.delete(user=admin, bank=row, model_id="ledger", seen=seen(row, "ledger")))
    assert (deleted.state, models_in(row)) == ("done", {})
    assert ended(acts.put_back(user=admin, write=deleted)).state == "done"
    again = models_in(row)["ledger"]
    assert (again.name, again.source_query, again.max_tokens) == (first.name, first.source_query, first.max_tokens)
    assert again.content


def test_a_bank_that_is_gone_is_not_made_by_seeding(row: BankRow, bank: Bank, admin) -> None:
    make_seed(**{**SEED, "scopes": ["per-project-tagged"]})
    asked = seeding.Asked([row.pk], "per-project-tagged", "shop", ["ledger"])
    job = seeding.create(user=admin, asked=asked)
    assert jobs.run(job.pk) == "done"
    bank.client.delete_bank(bank.id)
    (write,) = Write.objects.filter(kind="seed")
    assert ended(write).state == "attention"
    assert not bank.client.has_bank(bank.id)
