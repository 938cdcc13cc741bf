"""`memadmin seed`: what would be made, and making it, by a person at a terminal."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from banks.models import Bank, Write
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.banks.mental import make_model, models_in, work
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("seed", *arguments, stdout=out, **options)
    return out.getvalue()


@pytest.fixture(autouse=True)
def operator(people: People) -> None:
    """The only one, in whose name commands act."""


def test_a_dry_run_says_what_would_be_made_and_what_differs(bank: Bank, line: LyingTransport) -> None:
    make_model(bank, "user-preferences")
    told = run(bank.bank_id, "--project", "/home/ann/Shop", "--dry-run")
    assert "project-decisions-shop" in told
    assert "differs in name, question" in told
    assert told.endswith("2 models would be made. Nothing was sent.\n")
    assert not Write.objects.exists()


def test_what_is_missing_is_queued_and_a_second_time_nothing(bank: Bank, line: LyingTransport) -> None:
    told = json.loads(run(bank.bank_id, "--project", "shop", "--json"))
    assert {row["status"] for row in told["rows"]} == {"create"}
    writes = Write.objects.filter(kind="seed")
    assert {(row.via, row.actor_name) for row in writes} == {("cli", "root")}
    assert {row["write"] for row in told["rows"]} == {row.pk for row in writes}
    work(bank)
    assert set(models_in(bank)) == {"user-preferences", "project-conventions-shop", "project-decisions-shop"}
    assert run(bank.bank_id, "--project", "shop").count("is there") == 3
    assert writes.count() == 3


def test_several_banks_and_single_seeds(bank: Bank, line: LyingTransport) -> None:
    factories.make_bank("ledger", server=bank.server)
    out = io.StringIO()
    asked = (bank.bank_id, "ledger", "--scope", "global", "--seed", "user-preferences", "--dry-run", "--json")
    with pytest.raises(CommandError, match="1 of 2 banks left alone"):
        call_command("seed", *asked, stdout=out)
    told = json.loads(out.getvalue())
    assert [(row["bank"], row["status"]) for row in told["rows"]] == [(bank.bank_id, "create"), ("ledger", "left")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "--scope", "global"], "sees no bank nowhere"),
        (["checkout-service"], "Say whose models"),
        (["checkout-service", "--scope", "global", "--seed", "none"], "There is no seed none"),
        (["checkout-service", "--scope", "global", "--as", "mira"], "is no admin of the bank"),
        (["checkout-service", "--project", "x" * 1001], "at most 1,000"),
    ],
)
def test_what_cannot_be_done_is_said(bank: Bank, line: LyingTransport, arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run(*arguments)
    assert not Write.objects.exists()
