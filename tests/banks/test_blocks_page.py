"""The page about what agents get of a bank's models: which of them was cut, and by how much."""

import re

import pytest
from django.core.cache import cache

from banks.blocks.models import MINIMUM
from banks.models import Bank, Server
from tests import factories
from tests.banks.admin_pages import SignIn, url
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import make_model
from tests.banks.models_page import address, cells, part, tried
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nothing_was_read_before() -> None:
    cache.clear()


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
    page = cells(part(client, "block", bank, tags="project:shop\nteam:x"))
    assert "The block is empty." in page
    assert "1 model has tags, and none of these." in page
    assert f"at least {MINIMUM:,} characters" in cells(part(client, "block", bank, max_chars="3"))


def test_a_tag_with_a_comma_is_one_tag(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    store(bank, "notes/shop.md", "Cleo keeps the ledger.", tags=["shop,desk"])
    make_model(bank, tags=["shop,desk"])
    client = as_user(people.viewer)
    assert "Everything fits." in part(client, "block", bank, tags="shop,desk")
    assert "The block is empty." in cells(part(client, "block", bank, tags="shop\ndesk"))


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
