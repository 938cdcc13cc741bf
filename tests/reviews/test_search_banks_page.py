"""The page of the banks' own search: asked by a post, shown with the rights of who looks now."""

from typing import Any

import pytest
from django.test import Client

from banks import jobs
from banks.models import Bank, Job, Role
from banks.services import bank_search
from tests import factories
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.known_failures.world import loaded
from tests.reviews.pages import HTMX, XSS, assert_harmless, links, text_of

__all__ = ["line"]
pytestmark = pytest.mark.django_db
HERE = "/search/?kind=banks&q="


def ask(client: Client, words: str, **more: Any) -> tuple[Job, str]:
    """(the ended job, its address)"""
    answer = client.post("/search/ask/", {"q": words, **more})
    assert answer.status_code == 303
    job = Job.objects.filter(kind=bank_search.KIND).latest("pk")
    jobs.run(job.pk)
    return job, answer["Location"]


def test_asked_by_a_post_and_shown_as_it_comes(bank: Bank, people: People, as_user: Any, line: LyingTransport) -> None:
    client = as_user(people.viewer)
    page = text_of(client.get(HERE + "ledger"))
    assert "Ask 1 bank</button>" in page
    assert "The days are left out here." in text_of(client.get(HERE + "ledger&since=2026-01-01"))
    assert (Job.objects.count(), line.calls) == (0, [])  # looking asks nobody
    fragment = text_of(client.post("/search/ask/", {"q": "ledger"}, headers=HTMX))
    job = Job.objects.get()
    assert f'hx-get="/search/asked/{job.pk}/"' in fragment
    assert "<b>0</b> asked so far" in fragment
    entry = loaded(bank, "notes/a.md", "Ann keeps the ledger. Ben reads it.")
    jobs.run(job.pk)
    answer = client.get(f"/search/asked/{job.pk}/", headers=HTMX)
    assert answer.status_code == 286
    page = text_of(answer)
    assert page.count("<mark>ledger</mark>") == 2  # of the fact, and of the text that is stored here
    assert "<b>1</b> of 1 bank has it" in page
    assert f"/reviews/{entry.pk}/" in links(page)
    for address in (HERE + "ledger", f"/search/asked/{job.pk}/"):
        whole = text_of(client.get(address))
        assert "Ann keeps the <mark>ledger</mark>" in whole
        assert 'value="ledger"' in whole


def test_more_than_is_shown_leads_to_the_lists_of_the_bank(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    for number in range(7):
        store(bank, f"d{number}", f"The kettle {number} boils.")
    client = as_user(people.viewer)
    _, address = ask(client, "kettle")
    page = text_of(client.get(address))
    assert "All 7 facts in this bank" in page
    assert f"/banks/{bank.pk}/facts/?q=kettle" in links(page)
    assert f"/banks/{bank.pk}/documents/?q=kettle" in links(page)
    assert f"/banks/{bank.pk}/documents/document/?document=d6" in links(page)


def test_who_looks_sees_what_they_may_see_now(bank: Bank, people: People, as_user: Any, line: LyingTransport) -> None:
    other = factories.make_bank("other", server=bank.server)
    membership = factories.grant(people.viewer, other, Role.VIEWER)
    store(other, "s.md", "The secret ledger is here.")
    client = as_user(people.viewer)
    _, address = ask(client, "ledger")
    assert "The secret" in text_of(client.get(address))
    membership.delete()
    for fetched in (client.get(address), client.get(address, headers=HTMX), client.get(HERE + "ledger")):
        page = text_of(fetched)
        assert "Ann keeps the" in page
        assert "secret" not in page
        assert "of 1 bank has it" in page
    for who in (people.owner, people.stranger):
        assert as_user(who).get(address).status_code == 404
        assert as_user(who).post(f"{address}stop/").status_code == 404
    assert Client().post("/search/ask/", {"q": "ledger"}).status_code == 302
    stranger = as_user(people.stranger)
    ask(stranger, "ledger")
    assert "There is no bank to ask." in text_of(stranger.get("/search/?kind=banks&q=x1"))


def test_banks_that_could_not_be_asked_are_named_with_the_reason(
    bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    gone = factories.make_bank("gone", name="Old bank", server=bank.server)
    factories.grant(people.viewer, gone, Role.VIEWER)
    client = as_user(people.viewer)
    _, address = ask(client, "nowhere")
    page = text_of(client.get(address))
    assert "<b>1 bank could not be asked.</b> It is not on its server any more." in page
    assert "Old bank" in page
    assert "No bank that answered has it." in page


def test_it_can_be_stopped_and_asked_again(bank: Bank, people: People, as_user: Any, line: LyingTransport) -> None:
    client = as_user(people.viewer)
    address = client.post("/search/ask/", {"q": "ledger"})["Location"]
    assert client.post(f"{address}stop/").status_code == 303
    assert "It was stopped." in text_of(client.get(address))
    assert line.calls == []
    _, again = ask(client, "ledger", again="1")
    assert again != address
    assert "Ann keeps the" in text_of(client.get(again))


@pytest.mark.parametrize("words", [XSS, "\u202e", "%", "a" * 300, "天", '"'])
def test_whatever_is_asked_for_and_answered_stays_text(
    words: str, bank: Bank, people: People, as_user: Any, line: LyingTransport
) -> None:
    store(bank, XSS, f"{XSS} {words} \u202e end.")
    client = as_user(people.viewer)
    if len(words) == 1 and words != "天":
        assert client.post("/search/ask/", {"q": words})["Location"].startswith("/search/?")
        assert "two characters or more" in text_of(client.get(HERE, {"kind": "banks", "q": words}))
        return
    _, address = ask(client, words)
    page = text_of(client.get(address))
    assert_harmless(page)
    assert "<mark>" in page


def test_the_number_of_queries_stays(
    bank: Bank, people: People, as_user: Any, line: LyingTransport, django_assert_max_num_queries: Any
) -> None:
    for number in range(40):
        each = factories.make_bank(f"b{number:02}", name=f"Bank {number:02}", server=bank.server)
        factories.grant(people.viewer, each, Role.VIEWER)
        if number < 30:
            store(each, "d.md", "The ledger is here.")
    client = as_user(people.viewer)
    _, address = ask(client, "ledger")
    with django_assert_max_num_queries(30):
        page = text_of(client.get(address))
    assert page.count('id="h-bank-') == 25
    later = next(link for link in links(page) if "after=" in link)
    assert text_of(client.get(later)).count('id="h-bank-') == 6
