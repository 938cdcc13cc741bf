"""The pages about what agents get: which model was cut and by how much, and a file of instructions before and after."""

import re
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from banks import jobs
from banks.blocks import trials
from banks.blocks.models import MINIMUM
from banks.models import Bank, FrozenBlock, Job, Server
from tests import factories
from tests.banks.admin_pages import SignIn, url
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import make_model
from tests.banks.models_page import address, part
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nothing_was_read_before() -> None:
    cache.clear()


def cells(page: str) -> str:
    """The words of a page, with one space between."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def tried(client: Client, bank: Bank, text: str) -> Any:
    return client.post(url("agents-file"), {"bank": bank.pk, "text": text})


def test_the_page_asks_for_the_block_and_works_without_a_script(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank, name="What we know")
    line.calls.clear()
    client = as_user(people.viewer)
    assert "now=1" in text_of(client.get(address("block", bank)))
    assert line.calls == []
    for page in (text_of(client.get(address("block", bank, now="1"))), part(client, "block", bank)):
        assert "Everything fits." in page
        assert "&lt;mental_models&gt;" in page
        assert "What we know" in page


def test_it_says_which_model_was_cut_and_by_how_much(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    store(bank, "notes/long.md", " ".join(f"The ledger has page {at} of {at + 1}." for at in range(60)))
    make_model(bank, name="Long")
    page = cells(part(as_user(people.viewer), "block", bank, max_chars=str(MINIMUM)))
    assert "Not everything fits" in page
    given, chars, missing = (
        int(each.replace(",", "")) for each in re.findall(r"cut ([\d,]+) of ([\d,]+) ([\d,]+)", page)[0]
    )
    assert given + missing == chars
    assert 0 < given < MINIMUM


def test_an_empty_block_says_why(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    client = as_user(people.viewer)
    assert "no mental model with a text" in part(client, "block", bank)
    make_model(bank, tags=["project:desk"])
    page = cells(part(client, "block", bank, tags="project:shop, team:x"))
    assert "The block is empty." in page
    assert "1 model has tags, and none of these." in page
    assert f"at least {MINIMUM:,} characters" in cells(part(client, "block", bank, max_chars="3"))


def test_a_bank_that_cannot_be_read_has_no_empty_block(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    make_model(bank)
    client = as_user(people.viewer)
    Server.objects.filter(pk=bank.server_id).update(health=Server.Health.REFUSED)
    page = cells(part(client, "block", bank))
    assert "Nothing is known of the mental models just now" in page
    assert "The block is empty" not in page
    Server.objects.filter(pk=bank.server_id).update(health=Server.Health.OK)
    assert "Everything fits." in part(client, "block", bank)
    Server.objects.filter(pk=bank.server_id).update(health=Server.Health.REFUSED)
    page = cells(part(client, "block", bank))
    assert "This is what the bank said" in page
    assert "Everything fits." in page


def test_wrong_numbers_are_said_to_be_wrong(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    answer = as_user(people.viewer).get(address("block", bank, max_chars="-5", now="1"))
    assert answer.status_code == 422
    assert line.calls == []


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


def test_no_other_bank_is_offered_or_read(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    other = factories.make_bank("secret-bank")
    client = as_user(people.viewer)
    assert "secret-bank" not in text_of(client.get(url("agents-file")))
    assert tried(client, other, "<!-- hindsight:user -->").status_code == 404
    assert as_user(people.stranger).get(address("block", bank)).status_code == 404


def test_foreign_text_stays_text(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    store(bank, "notes/x.md", f"The ledger says {XSS} and more.")
    make_model(bank, name=XSS, source_query=f"ledger {XSS}")
    client = as_user(people.owner)
    assert_harmless(part(client, "block", bank))
    marked = f"{XSS}\n<!-- hindsight:user -->\n<!-- hindsight:user model: {XSS} -->\n<!-- hindsight:user {XSS}"
    assert_harmless(text_of(tried(client, bank, marked)))
