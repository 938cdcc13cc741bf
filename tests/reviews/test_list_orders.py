"""The orders of the queue, what stands above the rows that share something, and a person's own lists."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from banks.models import Bank, Role
from reviews.models import ReviewEntry, SavedView
from reviews.selectors import queue
from reviews.selectors.filters import Filters
from reviews.services import saved_views
from reviews.text import project_of
from tests import factories
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of


@pytest.fixture
def memories(bank: Bank, people: People) -> dict[str, ReviewEntry]:
    now, other = timezone.now(), factories.make_bank("other", name="Another bank")
    factories.grant(people.reviewer, other, Role.REVIEWER)
    rows = {
        "a": {"risk": 21, "session": "s2", "project": "shop"},
        "b": {"bank": other, "session": "s1", "enqueued_at": now - timedelta(days=3)},
        "c": {"risk": 31, "session": "", "project": "atlas", "expires_at": now + timedelta(hours=1)},
        "d": {"bank": other, "session": "s2", "project": "shop"},
    }
    return {
        name: factories.make_entry(values.pop("bank", bank), f"{name}.md", **values) for name, values in rows.items()
    }


@pytest.mark.parametrize(
    ("order", "expected"),
    [("risk", "cabd"), ("oldest", "bacd"), ("bank", "acbd"), ("project", "cadb"), ("session", "badc"), ("", "cabd")],
)
@pytest.mark.parametrize("who", ["reviewer", "operator"])
def test_the_list_and_the_way_from_card_to_card_have_the_same_order(
    memories: dict[str, ReviewEntry], people: People, order: str, expected: str, who: str
) -> None:
    user, filters = getattr(people, who), Filters(order=order)
    expected_pks = [memories[name].pk for name in expected]
    assert [row.pk for row in queue.entry_page(user, filters, None).rows] == expected_pks
    walked = [queue.first(user, filters)]
    while len(walked) < 4:
        entry = ReviewEntry.objects.get(pk=walked[-1])
        previous, following = queue.neighbours(user, filters, entry)
        assert previous == (walked[-2] if len(walked) > 1 else None)
        walked.append(following[0])
    assert walked == expected_pks


def test_rows_of_a_session_stand_together_under_it(memories: dict[str, ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    page = text_of(client.get("/reviews/?order=session"))
    headings = re.findall(r'class="row-group"><h2>(?:<code class="id">)?([^<]+)', page)
    assert headings == ["s1", "s2", "No session"]
    narrowed = text_of(client.get("/reviews/?session=s2&order=session"))
    assert re.findall(r"open-(\d+)", narrowed) == [str(memories[name].pk) for name in "ad"]
    assert text_of(client.get("/reviews/bulk/approve/?session=s2")).count("Approve 2 memories") > 0
    banks = text_of(client.get("/reviews/?order=bank"))
    assert banks.count('class="row-group"') == 2
    assert "row-group" not in text_of(client.get("/reviews/?order=risk"))


def test_a_view_is_saved_found_beside_the_lists_and_removed(bank: Bank, people: People, as_user) -> None:
    factories.make_entry(bank, session=XSS)
    client = as_user(people.reviewer)
    answer = client.post(
        "/reviews/views/?order=risk&age=soon&nonsense=1", {"name": "  Riskiest  today <b>"}, follow=True
    )
    page = text_of(answer)
    assert_harmless(page)
    assert 'href="/reviews/?age=soon&amp;order=risk" aria-current="true"><bdi>Riskiest today &lt;b&gt;</bdi>' in page
    view = SavedView.objects.get()
    assert "Riskiest today" not in text_of(as_user(people.owner).get("/reviews/?order=risk"))
    assert as_user(people.owner).post(f"/reviews/views/{view.pk}/remove/").status_code == 303
    assert SavedView.objects.exists()
    client = as_user(people.reviewer)
    client.post(f"/reviews/views/{view.pk}/remove/")
    assert not SavedView.objects.exists()
    assert_harmless(text_of(client.get("/reviews/?order=session")))


def test_a_view_without_a_name_or_a_question_is_refused(bank: Bank, people: People, monkeypatch) -> None:
    monkeypatch.setattr(saved_views, "MOST", 1)
    saved_views.save(user=people.reviewer, name="One", query="?age=soon")
    for name, query in [("", "?age=soon"), ("n" * 61, "?age=soon"), ("Two", "?nonsense=1"), ("Two", "?order=risk")]:
        with pytest.raises(saved_views.NotSaved):
            saved_views.save(user=people.reviewer, name=name, query=query)
    saved_views.save(user=people.reviewer, name="One", query="?order=risk")
    assert SavedView.objects.get().query == "?order=risk"


def test_a_project_of_any_length_fits_into_the_index_of_its_order(bank: Bank, people: People, as_user) -> None:
    names = [
        project_of("".join(chr(0x4E00 + (number * 7919) % 20_000) for number in range(1_500))),
        project_of("x" * 2000),
    ]
    assert [len(name) for name in names] == [666, 1000]
    for name in names:
        factories.make_entry(bank, project=name, session="".join(chr(0x1F300 + n) for n in range(300)))
    page = text_of(as_user(people.reviewer).get("/reviews/?order=project"))
    assert page.count('class="row-group"') == 2
