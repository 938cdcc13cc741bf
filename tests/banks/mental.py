"""What tests about mental models share: models on the demo server, and the work of workers done at once."""

from typing import Any

from django.utils import timezone

from banks import connections, jobs
from banks.hindsight import MentalModel, ModelChange
from banks.models import Bank, Job, Seed, Write
from banks.seeds import job as seeding
from banks.seeds.job import Asked, Row
from banks.writes import worker
from memadmin.accounts.models import User

AUTOMATIC = {"mode": "full", "refresh_after_consolidation": True}


def make_model(bank: Bank, model_id: str = "m1", **values: Any) -> MentalModel:
    """Past memadmin, as an agent does, with its text."""
    asked = {"name": "What we know", "source_query": "Who keeps the ledger?", **values}
    with connections.client_for(bank.server) as client:
        client.create_mental_model(bank.bank_id, model_id, **asked)
        return client.get_mental_model(bank.bank_id, model_id, detail="full")


def models_in(bank: Bank) -> dict[str, MentalModel]:
    with connections.client_for(bank.server) as client:
        return {each.id: each for each in client.all_mental_models(bank.bank_id, detail="content")}


def history_in(bank: Bank, model_id: str = "m1") -> list[ModelChange]:
    with connections.client_for(bank.server) as client:
        return client.mental_model_history(bank.bank_id, model_id)


def make_seed(seed_id: str = "glossary", **values: Any) -> Seed:
    return Seed.objects.create(
        **{
            "seed_id": seed_id,
            "name": "Glossary",
            "source_query": "Which words mean something special here?",
            "scopes": ["global", "per-project"],
            "max_tokens": 512,
            "trigger": {"mode": "full", "refresh_after_consolidation": False},
            **values,
        }
    )


def work(bank: Bank, *, rounds: int = 30) -> None:
    """Every write of the bank, until nothing is open: everything is due now."""
    for _ in range(rounds):
        writes = Write.objects.filter(bank=bank, state__in=Write.OPEN)
        if not writes.update(not_before=timezone.now()):
            return
        for write in writes.order_by("pk"):
            worker.run(write.pk)


def done(job: Job) -> Job:
    assert jobs.run(job.pk) == "done", Job.objects.get(pk=job.pk).error
    job.refresh_from_db()
    return job


def previewed(user: User, *banks: Bank, mode: str = "global", **asked: Any) -> Job:
    return done(seeding.preview(user=user, asked=Asked([bank.pk for bank in banks], mode, **asked)))


def seeded(user: User, *banks: Bank, mode: str = "global", **asked: Any) -> Job:
    """The job alone: what it recorded is not sent yet."""
    return done(seeding.create(user=user, asked=Asked([bank.pk for bank in banks], mode, **asked)))


def told(job: Job) -> dict[str, str]:
    """{seed: what it comes to} of a job about one bank; of the bank itself the reason, under ""."""
    return {row.seed: row.status if row.seed else row.reason for row in seeding.rows_of(job)}


def row_of(job: Job, seed_id: str) -> Row:
    (row,) = [each for each in seeding.rows_of(job) if each.seed == seed_id]
    return row
