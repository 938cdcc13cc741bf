"""`/metrics`: who may read it, that it says what there is, and that it names nothing that is somebody's."""

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from banks import connections, measures
from banks.demo import DemoServer, DemoTransport
from banks.hindsight import HindsightError
from banks.models import Write
from tests import factories
from tests.banks.log_rows import make_row
from tests.faults.kept import Broker
from tests.stack.support import wait_for

TOKEN = {"HTTP_AUTHORIZATION": "Bearer for prometheus"}


@pytest.fixture
def asked(client: Client, db: None, settings):
    """{(name, labels as text): value}"""
    settings.METRICS_TOKEN = "for prometheus"

    def ask() -> dict[str, float]:
        answer = client.get("/metrics", **TOKEN)
        assert (answer.status_code, answer["Content-Type"].split(";")[0]) == (200, "text/plain")
        found = {}
        for family in text_string_to_metric_families(answer.content.decode()):
            for sample in family.samples:
                labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
                found[f"{sample.name}{{{labels}}}"] = sample.value
        return found

    return ask


@pytest.fixture(scope="module")
def broker():
    """A Redis of our own: the suite on SQLite has none."""
    folder = Path(tempfile.mkdtemp(prefix="memadmin-metrics-"))  # short: it holds a socket
    with Broker(folder) as started:
        wait_for(started.socket.exists)
        yield started
    shutil.rmtree(folder)


def test_it_says_what_waits_and_for_how_long(asked, bank):
    factories.make_entry(bank, enqueued_at=timezone.now() - timedelta(hours=2))
    factories.make_entry(bank, state="approved")
    make_row(bank, state=Write.State.ATTENTION)
    found = asked()
    assert found["memadmin_entries{state=pending}"] == 1
    assert found["memadmin_entries{state=held}"] == 0
    assert 7_100 < found["memadmin_oldest_pending_seconds{}"] < 7_300
    assert found["memadmin_writes{state=attention}"] == 1
    assert found["memadmin_server_up{server=" + bank.server.name + "}"] in {0, 1}


def test_it_says_how_long_decisions_take_until_they_have_an_effect(asked, bank):
    now = timezone.now()
    for seconds in (1, 2, 30):
        make_row(
            bank, state=Write.State.DONE, slot=f"s{seconds}", created=now - timedelta(seconds=seconds), finished=now
        )
    make_row(bank, state=Write.State.DONE, slot="", created=now - timedelta(hours=1), finished=now)  # nothing was sent
    make_row(
        bank, state=Write.State.DONE, slot="old", created=now - timedelta(days=2), finished=now - timedelta(days=1)
    )
    found = asked()
    assert found["memadmin_effects{}"] == 3
    assert [found[f"memadmin_effect_seconds{{quantile={share}}}"] for share in (0.5, 0.99)] == [2, 30]


def test_an_empty_installation_has_numbers_too(asked):
    found = asked()
    assert (found["memadmin_oldest_pending_seconds{}"], found["memadmin_effects{}"]) == (0, 0)
    assert "memadmin_worker_heartbeat_seconds{queue=door}" in found


def test_it_says_how_a_server_answers_whoever_asked_it(asked, bank, broker, settings):
    settings.REDIS_URL = broker.url
    connections.TRANSPORTS[bank.server.base_url] = DemoTransport(DemoServer())
    with connections.client_for(bank.server) as client:
        client.list_banks()
        with pytest.raises(HindsightError):
            client.list_documents("no such bank")
    name = bank.server.name
    found = asked()
    assert found[f"memadmin_upstream_total{{outcome=ok,server={name}}}"] == 1
    assert found[f"memadmin_upstream_total{{outcome=NotFound,server={name}}}"] == 1
    assert found[f"memadmin_upstream_seconds_count{{server={name}}}"] == 2
    assert found[f"memadmin_upstream_seconds_bucket{{le=+Inf,server={name}}}"] == 2


def test_without_redis_it_says_the_rest_and_asking_a_server_works(asked, bank, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    measures.note(bank.server.pk, 0.1, measures.OK)
    found = asked()
    assert not [name for name in found if name.startswith("memadmin_upstream")]
    assert found["memadmin_entries{state=pending}"] == 0


@pytest.mark.parametrize("given", [{}, {"HTTP_AUTHORIZATION": "Bearer wrong"}, {"HTTP_AUTHORIZATION": "Bearer "}])
def test_without_the_token_there_is_no_such_page(client, db, settings, given):
    settings.METRICS_TOKEN = "for prometheus"
    assert client.get("/metrics", **given).status_code == 404


def test_where_no_token_is_set_nobody_has_it(client, db, settings):
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer ").status_code == 404


def test_it_names_no_bank_document_or_person(client, bank, people, settings):
    settings.METRICS_TOKEN = "for prometheus"
    factories.make_entry(bank, "a-secret-document")
    text = client.get("/metrics", **TOKEN).content.decode()
    for hidden in (bank.bank_id, bank.name, "a-secret-document", people.owner.username, bank.server.base_url):
        assert hidden not in text


def test_it_costs_the_same_number_of_queries_for_many(client, bank, settings, django_assert_max_num_queries):
    settings.METRICS_TOKEN = "for prometheus"
    for number in range(20):
        factories.make_entry(factories.make_bank(f"b{number}", server=factories.make_server(name=f"s{number}")))
    with django_assert_max_num_queries(12):
        assert client.get("/metrics", **TOKEN).status_code == 200
