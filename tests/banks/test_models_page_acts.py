"""Acts on the mental models of a bank: each says what it does, is confirmed, and is one row of the log."""

import re

import httpx
import pytest
from django.utils import timezone

from banks import connections, jobs
from banks.mental import trials
from banks.models import Bank, Job, ModelPin, Write
from tests.banks.admin_pages import SignIn, text_after, url
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import AUTOMATIC, make_model, models_in, work
from tests.banks.models_page import address, confirm, part
from tests.conftest import People
from tests.reviews.pages import HTMX, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_history_shows_what_each_change_did_and_offers_earlier_texts(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    first = make_model(bank)
    store(bank, "notes/b.md", "Cleo audits the ledger.")
    client = as_user(people.owner)
    assert confirm(client, "refresh", bank, model="m1").status_code == 303
    work(bank)
    page = text_of(client.get(address("history", bank, model="m1")))
    assert "Cleo audits the ledger." in page
    assert "the first text" in page
    version = re.search(r"version=([0-9a-f]{64})", page)
    assert version is not None
    said = text_of(client.get(address("pin", bank, model="m1", version=version[1])))
    assert "Servers take no text of a model" in said
    assert confirm(client, "pin", bank, model="m1", version=version[1]).status_code == 303
    work(bank)
    assert ModelPin.objects.get().text.text == first.content
    shown = part(client, "detail", bank, model="m1")
    assert "Pinned by" in shown
    assert "The bank has another text" in shown


def test_row_049_a_refresh_is_one_model_said_and_confirmed(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    for model_id in ("m1", "m2"):
        make_model(bank, model_id)
    client = as_user(people.reviewer)
    page = text_of(client.get(address("refresh", bank, model="m1")))
    assert "asks its language model, which costs" in page
    assert not Write.objects.exists()
    assert "It is being done" in text_after(client, confirm(client, "refresh", bank, model="m1"))
    assert [write.params["model"] for write in Write.objects.all()] == ["m1"]
    assert confirm(client, "refresh", bank, model="m1").status_code == 422  # it is under way


def test_the_page_looks_again_while_a_text_is_written_and_not_for_ever(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    client = as_user(people.reviewer)
    assert "looks=" not in part(client, "detail", bank, model="m1")
    confirm(client, "refresh", bank, model="m1")
    assert "looks=1" in part(client, "detail", bank, model="m1")
    assert "looks=" not in part(client, "detail", bank, model="m1", looks="40")
    work(bank)
    assert "looks=" not in part(client, "detail", bank, model="m1")


def test_refreshing_many_is_counted_and_confirmed(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    for model_id in ("a", "b"):
        make_model(bank, model_id, trigger=AUTOMATIC)
    make_model(bank, "curated")
    client = as_user(people.reviewer)
    here = url("bank-model-refresh-all", bank.pk)
    page = text_of(client.get(here))
    assert "Refresh 2 models" in page
    assert "curated" not in page
    assert client.post(here, {"total": "3"}).status_code == 409
    assert client.post(here, {"total": "2"}).status_code == 303
    assert Write.objects.filter(kind="model-refresh").count() == 2
    assert client.post(here, {"total": "2"}).status_code == 409  # a second click


def test_a_delete_says_what_goes_and_its_row_puts_it_back(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    client = as_user(people.owner)
    assert "The server forgets the model" in text_of(client.get(address("delete", bank, model="m1")))
    assert confirm(client, "delete", bank, model="m1").status_code == 303
    work(bank)
    assert models_in(bank) == {}
    row = Write.objects.get(kind="model-delete")
    assert "Put the model back" in text_of(client.get(url("write-detail", row.pk)))
    text_after(client, client.post(url("write-put-model-back", row.pk)))
    work(bank)
    assert set(models_in(bank)) == {"m1"}


def test_what_changed_on_the_way_is_not_deleted(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    client = as_user(people.owner)
    answer = client.post(url("bank-model-delete", bank.pk), {"model": "m1", "seen": "0" * 64})
    assert (answer.status_code, "not what it was on screen" in text_of(answer)) == (409, True)
    assert not Write.objects.exists()


def test_who_may_what(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    make_model(bank)
    acts = {
        people.viewer: {"refresh": 403, "refresh-all": 403, "try": 403, "delete": 403, "pin": 403, "unpin": 403},
        people.reviewer: {"delete": 403, "pin": 403, "unpin": 403},
        people.stranger: dict.fromkeys(("refresh", "refresh-all", "try", "delete", "pin", "unpin"), 404),
    }
    for person, expected in acts.items():
        for act, status in expected.items():
            assert as_user(person).post(url(f"bank-model-{act}", bank.pk), {"model": "m1"}).status_code == status
    assert as_user(people.stranger).get(address("list", bank)).status_code == 404
    assert "Delete…" not in part(as_user(people.reviewer), "detail", bank, model="m1")
    assert not Write.objects.exists()
    assert not Job.objects.exists()


def test_a_try_is_work_for_a_worker_and_changes_nothing(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    before = make_model(bank)
    store(bank, "notes/b.md", "Cleo audits the ledger.")
    line.calls.clear()
    client = as_user(people.reviewer)
    answer = client.post(url("bank-model-try", bank.pk), {"model": "m1"})
    assert "Waiting for a worker" in text_after(client, answer)
    assert line.calls == []
    assert client.post(url("bank-model-try", bank.pk), {"model": "m1"})["Location"] == answer["Location"]
    assert jobs.run(Job.objects.get(kind=trials.KIND).pk) == "done"
    told = client.get(answer["Location"], headers=HTMX)
    assert told.status_code == 286
    assert "A refresh would change the text." in text_of(told)
    assert "Cleo audits the ledger." in text_of(told)
    assert models_in(bank)["m1"].content == before.content


def test_what_was_tried_is_kept_for_a_day(bank: Bank, line: LyingTransport, people: People) -> None:
    make_model(bank)
    job = trials.start(user=people.reviewer, bank=bank, model_id="m1")
    assert jobs.run(job.pk) == "done"
    assert trials.forget() == 0
    Job.objects.update(created=timezone.now() - trials.KEPT_FOR)
    trials.forget()
    assert not Job.objects.exists()


def test_a_server_without_dry_runs_says_so(bank: Bank, line: LyingTransport, people: People) -> None:
    class Older(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/dry-run-refresh"):
                return httpx.Response(404, json={"detail": "Not Found"})
            return line.handle_request(request)

    make_model(bank)
    connections.TRANSPORTS[bank.server.base_url] = Older()
    job = trials.start(user=people.reviewer, bank=bank, model_id="m1")
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert job.error == trials.NOT_OFFERED
