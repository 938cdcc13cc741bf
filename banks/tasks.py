"""Celery tasks of the door. Each takes ids, calls a service and returns a short word; each may run twice."""

from collections.abc import Sequence
from typing import Any

from celery import shared_task
from kombu.exceptions import OperationalError


@shared_task(name="banks.tasks.send_write")
def send_write(write_id: int) -> str:
    """Idempotent: `run` claims the row by conditional update and leaves what has ended alone."""
    from banks.writes import run

    return run(write_id)


@shared_task(name="banks.tasks.sweep_writes")
def sweep_writes() -> int:
    """Idempotent: rows are marked as spoken for by conditional update."""
    from banks.writes.worker import sweep

    return sweep()


@shared_task(name="banks.tasks.flush_retains")
def flush_retains(bank_id: int) -> str:
    """Idempotent: rows of the queue are taken by conditional update, all of a batch or none."""
    from banks.retain.flush import flush

    return flush(bank_id)


@shared_task(name="banks.tasks.sweep_retains")
def sweep_retains() -> int:
    """Idempotent: tells a worker, and the rows decide."""
    from banks.retain.flush import sweep

    return sweep()


@shared_task(name="banks.tasks.probe_servers")
def probe_servers() -> int:
    """Idempotent: overwrites what the servers said with what they say now."""
    from banks.services.probe import probe_all

    return probe_all()


@shared_task(name="banks.tasks.read_numbers")
def read_numbers(server_id: int) -> str:
    """Idempotent: `look` claims the server by conditional update, and what was read is not due for a while."""
    from banks.numbers import look

    return look.look(server_id)


@shared_task(name="banks.tasks.sweep_numbers")
def sweep_numbers() -> int:
    """Idempotent: tells a worker about few servers whose banks want to be counted; the claim decides who does it."""
    from banks.numbers import look

    return _tell(read_numbers, look.due(), expires=10)


@shared_task(name="banks.tasks.index_log")
def index_log() -> int:
    """Idempotent: a row that is indexed twice has the words of the later time."""
    from banks import log_index

    return log_index.sweep()


@shared_task(name="banks.tasks.run_job")
def run_job(job_id: int) -> str:
    """Idempotent: a job is claimed by conditional update and goes on from its stored cursor."""
    from banks import jobs

    return jobs.run(job_id)


@shared_task(name="banks.tasks.sweep_jobs")
def sweep_jobs() -> int:
    """Idempotent: dispatches jobs that no worker holds; the claim decides. Old keys, answers and blocks go."""
    from banks import jobs
    from banks.blocks import frozen
    from banks.blocks import trials as block_trials
    from banks.mental import trials
    from banks.recall import works
    from banks.services import bank_search, idempotency

    idempotency.forget()
    bank_search.forget()
    frozen.forget()
    block_trials.forget()
    works.forget()
    trials.forget()
    return jobs.sweep()


@shared_task(name="banks.tasks.run_recall_check")
def run_recall_check(check_id: int) -> str:
    """Idempotent: `run` claims the saved query by conditional update, and asking only reads."""
    from banks.recall import checks

    return checks.run(check_id)


@shared_task(name="banks.tasks.sweep_recall_checks")
def sweep_recall_checks() -> int:
    """Idempotent: tells a worker about each saved query that is to be asked; the claim decides who does it."""
    from banks.recall import checks

    waiting = checks.due()
    for number, check_id in enumerate(waiting):
        try:
            run_recall_check.apply_async((check_id,), expires=60)  # else the next sweep tells it again
        except (OperationalError, OSError):  # the broker is away: the next sweep
            return number
    return len(waiting)


@shared_task(name="banks.tasks.look_at_operations")
def look_at_operations(bank_id: int) -> str:
    """Idempotent: `look` claims the bank by conditional update, and what is read twice is one row."""
    from banks.operations import look

    return look.look(bank_id)


@shared_task(name="banks.tasks.sweep_operations")
def sweep_operations() -> int:
    """Idempotent: tells a worker about each bank whose operations want to be read; the claim decides who does it."""
    from banks.operations import look

    return _tell(look_at_operations, look.due(), expires=30)


@shared_task(name="banks.tasks.forget_deliveries")
def forget_deliveries() -> int:
    """Idempotent: removes what is old, some at a time."""
    from banks.webhooks import receive

    return receive.forget()


@shared_task(name="banks.tasks.forget_exports")
def forget_exports() -> int:
    """Idempotent: removes files that were kept long enough."""
    from banks.transfer import exporting, importing

    return exporting.forget() + importing.forget()


def _tell(task: Any, keys: Sequence[int], *, expires: int) -> int:
    """A message for each; returns how many. What expired or was not told, the next sweep tells again."""
    for number, key in enumerate(keys):
        try:
            task.apply_async((key,), expires=expires)
        except (OperationalError, OSError):  # the broker is away
            return number
    return len(keys)
