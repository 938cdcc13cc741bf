"""The block about a person where its bank cannot be read: the one of before, with its age, and never an empty one."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from banks import jobs
from banks.blocks import frozen
from banks.blocks.frozen import NOT_AGAIN
from banks.models import Bank, FrozenBlock, Job, Server
from tests.api.asking import Program
from tests.api.user_block import QUERY, ask, recalled, refuse, retire_all, told
from tests.banks.conftest import LyingTransport, store
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


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
