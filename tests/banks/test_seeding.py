"""Seeding: only what is missing is made, what is there is never touched, and a preview says the same before."""

import httpx
import pytest

from banks import connections
from banks.models import Bank, Blob, Role, Write
from banks.seeds import job as seeding
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


def test_the_row_keeps_the_question_and_the_seeds_trigger(bank: Bank, line: LyingTransport, people: People) -> None:
    make_seed(trigger=AUTOMATIC)
    seeded(people.owner, bank, mode="global", seeds=["glossary"])
    write = Write.objects.get(kind="seed")
    assert write.request == Blob.of("Which words mean something special here?")
    assert write.params["trigger"] == AUTOMATIC
