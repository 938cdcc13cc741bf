"""Blocks for agents through our own rows, with each server."""

from datetime import timedelta

import pytest
from django.core.cache import cache

from banks import jobs
from banks.blocks import agents, frozen, trials
from banks.blocks.markers import FACTS, Marker, read
from banks.models import Bank as BankRow
from banks.models import FrozenBlock, Job, Role
from banks.reading import Unread
from tests import factories
from tests.contract.conftest import Bank, Target, registered

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "Alice keeps the ledger of Acme. Alice likes tabs. We went home."
NOW = timedelta(0)


@pytest.fixture(autouse=True)
def _nothing_was_read_before() -> None:
    cache.clear()


@pytest.fixture
def row(target: Target, bank: Bank):
    bank.store("d", TEXT)
    bank.quiet()
    with registered(target, bank) as row:
        yield row


@pytest.fixture
def viewer(row: BankRow):
    viewer = factories.make_user("viewer")
    factories.grant(viewer, row, Role.VIEWER)
    return viewer


def make_model(bank: Bank, model_id: str, **more: object) -> None:
    asked = {"name": f"Model {model_id}", "source_query": "Who keeps the ledger of Acme?", **more}
    bank.wait(bank.client.create_mental_model(bank.id, model_id, **asked).operation_id)  # type: ignore[arg-type]


def test_models_of_a_bank_are_one_block_and_the_same_each_time(bank: Bank, row: BankRow) -> None:
    make_model(bank, "m2")
    make_model(bank, "m1", tags=["project:shop"])
    told = agents.block_of(row, fresh=NOW)
    assert "# Model m2\n" in told.block.text
    assert agents.block_of(row, fresh=NOW).block == told.block
    assert "# Model m1\n" not in agents.block_of(row, tags=["project:desk"], fresh=NOW).block.text
    least = agents.block_of(row, most=agents.models.MINIMUM, fresh=NOW)
    assert least.block.chars <= agents.models.MINIMUM
    assert "# Model m2\n" in least.block.text


def test_facts_about_the_world_that_are_valid(bank: Bank, row: BankRow, viewer) -> None:
    block = frozen.block_for(user=viewer, bank=row, marker=Marker("facts"), epoch="1")
    assert isinstance(block, FrozenBlock)
    assert "- Alice keeps the ledger of Acme." in block.text
    assert "went home" not in block.text
    retired = next(key for text, key in bank.facts("d").items() if "tabs" in text)
    bank.client.patch_fact(bank.id, retired, state="invalidated")
    assert frozen.block_for(user=viewer, bank=row, marker=Marker("facts"), epoch="1") == block
    after = frozen.block_for(user=viewer, bank=row, marker=Marker("facts"), epoch="2")
    assert isinstance(after, FrozenBlock)
    assert "tabs" not in after.text


def test_a_model_and_one_that_is_not_there(bank: Bank, row: BankRow) -> None:
    make_model(bank, "user-profile")
    found = bank.client.get_mental_model(bank.id, "user-profile")
    profile, _ = frozen.read(row, Marker("model", "user-profile"))
    assert (found.content or "").strip() in profile.text
    assert frozen.read(row, Marker("model", "none"))[0].reason == "no-model"


def test_a_query_is_what_the_bank_recalls_and_a_person_who_tries_it_sees_the_same(row: BankRow, viewer) -> None:
    marker = read("<!-- hindsight:user query: Who keeps the ledger of Acme? limit: 1 -->")
    job = frozen.block_for(user=viewer, bank=row, marker=marker, epoch="1")
    assert isinstance(job, Job)
    assert jobs.run(job.pk) == "done"
    block = frozen.block_for(user=viewer, bank=row, marker=marker, epoch="1")
    assert isinstance(block, FrozenBlock)
    assert frozen.told_of(block).facts == 1
    assert "ledger" in block.text
    tried = trials.start(user=viewer, bank=row, asked=[marker, FACTS, Marker("model", "none")])
    assert jobs.run(tried.pk) == "done"
    told = trials.told_by(tried)
    assert told[marker].text == block.text
    assert told[FACTS].facts > 0
    assert told[Marker("model", "none")].reason == "no-model"


def test_a_bank_that_is_not_there_is_not_empty_and_not_made(bank: Bank, row: BankRow, viewer) -> None:
    bank.client.delete_bank(bank.id)
    with pytest.raises(Unread) as gone:
        agents.block_of(row, fresh=NOW)
    assert gone.value.face == "bank"
    with pytest.raises(Unread):
        frozen.block_for(user=viewer, bank=row, marker=Marker("facts"), epoch="1")
    assert not bank.client.has_bank(bank.id)
