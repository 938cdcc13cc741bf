"""Seeding: only what is missing is made, what is there is never touched, and a preview says the same before."""

from typing import Any

import httpx
import pytest

from banks import connections, jobs
from banks.models import Bank, Blob, Job, Role, Server, Write
from banks.seeds import job as seeding
from banks.services.probe import probe
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.banks.mental import AUTOMATIC, make_model, make_seed, models_in, previewed, row_of, seeded, told, work
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
TAGGED = "per-project-tagged"
PROJECT = {"mode": TAGGED, "project": "/home/ann/shop"}
OF_SHOP = {"user-preferences", "project-conventions-shop", "project-decisions-shop"}


def writes_sent(line: LyingTransport) -> int:
    return sum(method != "GET" for method, _ in line.calls)


def test_a_preview_reads_and_says_what_would_be_made(bank: Bank, line: LyingTransport, people: People) -> None:
    job = previewed(people.owner, bank, **PROJECT)
    assert told(job) == dict.fromkeys(["user-preferences", "project-conventions", "project-decisions"], "create")
    assert row_of(job, "project-decisions").model == "project-decisions-shop"
    assert row_of(job, "project-decisions").tags == ["project:shop"]
    assert writes_sent(line) == 0
    assert not Write.objects.exists()


def test_what_is_missing_is_made_through_the_door_as_the_seed_has_it(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    job = seeded(people.owner, bank, **PROJECT)
    assert writes_sent(line) == 0  # not by the job
    rows = Write.objects.filter(kind="seed")
    assert {row.params["model"] for row in rows} == OF_SHOP
    assert {(row.actor, row.via, row.params["job"]) for row in rows} == {(people.owner, "web", job.pk)}
    work(bank)
    found = models_in(bank)
    assert set(found) == OF_SHOP
    made = found["project-decisions-shop"]
    assert (made.name, made.tags, made.max_tokens) == ("Project Decisions", ["project:shop"], 1200)
    assert (made.trigger or {})["refresh_after_consolidation"] is True
    assert found["user-preferences"].tags == []
    assert {row.state for row in Write.objects.filter(kind="seed")} == {"done"}


def test_row_044_a_second_seeding_makes_nothing(bank: Bank, line: LyingTransport, people: People) -> None:
    seeded(people.owner, bank, **PROJECT)
    work(bank)
    sent = writes_sent(line)
    assert set(told(seeded(people.owner, bank, **PROJECT)).values()) == {"exists"}
    work(bank)
    assert (writes_sent(line), Write.objects.count()) == (sent, 3)


def test_row_044_what_exists_is_not_changed_refreshed_or_deleted(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    theirs = {"name": "Ours", "source_query": "What do we like?", "max_tokens": 300, "trigger": {"mode": "delta"}}
    before = make_model(bank, "user-preferences", **theirs)
    line.calls.clear()
    job = seeded(people.owner, bank, mode="global")
    work(bank)
    assert told(job)["user-preferences"] == "exists"
    assert row_of(job, "user-preferences").differs == ["name", "question", "longest text", "refresh"]
    after = models_in(bank)["user-preferences"]
    assert (after.name, after.source_query, after.content) == (before.name, before.source_query, before.content)
    assert after.refreshed_at == before.refreshed_at
    assert writes_sent(line) == 0


@pytest.mark.parametrize("status", [409, 500])
def test_row_044_a_refusal_of_an_id_that_is_there_by_then_is_no_error(
    bank: Bank, line: LyingTransport, people: People, status: int
) -> None:
    class Late(httpx.BaseTransport):
        """Somebody makes the model between our look and our call, and the server says so in its own way."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.method != "POST":
                return line.handle_request(request)
            connections.TRANSPORTS[bank.server.base_url] = line
            make_model(bank, "user-preferences", name="Theirs")
            connections.TRANSPORTS[bank.server.base_url] = self
            return httpx.Response(status, json={"detail": "duplicate key value violates unique constraint"})

    seeded(people.owner, bank, mode="global")
    connections.TRANSPORTS[bank.server.base_url] = Late()
    work(bank)
    write = Write.objects.get(kind="seed")
    assert (write.state, write.error_text) == ("done", "")
    connections.TRANSPORTS[bank.server.base_url] = line
    assert models_in(bank)["user-preferences"].name == "Theirs"


def test_row_045_two_projects_of_one_bank_get_models_of_their_own(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    for project in ("shop", "desk"):
        seeded(people.owner, bank, mode=TAGGED, project=project)
        work(bank)
    assert set(models_in(bank)) == OF_SHOP | {"project-conventions-desk", "project-decisions-desk"}


def test_row_045_an_id_that_serves_others_is_a_warning_and_no_quiet_skip(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    make_model(bank, "project-decisions-shop", tags=["project:desk"])
    make_model(bank, "project-conventions", tags=["project:shop"])
    job = previewed(people.owner, bank, **PROJECT)
    assert told(job) == {
        "user-preferences": "create",
        "project-conventions": "exists",
        "project-decisions": "other-tags",
    }
    assert row_of(job, "project-conventions").model == "project-conventions"  # of an earlier agent, with equal tags
    assert row_of(job, "project-decisions").found_tags == ["project:desk"]


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


def test_a_bank_that_is_not_on_its_server_is_not_made_by_it(bank: Bank, line: LyingTransport, people: People) -> None:
    lost = factories.make_bank("never-made", server=bank.server)
    factories.grant(people.owner, lost, Role.ADMIN)
    job = seeded(people.owner, lost, bank, mode="global")
    rows = {row.bank: (row.status, row.reason) for row in seeding.rows_of(job)}
    assert rows[lost.pk] == ("left", seeding.NO_BANK)
    assert rows[bank.pk][0] == "create"
    lost.refresh_from_db()
    assert lost.gone_since is not None


def test_the_door_does_not_make_a_bank_either(bank: Bank, line: LyingTransport, people: People) -> None:
    seeded(people.owner, bank, mode="global")
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    line.calls.clear()
    work(bank)
    assert Write.objects.get(kind="seed").state == "attention"
    assert writes_sent(line) == 0


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


def test_the_row_keeps_the_question_and_the_seeds_trigger(bank: Bank, line: LyingTransport, people: People) -> None:
    make_seed(trigger=AUTOMATIC)
    seeded(people.owner, bank, mode="global", seeds=["glossary"])
    write = Write.objects.get(kind="seed")
    assert write.request == Blob.of("Which words mean something special here?")
    assert write.params["trigger"] == AUTOMATIC
