"""Skipping is no decision: the memory stands at the end of one's own lists, until it is another one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from banks.models import Bank
from reviews.models import Decision, ReviewEntry
from reviews.selectors import queue
from reviews.selectors.filters import Filters
from reviews.services.seen import open_card
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, text_of


@pytest.fixture
def memories(bank: Bank) -> list[ReviewEntry]:
    now = timezone.now()
    return [factories.make_entry(bank, f"{n}.md", expires_at=now + timedelta(hours=n)) for n in range(1, 5)]


def listed(people: People, who: str = "reviewer") -> list[str]:
    return [row.document_id for row in queue.entry_page(people_of(people, who), Filters(), None, size=25).rows]


def people_of(people: People, who: str) -> object:
    """As the next request has them: nothing is kept from the last one."""
    return type(people.reviewer).objects.get(pk=getattr(people, who).pk)


def test_it_stands_at_the_end_of_my_list_and_of_nobody_elses(
    memories: list[ReviewEntry], people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    answer = client.post(f"/reviews/{memories[0].pk}/skip/")
    assert answer["Location"] == f"/reviews/{memories[1].pk}/"
    client.post(f"/reviews/{memories[2].pk}/skip/")
    assert listed(people) == ["2.md", "4.md", "1.md", "3.md"]
    assert listed(people, "owner") == ["1.md", "2.md", "3.md", "4.md"]
    assert text_of(client.get("/reviews/")).count(">skipped<") == 2
    client.post(f"/reviews/{memories[0].pk}/skip/")
    assert listed(people) == ["2.md", "4.md", "3.md", "1.md"]
    assert not Decision.objects.exists()


def test_the_next_card_is_in_the_answer_and_says_what_was_skipped(
    memories: list[ReviewEntry], people: People, as_user
) -> None:
    open_card(user=people.reviewer, entry=memories[0])
    answer = as_user(people.reviewer).post(f"/reviews/{memories[0].pk}/skip/", headers=HTMX)
    assert answer["HX-Push-Url"] == f"/reviews/{memories[1].pk}/"
    assert "Skipped 1.md: it is at the end of your list. Next: 2.md" in text_of(answer)
    assert ReviewEntry.objects.get(pk=memories[0].pk).lease_user is None


def test_when_all_were_skipped_it_begins_with_the_first_of_them(
    memories: list[ReviewEntry], people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    for entry in memories:
        answer = client.post(f"/reviews/{entry.pk}/skip/")
    assert answer["Location"] == f"/reviews/{memories[0].pk}/"
    page = text_of(client.get(f"/reviews/{memories[1].pk}/"))
    assert f'href="/reviews/{memories[2].pk}/"' in page  # the next one
    for entry in memories[:3]:
        client.post(f"/reviews/{entry.pk}/approve/", {"version": 1, "text_hash": entry.text_id})
    alone = client.post(f"/reviews/{memories[3].pk}/skip/", headers=HTMX)
    assert "Nothing else is left on this list." in text_of(alone)


def test_another_version_has_its_place_again(memories: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    client.post(f"/reviews/{memories[0].pk}/skip/")
    ReviewEntry.objects.filter(pk=memories[0].pk).update(version=2)
    assert listed(people)[0] == "1.md"


def test_only_what_belongs_to_the_list_stands_at_its_end(memories: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    client.post(f"/reviews/{memories[0].pk}/skip/")
    assert client.get(f"/reviews/{memories[0].pk}/skip/").status_code == 405
    assert as_user(people.stranger).post(f"/reviews/{memories[0].pk}/skip/").status_code == 404
    user = people_of(people, "reviewer")
    assert queue.entry_page(user, Filters(state="flagged"), None).rows == []
    assert queue.entry_page(user, Filters(q="1.md"), None).rows[-1].pk == memories[0].pk
