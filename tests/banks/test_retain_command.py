"""`memadmin retain`: memories by a person at a terminal."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from banks.management.commands import retain as command
from banks.models import Bank, RetainItem
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.banks.retaining import drain
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("retain", *arguments, stdout=out, **options)
    return out.getvalue()


@pytest.fixture(autouse=True)
def operator(people: People) -> None:
    """The only one, in whose name commands act."""


def test_a_text_is_a_memory_of_the_only_bank(bank: Bank) -> None:
    assert run("Ann moved to Lyon.").startswith("1 memory queued.\n")
    item = RetainItem.objects.get()
    assert (item.content.text, item.bank, item.via, item.actor_name) == ("Ann moved to Lyon.", bank, "cli", "root")


def test_a_file_is_one_memory_with_what_is_said_about_it(bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text("Ann moved.\nBen stayed.\n")
    more = ["--bank", bank.bank_id, "--context", "notes", "--document", "note.md", "--tag", "a", "--tag", "b"]
    run(str(file), *more, "--scope", "per-project-tagged", "--project", "/home/ann/Shop")
    item = RetainItem.objects.get()
    assert (item.content.text, item.context, item.document_id) == ("Ann moved.\nBen stayed.\n", "notes", "note.md")
    assert item.tags == ["a", "b", "project:shop"]


def test_standard_input_with_items(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    given = json.dumps([{"content": "Ann.", "timestamp": "unset"}, {"content": "Ben.", "strategy": "x"}])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
    told = json.loads(run("-", "--items", "--json"))
    assert (told["count"], told["message"]) == (2, "2 memories queued.")
    assert [item["state"] for item in told["items"]] == ["queued", "queued"]
    assert [item.timestamp == "unset" for item in RetainItem.objects.order_by("pk")] == [True, False]


def test_it_waits_until_the_bank_has_it(bank: Bank, line: LyingTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.time, "sleep", lambda seconds: drain(bank))
    told = json.loads(run("Ann moved to Lyon. Ben stayed.", "--wait", "--json"))
    assert [(item["state"], item["facts"]) for item in told["items"]] == [("done", 2)]


def test_what_does_not_arrive_is_an_error(bank: Bank, line: LyingTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.time, "sleep", lambda seconds: drain(bank))
    with pytest.raises(SystemExit) as ended:
        run("[[FAIL]] Ann moved.", "--wait")
    assert ended.value.code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x", "--bank", "nowhere"], "root sees no bank nowhere. Nothing was stored."),
        (["x", "--as", "nobody"], "Nobody here is called nobody."),
        (["x", "--as", "ben"], "ben may not write into the bank checkout-service. Nothing was stored."),
        ([" "], "items[0].content: It is empty"),
        (["{", "--items"], "That is no JSON"),
        (["x", "--scope", "per-project", "--project", "a"], "There is no bank checkout-service-a"),
    ],
)
def test_what_cannot_be_queued_says_why(bank: Bank, arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said.replace("[", r"\[")):
        run(*arguments)
    assert not RetainItem.objects.exists()


def test_of_several_banks_one_is_said(bank: Bank) -> None:
    factories.make_bank(server=bank.server)
    with pytest.raises(CommandError, match="Say which bank"):
        run("x")


def test_a_persons_bank_is_named_and_said_to_be_one(bank: Bank, people: People) -> None:
    Bank.objects.update(kind=Bank.Kind.PERSON, person=people.reviewer)
    for given in ([], ["--bank", bank.bank_id], ["--user-bank"]):
        with pytest.raises(CommandError):
            run("Ann wants short answers.", *given)
    assert not RetainItem.objects.exists()
    run("Ann wants short answers.", "--bank", bank.bank_id, "--user-bank")
    assert RetainItem.objects.count() == 1


def test_what_is_held_is_said(bank: Bank) -> None:
    Bank.objects.update(hold=True)
    assert run("Ann moved to Lyon.").startswith("1 memory held for review.\n")
