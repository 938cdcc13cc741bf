"""The recall desk against a server: what its jobs keep, and what a saved query notices."""

from typing import Any

import pytest

from banks import jobs
from banks.models import RecallCheck, Role
from banks.recall import checks, recalling, reflecting, saving, works
from banks.recall.asked import Asked
from tests import factories
from tests.contract.conftest import registered

pytestmark = pytest.mark.django_db(transaction=True)
LEDGER = "Who keeps the ledger of Acme?"
ALICE = "Alice keeps the ledger of Acme."


@pytest.fixture
def row(target, bank):
    bank.store("d", f"{ALICE} Bob likes green tea.")
    bank.quiet()
    with registered(target, bank) as row:
        yield row


@pytest.fixture
def asker(row):
    user = factories.make_user()
    factories.grant(user, row, Role.REVIEWER)
    return user


def answered(module: Any, asker: Any, row: Any) -> Any:
    job = module.start(user=asker, bank=row, asked=Asked(LEDGER, types=("world",)))
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    return job


def test_the_block_has_what_the_server_recalls(row, asker):
    told = works.result_of(answered(recalling, asker, row))
    assert told is not None
    assert told["hits"][0]["text"] == ALICE
    assert told["hits"][0]["scores"]["final"] > 0
    assert told["hits"][0]["ranks"]
    assert f"\n- {ALICE}\n" in told["block"]
    assert told["trace"]["searches"]
    assert told["ignored"] == []


def test_facts_that_an_observation_stands_for_name_it_and_are_not_lost(row, asker, bank):
    bank.store("e", "Alice keeps the keys of Acme.")
    bank.quiet()
    check = saving.save(user=asker, job=answered(recalling, asker, row), name="Ledger", picks=[1])
    assert check.expected.get().text == ALICE
    RecallCheck.objects.filter(pk=check.pk).update(asked=Asked(LEDGER, prefer=True).as_json)
    checks.ask_now(user=asker, check=check)
    assert checks.run(check.pk) == "well"
    assert check.expected.get().way == "derived"
    job = recalling.start(user=asker, bank=row, asked=Asked(LEDGER, prefer=True))
    assert jobs.run(job.pk) == "done"
    told = works.result_of(job)
    assert told is not None
    replaced = {each["text"]: each["instead"] for each in told["trace"]["left_out"]}
    assert told["hits"][replaced[ALICE] - 1]["type"] == "observation"


def test_an_answer_rests_on_facts(row, asker):
    told = works.result_of(answered(reflecting, asker, row))
    assert told is not None
    assert told["text"]
    assert ALICE in {source["text"] for source in told["sources"]}


def test_neither_makes_a_bank_that_is_gone(row, asker, bank):
    bank.client.delete_bank(bank.id)
    for module in (recalling, reflecting):
        job = module.start(user=asker, bank=row, asked=Asked(LEDGER))
        assert jobs.run(job.pk) == "failed"
    assert not bank.client.has_bank(bank.id)


def test_a_saved_query_follows_a_fact_through_extractions_and_notices_its_end(row, asker, bank):
    check = saving.save(user=asker, job=answered(recalling, asker, row), name="Ledger", picks=[1])

    def ask() -> str:
        bank.quiet()
        checks.ask_now(user=asker, check=check)
        return checks.run(check.pk)

    assert ask() == "well"
    bank.store("d", f"{ALICE} Bob likes black coffee.")
    assert ask() == "well"
    fact_id = bank.facts("d")[ALICE]
    assert check.expected.get().fact_id == fact_id
    bank.client.patch_fact(bank.id, fact_id, state="invalidated")
    assert ask() == "lost"
    bank.client.patch_fact(bank.id, fact_id, state="valid")
    assert ask() == "well"
