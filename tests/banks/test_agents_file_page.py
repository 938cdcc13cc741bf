"""A file of instructions before and after: what its markers become, and that nothing of it is stored or changed."""

import pytest

from banks import jobs
from banks.blocks import trials
from banks.models import Bank, FrozenBlock, Job, Server
from tests.banks.admin_pages import SignIn, url
from tests.banks.conftest import LyingTransport
from tests.banks.mental import make_model
from tests.banks.models_page import cells, tried
from tests.conftest import People
from tests.reviews.pages import HTMX, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_file_is_shown_before_and_after_and_nothing_is_stored(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank, "user-profile")
    text = (
        "# Me\r\n<!-- hindsight:user -->\r\n<!-- hindsight:user model: user-profile -->\r\n"
        "<!-- hindsight:user query: tabs? limit: 2 -->\r\n<!-- hindsight:user bank: x -->\r\n"
        "<!-- hindsight:user model: none -->\r\nWrite <!-- hindsight:user --> so.\r\n<!-- hindsight:user\r\n"
    )
    line.calls.clear()
    page = cells(text_of(tried(as_user(people.viewer), bank, text)))
    assert "6 markers" in page
    assert "2 facts" in page
    assert "Ann keeps the ledger." in page
    assert "what the bank recalls for: tabs?" in page
    assert "refused, and removed" in page
    assert "cannot name a bank" in page
    assert "The bank has no such mental model." in page
    assert "left as it is" in page
    assert "being recalled" in page
    assert {method for method, _ in line.calls} == {"GET"}
    assert not FrozenBlock.objects.exists()
    assert "# Me" not in str(Job.objects.get().params)


def test_what_a_query_recalls_is_asked_by_a_worker_and_then_stands_in_its_place(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client, text = as_user(people.viewer), "# Me\n<!-- hindsight:user query: who keeps the ledger? limit: 1 -->\nEnd"
    for _ in range(2):  # who asks twice waits for the same
        assert "Waiting for a worker" in text_of(tried(client, bank, text))
    job = Job.objects.get(kind=trials.KIND)
    here = url("agents-recalled", job.pk)
    assert "hx-get" in text_of(client.get(here, headers=HTMX))
    assert jobs.run(job.pk) == "done"
    answer = client.get(here, headers=HTMX)
    assert answer.status_code == 286
    part_ = text_of(answer)
    assert "Ann keeps the ledger." in part_
    assert f'name="recalled" value="{job.pk}"' in part_
    assert "Ann keeps the ledger." in text_of(client.get(here))
    posted = {"bank": bank.pk, "text": text, "recalled": job.pk}
    page = cells(text_of(client.post(url("agents-file"), posted)))
    assert "1 fact" in page
    assert "Ann keeps the ledger." in page
    assert "being recalled" not in page
    assert Job.objects.count() == 1


def test_what_another_person_recalled_or_another_bank_is_not_used(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    text = "<!-- hindsight:user query: who keeps the ledger? -->"
    tried(as_user(people.viewer), bank, text)
    job = Job.objects.get(kind=trials.KIND)
    assert jobs.run(job.pk) == "done"
    other = as_user(people.reviewer)
    assert other.get(url("agents-recalled", job.pk)).status_code == 404
    for given in (str(job.pk), "x", "9" * 30, ""):
        page = text_of(other.post(url("agents-file"), {"bank": bank.pk, "text": text, "recalled": given}))
        assert "Ann keeps the ledger." not in page


def test_a_recall_that_fails_says_so(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    client = as_user(people.viewer)
    tried(client, bank, "<!-- hindsight:user query: who keeps the ledger? -->")
    line.cut_before.append("POST")
    job = Job.objects.get(kind=trials.KIND)
    assert jobs.run(job.pk) == "failed"
    page = cells(text_of(client.get(url("agents-recalled", job.pk))))
    assert "It could not be recalled. The server does not answer." in page


def test_a_bank_that_cannot_be_read_leaves_a_note_and_no_hole(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    Server.objects.filter(pk=bank.server_id).update(health=Server.Health.REFUSED)
    page = cells(text_of(tried(as_user(people.viewer), bank, "<!-- hindsight:user -->")))
    assert "not known just now" in page
    assert "The server refuses our key." in page
    assert line.calls == []


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
