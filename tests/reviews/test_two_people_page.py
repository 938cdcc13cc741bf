"""What a card says of the two rules about who approves, and what its buttons do."""

import pytest

from banks.models import Bank
from reviews.models import ReviewEntry
from tests import factories
from tests.banks.admin_pages import SignIn
from tests.conftest import People
from tests.reviews.happenings import List, when
from tests.reviews.pages import HTMX, XSS, assert_harmless, shown, text_of
from tests.reviews.undoing import act

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    Bank.objects.update(two_reviewers=True)
    return factories.make_entry(bank, "notes/1.md", text="Ann came.")


def button(page: str) -> str:
    start = page.index('data-tone="approved" formaction')
    return page[start : page.index("</button>", start)]


def test_the_card_says_what_is_missing(entry: ReviewEntry, people: People, as_user: SignIn) -> None:
    mine, other = as_user(people.reviewer), as_user(people.owner)
    card = f"/reviews/{entry.pk}/"
    assert "0 of 2 approvals." in text_of(mine.get(card))
    answer = mine.post(f"{card}approve/", shown(entry), headers=HTMX)
    assert "It is one of two approvals: another person has to approve it too." in text_of(answer)
    page = text_of(mine.get(card))
    assert "1 of 2 approvals, yours." in page
    assert " disabled" in button(page)
    page = text_of(other.get(card))
    assert "1 of 2 approvals, <bdi>Mira Kovač</bdi>’s." in page
    assert " disabled" not in button(page)
    assert "1 of 2 approvals" in text_of(other.get("/reviews/"))
    other.post(f"{card}approve/", shown(entry))
    page = text_of(mine.get(card))
    assert "of 2 approvals" not in page
    assert "vouched for" in page


def test_a_second_click_is_no_second_person_and_no_fault(entry: ReviewEntry, people: People, as_user: SignIn) -> None:
    client = as_user(people.reviewer)
    for _ in range(2):
        answer = client.post(f"/reviews/{entry.pk}/approve/", shown(entry), follow=True)
        assert answer.status_code == 200
    assert "Your approval counts already" in text_of(answer)
    entry.refresh_from_db()
    assert (entry.state, entry.decisions.count()) == ("pending", 1)


def test_an_approval_is_taken_back_on_the_card(entry: ReviewEntry, people: People, as_user: SignIn) -> None:
    act("approve", people.reviewer, entry)
    client = as_user(people.reviewer)
    assert "Take my approval back" in text_of(client.get(f"/reviews/{entry.pk}/"))
    page = text_of(client.post(f"/reviews/{entry.pk}/undo/", shown(entry), headers=HTMX))
    assert "0 of 2 approvals." in page
    assert "Taken back: notes/1.md is pending again." in page
    assert "take" not in text_of(as_user(people.viewer).get(f"/reviews/{entry.pk}/")).split("of 2 approvals")[1][:200]


def test_a_list_that_is_open_shows_the_first_approval(entry: ReviewEntry, people: People, as_user: SignIn) -> None:
    screen = List(as_user(people.reviewer))
    act("approve", people.owner, entry)
    assert "1 of 2 approvals" in when(text_of(screen.ask()), entry)
    assert screen.ask().status_code == 204


def test_who_wrote_the_text_reads_that_another_has_to_approve(bank: Bank, people: People, as_user: SignIn) -> None:
    Bank.objects.update(bars_writer=True)
    entry = factories.make_entry(bank, text_by=people.reviewer)
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "You wrote this text, or edited it." in page
    assert " disabled" in button(page)
    answer = client.post(f"/reviews/{entry.pk}/approve/", shown(entry), headers=HTMX)
    assert (answer.status_code, "Nothing was changed." in text_of(answer)) == (409, True)
    assert "You wrote this text" not in text_of(as_user(people.owner).get(f"/reviews/{entry.pk}/"))


def test_names_on_the_card_stay_text(entry: ReviewEntry, people: People, as_user: SignIn) -> None:
    people.owner.first_name = XSS
    people.owner.save()
    act("approve", people.owner, entry)
    assert_harmless(text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/")))
