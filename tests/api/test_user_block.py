"""What a bank says about a person, by a program: the three forms of the marker, and one answer for each epoch."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from banks.blocks import frozen
from banks.blocks.frozen import KEPT, WORK_KEPT
from banks.models import Bank, FrozenBlock, Job, Role
from tests.api.asking import Program, issue
from tests.api.user_block import PATH, QUERY, ask, recalled, retire_all, told
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import make_model
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_bare_marker_is_the_facts_that_the_bank_states(bank: Bank, line: LyingTransport, program: Program) -> None:
    store(bank, "notes/b.md", "I went home. Cleo likes tabs.")
    found = told(program, bank)
    assert "- Ann keeps the ledger." in found["block"]
    assert "- Cleo likes tabs." in found["block"]
    assert "went home" not in found["block"]
    assert found["block"].startswith('<user_profile source="facts" facts="3">')
    assert (found["facts"], found["left_out"], found["unlisted"], found["reason"]) == (3, 0, 0, "")
    assert found["marker"] == "<!-- hindsight:user -->"


def test_retired_facts_are_not_in_it_and_without_any_there_is_none(
    bank: Bank, line: LyingTransport, program: Program
) -> None:
    retire_all(bank)
    found = told(program, bank)
    assert (found["block"], found["reason"]) == ("", "no-facts")
    assert found["why"]


def test_a_model_is_its_text_and_one_that_is_not_there_is_said_to_be_missing(
    bank: Bank, line: LyingTransport, program: Program
) -> None:
    model = make_model(bank, "user-profile")
    found = told(program, bank, marker="<!-- hindsight:user model: user-profile -->")
    assert model.content is not None
    assert model.content.strip() in found["block"]
    missing = told(program, bank, marker="<!-- hindsight:user model: none -->")
    assert (missing["block"], missing["reason"]) == ("", "no-model")


def test_in_an_epoch_nothing_changes_and_the_next_one_begins_anew(
    bank: Bank, line: LyingTransport, program: Program
) -> None:
    first = ask(program, bank)
    line.calls.clear()
    store(bank, "notes/b.md", "Cleo likes tabs.")
    calls = len(line.calls)
    again = ask(program, bank)
    assert (again.content, again["ETag"], len(line.calls)) == (first.content, first["ETag"], calls)
    assert ask(program, bank, headers={"If-None-Match": first["ETag"]}).status_code == 304
    assert "Cleo likes tabs." in told(program, bank, "s-2")["block"]
    assert ask(program, bank).content == first.content


def test_all_spellings_of_a_marker_are_one_block(bank: Bank, line: LyingTransport, program: Program) -> None:
    first = told(program, bank, marker="<!-- hindsight:user model: m1 -->")
    assert told(program, bank, marker="<!-- hindsight:user\n  model: m1\n-->") == first
    assert FrozenBlock.objects.count() == 1


def test_an_epoch_is_that_of_one_person(bank: Bank, line: LyingTransport, people: People, program: Program) -> None:
    told(program, bank)
    told(Program(issue(people.owner)), bank)
    assert FrozenBlock.objects.count() == 2


def test_a_query_is_asked_by_a_worker_and_limited(bank: Bank, line: LyingTransport, program: Program) -> None:
    line.calls.clear()
    assert recalled(program, bank) == "done"
    assert [path.rpartition("/")[2] for method, path in line.calls if method == "POST"] == ["recall"]
    found = told(program, bank, marker=QUERY)
    assert found["facts"] == 1
    assert "ledger" in found["block"]
    assert found["block"].startswith('<user_profile source="query" facts="1">')
    assert found["marker"] == "<!-- hindsight:user query: who keeps the ledger? limit: 1 -->"


def test_as_text_it_is_the_block_alone_and_nothing_until_there_is_one(
    bank: Bank, line: LyingTransport, program: Program
) -> None:
    text = {"Accept": "text/plain"}
    waiting = ask(program, bank, marker=QUERY, headers=text)
    assert (waiting.status_code, waiting.content, int(waiting["Retry-After"]) > 0) == (202, b"", True)
    assert recalled(program, bank) == "done"
    answer = ask(program, bank, marker=QUERY, headers=text)
    assert answer.content.decode() == told(program, bank, marker=QUERY)["block"] != ""
    retire_all(bank)
    empty = ask(program, bank, "s-2", headers=text)
    assert (empty.status_code, empty.content, empty["Block-Reason"]) == (200, b"", "no-facts")


def test_who_asks_again_waits_for_the_same_work(bank: Bank, line: LyingTransport, program: Program) -> None:
    for _ in range(3):
        assert ask(program, bank, marker=QUERY).status_code == 202
    assert Job.objects.filter(kind=frozen.KIND).count() == 1
    assert line.calls == []


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"marker": "<!-- hindsight:user bank: theirs -->"}, "cannot name a bank"),
        ({"marker": "<!-- hindsight:user model: a query: b -->"}, "one of them"),
        ({"marker": "hindsight:user"}, "not one marker"),
        ({"marker": "<!-- hindsight:user query: x"}, "not closed"),
        ({"marker": ""}, "not one marker"),
        ({"epoch": ""}, "epoch"),
    ],
)
def test_what_is_refused_says_why(
    bank: Bank, line: LyingTransport, program: Program, query: dict[str, str], said: str
) -> None:
    answer = program.get(PATH, **{"bank": bank.bank_id, "epoch": "1", **query})
    assert answer.status_code == 422
    assert said in json.loads(answer.content)["detail"]
    assert line.calls == []


def test_a_persons_bank_is_given_to_that_person_alone(bank: Bank, line: LyingTransport, people: People) -> None:
    own, other = Program(issue(people.viewer, role=Role.VIEWER)), Program(issue(people.reviewer))
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.viewer)
    assert told(own, bank)["facts"] == 2
    assert ask(other, bank).status_code == 404


def test_old_blocks_are_forgotten(bank: Bank, line: LyingTransport, program: Program) -> None:
    told(program, bank)
    assert recalled(program, bank) == "done"
    assert frozen.forget() == 0
    with time_machine.travel(timezone.now() + WORK_KEPT + timedelta(hours=1), tick=False):
        assert frozen.forget() == 0
        assert not Job.objects.filter(kind=frozen.KIND).exists()
        assert told(program, bank, marker=QUERY)["facts"] == 1
    with time_machine.travel(timezone.now() + KEPT + timedelta(hours=1), tick=False):
        assert frozen.forget() == 2
    assert not FrozenBlock.objects.exists()
