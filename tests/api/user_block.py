"""What the tests of the block about a person share."""

import json
from typing import Any

from banks import connections, jobs
from banks.blocks import frozen
from banks.models import Bank, Job, Server
from tests.api.asking import Program

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
