"""The search page: memories, decided facts and rows of the log in one box, and only what one may see."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from banks.models import Bank, Blob, Role
from reviews.selectors import search
from reviews.selectors.search_filters import NO_WORD, ONE_SIGN, TOO_LONG, parse_search
from tests import factories
from tests.banks.log_rows import make_row
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, links, text_of
from tests.reviews.retired import retired
from tests.reviews.test_search import NASTY

pytestmark = pytest.mark.django_db
HERE = "/search/"


def asked(client: Client, q: str, **more: Any) -> str:
    answer = client.get(HERE, {"q": q, **more})
    assert answer.status_code == 200, (q, more)
    return text_of(answer)


def marks(page: str) -> list[str]:
    return re.findall(r"<mark>(.*?)</mark>", page)


def counts(page: str) -> list[str]:
    return re.findall(r'<span class="count">([^<]+)', page.split('id="search-kinds"')[1].split("</nav>")[0])


@pytest.fixture
def stored(bank: Bank) -> dict[str, Any]:
    """One of each kind that speaks of a harbour, and one that does not."""
    factories.make_entry(bank, text="Nothing of the kind.")
    return {
        "memory": factories.make_entry(bank, "notes/harbour.md", text="The old harbour moved to port 5433."),
        "fact": retired(bank, 1, text="The harbour is closed.", reason="it sank"),
        "row": make_row(bank, "notes/c.md", before=Blob.objects.store("We left the harbour at noon.")),
    }


def test_all_kinds_in_one_box_with_the_words_marked(bank: Bank, people: People, as_user, stored) -> None:
    page = asked(as_user(people.viewer), "HARB")
    assert counts(page) == ["1", "1", "1"]
    assert marks(page) == ["harbour", "harbour", "harbour", "harbour"]  # the memory's id too
    assert {f"/reviews/{stored['memory'].pk}/", f"/log/{stored['row'].pk}/"} <= set(links(page))
    assert "moved to port 5433." in page
    assert "Text before:" in page
    assert "“it sank”" in page
    page = asked(as_user(people.viewer), "sank")
    assert (counts(page), marks(page)) == (["0", "1", "0"], ["sank"])
    assert "Reason:" in page


def test_who_may_not_see_a_bank_finds_nothing_of_it(bank: Bank, people: People, as_user, stored) -> None:
    assert counts(asked(as_user(people.stranger), "harbour")) == ["0", "0", "0"]
    assert counts(asked(as_user(people.stranger), "harbour", bank=bank.pk)) == ["0", "0", "0"]
    assert counts(asked(as_user(people.operator), "harbour", bank=bank.pk)) == ["1", "1", "1"]
    person = factories.make_bank(kind="person", person=people.stranger, server=bank.server)
    factories.grant(people.reviewer, bank.server, Role.REVIEWER)
    factories.make_entry(person, text="My harbour.")
    assert counts(asked(as_user(people.stranger), "harbour")) == ["1", "0", "0"]
    assert counts(asked(as_user(people.reviewer), "harbour")) == ["1", "1", "1"]
    bank.memberships.filter(user=people.viewer).delete()
    assert counts(asked(as_user(people.viewer), "harbour")) == ["0", "0", "0"]
    assert Client().get(HERE).status_code == 302


def test_by_bank_server_and_day(bank: Bank, people: People, as_user, stored) -> None:
    other = factories.make_bank()
    factories.grant(people.reviewer, other, Role.VIEWER)
    factories.make_entry(other, text="Another harbour.", enqueued_at=timezone.now() - timedelta(days=9))
    factories.make_entry(other, text="A harbour without a date.", enqueued_at=None)
    client = as_user(people.reviewer)
    assert counts(asked(client, "harbour")) == ["3", "1", "1"]
    assert counts(asked(client, "harbour", bank=other.pk)) == ["2", "0", "0"]
    assert counts(asked(client, "harbour", server=bank.server_id)) == ["1", "1", "1"]
    assert counts(asked(client, "harbour", server=other.server_id, bank=bank.pk)) == ["0", "0", "0"]
    day = (timezone.localdate() - timedelta(days=5)).isoformat()
    assert counts(asked(client, "harbour", since=day)) == ["1", "1", "1"]
    assert counts(asked(client, "harbour", until=day)) == ["1", "0", "0"]
    page = asked(client, "harbour", since="yesterday", bank="x", kind="none")
    for said in ("“yesterday” is no day", "That is no bank.", "Nothing of that kind"):
        assert said in page


def test_erased_and_private_texts_are_never_there(bank: Bank, people: People, as_user, stored) -> None:
    make_row(bank, kind="recall", via="import", private=Blob.objects.store("my harbour prompt"))
    Blob.objects.update(data=b"", erased=timezone.now())  # the words are still in the indexes
    page = asked(as_user(people.operator), "moved 5433")
    assert "port 5433" not in page
    assert "notes/harbour.md" not in page
    for words in ("closed", "noon", "prompt"):
        shown = asked(as_user(people.operator), words).split('id="search-found"')[1]
        assert 'class="row hit"' not in shown
    page = asked(as_user(people.operator), "harbour")  # it still is in the id
    assert marks(page) == ["harbour"]
    assert "(its text is not here)" in page


@pytest.mark.parametrize(("kind", "made"), [("memories", "entry"), ("facts", "fact"), ("log", "row")])
def test_each_kind_page_by_page_in_a_constant_number_of_queries(
    kind: str, made: str, bank: Bank, people: People, as_user, django_assert_max_num_queries
) -> None:
    for number in range(60):
        at = timezone.now() - timedelta(minutes=number)
        if made == "entry":
            factories.make_entry(bank, f"d{number:02}", text="harbour", enqueued_at=at if number < 59 else None)
        elif made == "fact":
            retired(bank, number, document_id=f"d{number:02}", text=f"harbour {number}", at=at)
        else:
            make_row(bank, f"d{number:02}", actor_name="harbour", occurred_at=at, indexed=number == 59)
    for _ in range(60):
        factories.grant(people.viewer, factories.make_bank(server=bank.server), Role.VIEWER)
    client, found, address = as_user(people.viewer), [], f"?q=harb&kind={kind}"
    while address:
        with django_assert_max_num_queries(34):
            page = text_of(client.get(HERE + address))
        found += re.findall(r'title="(d\d\d)"', page)
        address = next((link for link in links(page) if "page=a" in link), "").replace(HERE, "")
    assert found == [f"d{number:02}" for number in range(60)]
    assert "All 60" in asked(client, "harbour")


def test_very_common_words_are_capped_and_walked_in_order(
    bank: Bank, people: People, as_user, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memadmin.fulltext.FEW", 3)
    monkeypatch.setattr(search, "CAP", 4)
    now = timezone.now()
    for number in range(9):
        state = ["pending", "approved", "deleted"][number % 3]
        at = now - timedelta(minutes=number)
        factories.make_entry(bank, f"d{number}", text="harbour", state=state, enqueued_at=at)
        retired(bank, number, document_id=f"f{number}", text="harbour", occurrence=number, at=at)
    factories.make_entry(factories.make_bank(), text="harbour")
    client = as_user(people.viewer)
    page = asked(client, "harbour")
    assert counts(page) == ["4+", "4+", "0"]
    assert re.findall(r'title="([df]\d)"', page) == [f"{kind}{number}" for kind in "df" for number in range(5)]
    assert len(re.findall(r'title="d\d"', asked(client, "harbour", kind="memories"))) == 9


def test_whatever_is_typed_gets_an_answer(bank: Bank, people: People, as_user, stored) -> None:
    client = as_user(people.reviewer)
    factories.make_entry(bank, XSS, text=f"{XSS} a b \u202e right")
    for typed in [*NASTY, XSS]:
        filters = parse_search({"q": f"a {typed}"}).filters
        search.Search(people.reviewer, filters).counts()
    for typed in ["%", "_", "a%b", '"a', "'", "שלום", "天", "a\x00b", "\\", XSS]:
        for kind in ("", "log", "banks"):
            assert_harmless(text_of(client.get(HERE, {"q": typed, "kind": kind} if kind else {"q": typed})))
    assert ONE_SIGN in asked(client, "%")
    page = asked(client, "->")
    assert NO_WORD in page.replace("&#x27;", "'")
    assert "Ask the banks themselves" in page
    assert "Nothing here has these words." not in page
    assert TOO_LONG in asked(client, "harbour " * 30)
    assert "U+202E" in asked(client, "right")
    assert "Any words, in any language." in text_of(client.get(HERE))
    assert "Nothing here has these words." in asked(client, "nowhere")


def test_the_form_leaves_no_empty_fields_in_the_address(people: People, as_user) -> None:
    answer = as_user(people.viewer).get(f"{HERE}?q=harbour&bank=&since=&until=")
    assert (answer.status_code, answer["Location"]) == (302, f"{HERE}?q=harbour")


def test_rows_that_are_not_indexed_yet_are_told(bank: Bank, people: People, as_user, stored) -> None:
    make_row(bank, "harbour", indexed=False)
    page = asked(as_user(people.viewer), "harbour")
    assert "Not in the search yet: 1</b>" in page
    assert "Not in the search yet" not in asked(as_user(people.viewer), "harbour", kind="memories")
