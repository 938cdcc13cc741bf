"""A file of instructions before and after: what its markers become, and what of it is kept."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks import jobs
from banks.blocks import trials
from banks.blocks.preview import MOST_MARKERS
from banks.models import Bank, FrozenBlock, Job, JobItem, Membership
from tests.banks.admin_pages import SignIn, url
from tests.banks.conftest import LyingTransport
from tests.banks.mental import make_model
from tests.banks.models_page import cells, tried
from tests.conftest import People
from tests.reviews.pages import HTMX, text_of

pytestmark = pytest.mark.django_db(transaction=True)


FILE = (
    "# Me\r\n<!-- hindsight:user -->\r\n<!-- hindsight:user model: user-profile -->\r\n"
    "<!-- hindsight:user query: who keeps the ledger? limit: 1 -->\r\n<!-- hindsight:user bank: x -->\r\n"
    "<!-- hindsight:user model: none -->\r\nWrite <!-- hindsight:user --> so.\r\n<!-- hindsight:user\r\n"
)
QUERY = "# Me\n<!-- hindsight:user query: who keeps the ledger? limit: 1 -->\nEnd"


def answered(client: Client, bank: Bank, text: str, job: Job, **more: Any) -> Any:
    return client.post(url("agents-file"), {"bank": bank.pk, "text": text, "told": job.pk}, **more)


def test_a_file_is_shown_before_and_after_once_a_worker_has_asked_the_bank(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank, "user-profile")
    client = as_user(people.viewer)
    line.calls.clear()
    waiting = cells(text_of(tried(client, bank, FILE)))
    assert "6 markers" in waiting
    assert "cannot name a bank" in waiting
    assert "Waiting for a worker" in waiting
    assert "Before and after" not in waiting.replace("Show before and after", "")
    assert line.calls == []
    job = Job.objects.get()
    assert jobs.run(job.pk) == "done"
    assert [method for method, path in line.calls if not path.endswith("/recall")] == ["GET"] * 3
    page = cells(text_of(answered(client, bank, FILE, job)))
    for said in ("2 facts", "1 fact", "Ann keeps the ledger.", "refused, and removed", "left as it is"):
        assert said in page
    assert "The bank has no such mental model." in page
    assert "Waiting for a worker" not in page
    assert Job.objects.count() == 1


def test_of_the_file_only_its_markers_are_kept_and_not_for_long(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    tried(as_user(people.viewer), bank, FILE)
    job = Job.objects.get()
    assert jobs.run(job.pk) == "done"
    kept = f"{job.params} {[bytes(item.raw) for item in job.items.all()]}"
    assert "# Me" not in kept
    assert not FrozenBlock.objects.exists()
    assert trials.forget() == 0
    with time_machine.travel(timezone.now() + trials.KEPT + timedelta(minutes=1), tick=False):
        trials.forget()
    assert not Job.objects.exists()
    assert not JobItem.objects.exists()


def test_the_page_waits_by_itself_and_then_shows_it(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.viewer)
    for _ in range(2):  # who asks twice waits for the same
        assert 'name="told"' in text_of(tried(client, bank, QUERY))
    job = Job.objects.get()
    here = url("agents-told", job.pk)
    assert f'hx-get="{here}"' in text_of(client.get(here, headers=HTMX))
    assert jobs.run(job.pk) == "done"
    answer = client.get(here, headers=HTMX)
    assert answer.status_code == 286
    assert f'hx-post="{url("agents-file")}"' in text_of(answer)
    part_ = text_of(answered(client, bank, QUERY, job, headers=HTMX))
    assert "<html" not in part_
    assert "Ann keeps the ledger." in cells(part_)
    assert "Ann keeps the ledger." in text_of(client.get(here))


def test_a_file_that_was_changed_meanwhile_is_asked_for_anew(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.viewer)
    tried(client, bank, QUERY)
    first = Job.objects.get()
    assert jobs.run(first.pk) == "done"
    longer = f"{QUERY}\n<!-- hindsight:user -->"
    assert "Waiting for a worker" in text_of(answered(client, bank, longer, first))
    second = Job.objects.exclude(pk=first.pk).get()
    assert jobs.run(second.pk) == "done"
    assert "2 facts" in cells(text_of(answered(client, bank, longer, second)))
    empty = answered(client, bank, "", second, headers=HTMX)
    assert (empty.status_code, "Paste the text" in text_of(empty)) == (422, True)


def test_what_another_person_was_told_or_of_another_bank_is_not_used(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    tried(as_user(people.viewer), bank, QUERY)
    job = Job.objects.get()
    assert jobs.run(job.pk) == "done"
    other = as_user(people.reviewer)
    assert other.get(url("agents-told", job.pk)).status_code == 404
    for given in (str(job.pk), "x", "9" * 30, ""):
        page = text_of(other.post(url("agents-file"), {"bank": bank.pk, "text": QUERY, "told": given}))
        assert "Ann keeps the ledger." not in page


def test_a_bank_that_does_not_answer_leaves_a_note_and_no_hole(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client, text = as_user(people.viewer), f"<!-- hindsight:user -->\n{QUERY}"
    tried(client, bank, text)
    line.cut_before.append("POST")
    job = Job.objects.get()
    assert jobs.run(job.pk) == "failed"
    page = cells(text_of(answered(client, bank, text, job)))
    assert "2 facts" in page
    assert "not known just now" in page
    assert "The server does not answer." in page
    assert "[Here stands what the bank says; it is not known just now.]" in page
    assert Job.objects.count() == 1
    alone = cells(text_of(client.get(url("agents-told", job.pk))))
    assert "The bank did not answer all of it. The server does not answer." in alone


def test_who_may_not_read_the_bank_any_more_is_told_nothing(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    tried(as_user(people.viewer), bank, QUERY)
    Membership.objects.filter(user=people.viewer).delete()
    line.calls.clear()
    assert jobs.run(Job.objects.get().pk) == "failed"
    assert line.calls == []


def test_many_markers_ask_the_database_no_more_than_one(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client, asked = as_user(people.viewer), {}
    for many in (1, MOST_MARKERS):
        text = "".join(f"<!-- hindsight:user model: m{at} -->\n" for at in range(many))
        tried(client, bank, text)
        job = Job.objects.latest("pk")
        assert jobs.run(job.pk) == "done"
        with CaptureQueriesContext(connection) as queries:
            assert "no such mental model" in text_of(answered(client, bank, text, job))
        asked[many] = len(queries)
    assert asked[MOST_MARKERS] == asked[1]


def test_a_file_without_markers_stays_as_it_is(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    page = cells(text_of(tried(as_user(people.viewer), bank, "# Rules\n\nBe kind.")))
    assert "No marker" in page
    assert "Both are the same." in page


@pytest.mark.parametrize(("text", "said"), [("", "Paste the text"), ("<!-- hindsight:user -->\n" * 21, "more than 20")])
def test_what_cannot_be_tried_is_said(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn, text: str, said: str
) -> None:
    answer = tried(as_user(people.viewer), bank, text)
    assert (answer.status_code, said in text_of(answer)) == (422, True)
    assert line.calls == []
