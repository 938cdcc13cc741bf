"""What a bank says about a person, by a program: the three forms of the marker, and one answer for each epoch."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from banks import connections, jobs
from banks.blocks import frozen
from banks.blocks.frozen import KEPT, NOT_AGAIN
from banks.models import Bank, FrozenBlock, Job, Role, Server
from tests.api.asking import Program, issue
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import make_model
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/blocks/user-profile"
QUERY = "<!-- hindsight:user\n  query: who keeps the ledger?\n  limit: 1\n-->"


def ask(program: Program, bank: Bank, epoch: str = "s-1", **query: Any) -> Any:
    return program.get(PATH, bank=bank.bank_id, epoch=epoch, **query)


def told(program: Program, bank: Bank, epoch: str = "s-1", **query: Any) -> dict[str, Any]:
    answer = ask(program, bank, epoch, **query)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = json.loads(answer.content)
    return found


def refuse(bank: Bank, health: str = Server.Health.REFUSED) -> None:
    Server.objects.filter(pk=bank.server_id).update(health=health)


def retire_all(bank: Bank) -> None:
    with connections.client_for(bank.server) as client:
        for fact in client.list_facts(bank.bank_id).items:
            if not fact.is_observation:
                client.patch_fact(bank.bank_id, fact.id, state="invalidated")


def recalled(program: Program, bank: Bank, epoch: str = "s-1", marker: str = QUERY) -> str:
    """Asks, and has the work done that it waits for. Returns how the work ended."""
    answer = ask(program, bank, epoch, marker=marker)
    assert (answer.status_code, int(answer["Retry-After"]) > 0) == (202, True)
    return jobs.run(Job.objects.get(kind=frozen.KIND, state=Job.State.QUEUED).pk)


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


def test_who_asks_again_waits_for_the_same_work(bank: Bank, line: LyingTransport, program: Program) -> None:
    for _ in range(3):
        assert ask(program, bank, marker=QUERY).status_code == 202
    assert Job.objects.filter(kind=frozen.KIND).count() == 1
    assert line.calls == []


def test_a_bank_that_cannot_be_read_gives_the_block_of_the_epoch_before_for_all_of_this_one(
    bank: Bank, line: LyingTransport, program: Program
) -> None:
    with time_machine.travel(timezone.now() - timedelta(hours=1), tick=False):
        first = told(program, bank)
    refuse(bank)
    answer = ask(program, bank, "s-2")
    found = json.loads(answer.content)
    assert (found["block"], found["stale"], found["unread"]) == (first["block"], True, "The server refuses our key.")
    assert int(answer["Age"]) >= 3_590
    refuse(bank, Server.Health.OK)
    store(bank, "notes/b.md", "Cleo likes tabs.")
    assert ask(program, bank, "s-2").content == answer.content
    assert told(program, bank, "s-3")["stale"] is False


def test_where_nothing_was_ever_read_nothing_is_frozen(bank: Bank, line: LyingTransport, program: Program) -> None:
    refuse(bank)
    answer = ask(program, bank)
    assert (answer.status_code, int(answer["Retry-After"]) > 0) == (503, True)
    assert not FrozenBlock.objects.exists()
    refuse(bank, Server.Health.OK)
    assert told(program, bank)["facts"] == 2


def test_an_empty_block_of_before_is_not_said_of_a_bank_that_was_not_read(
    bank: Bank, line: LyingTransport, program: Program
) -> None:
    retire_all(bank)
    assert told(program, bank)["block"] == ""
    refuse(bank)
    assert ask(program, bank, "s-2").status_code == 503


def test_a_recall_that_fails_says_why_and_is_tried_again_later(
    bank: Bank, line: LyingTransport, program: Program
) -> None:
    line.cut_before.append("POST")
    assert recalled(program, bank) == "failed"
    answer = ask(program, bank, marker=QUERY)
    assert answer.status_code == 503
    assert json.loads(answer.content)["detail"]
    with time_machine.travel(timezone.now() + NOT_AGAIN + timedelta(seconds=1), tick=False):
        assert recalled(program, bank) == "done"
    refuse(bank)
    assert recalled(program, bank, "s-2") == "done"
    assert told(program, bank, "s-2", marker=QUERY)["stale"] is True


def test_a_role_that_ends_meanwhile_ends_the_recall(
    bank: Bank, line: LyingTransport, people: People, program: Program
) -> None:
    assert ask(program, bank, marker=QUERY).status_code == 202
    bank.memberships.filter(user=people.reviewer).delete()
    assert jobs.run(Job.objects.get(kind=frozen.KIND).pk) == "failed"
    assert not FrozenBlock.objects.exists()
    assert ask(program, bank, marker=QUERY).status_code == 404


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
    with time_machine.travel(timezone.now() + KEPT + timedelta(hours=1), tick=False):
        assert frozen.forget() == 2
    assert not FrozenBlock.objects.exists()
    assert not Job.objects.filter(kind=frozen.KIND).exists()
