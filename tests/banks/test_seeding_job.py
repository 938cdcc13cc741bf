"""Seeding as a job: it follows its preview, takes many banks and survives its worker; policies start it too."""

from typing import Any

import pytest
from django.db import transaction

from banks import connections, jobs, writes
from banks.models import Bank, Job, Role, Server, Write
from banks.seeds import job as seeding
from banks.services.probe import probe
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.banks.mental import make_model, make_seed, models_in, previewed, row_of, seeded, told, work
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
TAGGED = "per-project-tagged"
PROJECT = {"mode": TAGGED, "project": "/home/ann/shop"}


def test_making_follows_its_preview(bank: Bank, line: LyingTransport, people: People) -> None:
    make_model(bank, "project-decisions-shop", tags=["project:shop"])
    preview = previewed(people.owner, bank, **PROJECT)
    with connections.client_for(bank.server) as client:
        client.delete_mental_model(bank.bank_id, "project-decisions-shop")
    make_model(bank, "user-preferences")
    job = seeding.follow(user=people.owner, previewed=preview)
    assert seeding.follow(user=people.owner, previewed=preview) == job  # a second click
    assert jobs.run(job.pk) == "done"
    assert told(job) == {"user-preferences": "exists", "project-conventions": "create", "project-decisions": "left"}
    assert row_of(job, "user-preferences").reason == seeding.IS_THERE_NOW
    assert row_of(job, "project-decisions").reason == seeding.NOT_IN_PREVIEW
    assert [row.params["model"] for row in Write.objects.filter(kind="seed")] == ["project-conventions-shop"]


def test_a_seed_that_was_changed_since_the_preview_is_not_made_unseen(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    seed = make_seed(extra_tags=["team:a"])
    make_seed("words")
    preview = previewed(people.owner, bank, seeds=["glossary", "words"])
    type(seed).objects.filter(pk=seed.pk).update(extra_tags=["team:b"])
    job = seeding.follow(user=people.owner, previewed=preview)
    assert jobs.run(job.pk) == "done"
    assert told(job) == {"glossary": "left", "words": "create"}
    assert row_of(job, "glossary").reason == seeding.SEED_CHANGED
    assert [row.params["model"] for row in Write.objects.filter(kind="seed")] == ["words"]


def test_many_banks_have_a_result_each(bank: Bank, line: LyingTransport, people: People) -> None:
    person = factories.make_bank("ann", server=bank.server, kind=Bank.Kind.PERSON, person=people.owner)
    slash = factories.make_bank("a/b", server=bank.server)
    foreign = factories.make_bank("foreign", server=bank.server)
    away = factories.make_bank("away")
    for each, role in ((person, Role.ADMIN), (slash, Role.ADMIN), (foreign, Role.REVIEWER), (away, Role.ADMIN)):
        factories.grant(people.owner, each, role)
    Server.objects.filter(pk=away.server.pk).update(health=Server.Health.REFUSED)
    job = seeded(people.owner, person, slash, foreign, away, bank, mode="global")
    reasons = {row.bank: row.reason for row in seeding.rows_of(job) if row.status == "left"}
    assert reasons == {
        person.pk: seeding.PERSONAL,
        slash.pk: seeding.NOT_ADDRESSABLE,
        foreign.pk: seeding.NO_RIGHT,
        away.pk: seeding.PAUSED,
    }
    assert job.result["left"] == 4
    assert [write.bank for write in Write.objects.all()] == [bank]


def test_what_is_being_made_is_not_asked_for_twice(bank: Bank, line: LyingTransport, people: People) -> None:
    seeded(people.owner, bank, mode="global")
    assert told(seeded(people.owner, bank, mode="global"))["user-preferences"] == "under-way"
    assert Write.objects.filter(kind="seed").count() == 1


def test_the_teams_own_seeds_and_single_ones(bank: Bank, line: LyingTransport, people: People) -> None:
    make_seed()
    assert told(previewed(people.owner, bank, mode="global"))["glossary"] == "create"
    assert told(previewed(people.owner, bank, mode="global", seeds=["glossary"])) == {"glossary": "create"}
    assert told(previewed(people.owner, bank, mode=TAGGED, project="x", seeds=["glossary"])) == {"glossary": "unscoped"}


def test_a_killed_worker_leaves_whole_banks_behind_and_none_twice(
    bank: Bank, line: LyingTransport, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = factories.make_bank("ledger", server=bank.server)
    factories.grant(people.owner, other, Role.ADMIN)
    with connections.client_for(bank.server) as client:
        client.put_bank("ledger")
    asked = seeding.Asked([bank.pk, other.pk], "global")
    job = seeding.create(user=people.owner, asked=asked)
    record, calls = seeding._record, []

    def dies_at_the_second(*about: Any) -> int:
        calls.append(about)
        if len(calls) == 2:
            raise jobs.LostClaim
        return record(*about)

    monkeypatch.setattr(seeding, "_record", dies_at_the_second)
    assert jobs.run(job.pk) == "not ours"
    assert Write.objects.filter(kind="seed").count() == 1
    Job.objects.filter(pk=job.pk).update(claimed_until=None)
    assert jobs.run(job.pk) == "done"
    assert sorted(write.bank.bank_id for write in Write.objects.filter(kind="seed")) == sorted(["ledger", bank.bank_id])


def test_new_banks_are_seeded_where_the_servers_policy_says_so(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    probe(bank.server)
    assert not Job.objects.exists()
    Server.objects.filter(pk=bank.server.pk).update(seed_new_banks="per-project")
    bank.server.refresh_from_db()
    with connections.client_for(bank.server) as client:
        client.put_bank("fresh")
    probe(bank.server)
    job = Job.objects.get(kind=seeding.KIND)
    fresh = Bank.objects.get(bank_id="fresh")
    assert (job.owner, job.params["banks"]) == (None, [fresh.pk])
    assert jobs.run(job.pk) == "done"
    assert {(row.via, row.actor) for row in Write.objects.filter(kind="seed")} == {("housekeeping", None)}
    work(fresh)
    assert set(models_in(fresh)) == {"user-preferences", "project-conventions", "project-decisions"}
    assert all(model.tags == [] for model in models_in(fresh).values())
    probe(bank.server)
    assert Job.objects.filter(kind=seeding.KIND).count() == 1  # it is not new any more


def test_a_bank_that_is_made_here_is_new_too(bank: Bank, line: LyingTransport, people: People) -> None:
    Server.objects.filter(pk=bank.server.pk).update(seed_new_banks="global")
    made = factories.make_bank("made-here", server=bank.server)
    with transaction.atomic():
        writes.record(kind="bank-create", bank=made, via=Write.Via.WEB, actor=people.owner, params={"name": "Made"})
    work(made)
    job = Job.objects.get(kind=seeding.KIND)
    assert (job.params["banks"], job.params["mode"]) == ([made.pk], "global")


def test_a_bank_that_is_cloned_here_is_new_too(bank: Bank, line: LyingTransport, people: People) -> None:
    Server.objects.filter(pk=bank.server.pk).update(seed_new_banks="global")
    made = factories.make_bank("cloned-here", server=bank.server)
    params = {"source": bank.bank_id, "config": False}
    with transaction.atomic():
        writes.record(kind="bank-clone", bank=made, via=Write.Via.WEB, actor=people.owner, params=params)
    work(made)
    job = Job.objects.get(kind=seeding.KIND)
    assert (job.params["banks"], job.params["mode"]) == ([made.pk], "global")
