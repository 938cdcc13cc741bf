"""How rows look that belong together: bulk actions, undone rows, the card and the document of a row."""

from uuid import uuid4

import pytest
from django.urls import reverse

from banks.models import Bank, Write
from tests import factories
from tests.banks.log_rows import make_row, rows_of
from tests.conftest import People
from tests.reviews.pages import text_of

KINDS = ("retain", "retire", "restore", "delete", "approve", "edit", "recall", "error")
LOOKS = dict(zip(KINDS, "↗↓↑✕✓✎↙!", strict=True))


@pytest.mark.parametrize("kind", LOOKS)
def test_a_kind_has_the_arrow_that_people_know(kind: str, bank: Bank, people: People, as_user) -> None:
    row = make_row(bank, kind=kind)
    for path in ("/log/", f"/log/{row.pk}/"):
        page = text_of(as_user(people.viewer).get(path))
        assert f'aria-hidden="true">{LOOKS[kind]}</span>' in page
        assert kind.capitalize() in page


def test_neighbours_of_one_action_stand_on_one_line(bank: Bank, people: People, as_user) -> None:
    group = uuid4()
    rows = [make_row(bank, f"doc-{n}", kind="approve", group=group) for n in range(13)]
    rows.append(make_row(bank, "doc-13", kind="approve", group=group, state="attention", error_text="quota", slot="s"))
    make_row(factories.make_bank(), kind="approve", group=group)  # not for this person
    client = as_user(people.reviewer)
    page = text_of(client.get("/log/"))
    assert f'<a href="/log/?group={group}">Approve: 14 rows of one action</a>' in page
    assert "13 of them on this page" in page
    assert "13 done" in page
    assert "quota" in page.partition("14 rows of one action")[0]  # what needs a person stands by itself
    assert rows_of(client, f"?group={group}") == [row.pk for row in reversed(rows)]
    assert "of them on this page" not in text_of(client.get(f"/log/?group={group}"))
    detail = text_of(client.get(f"/log/{rows[0].pk}/"))
    assert f'<a href="/log/?group={group}">14 rows of one action</a>' in detail


def test_rows_of_one_action_by_themselves_are_rows(bank: Bank, people: People, as_user) -> None:
    make_row(bank, "a", kind="restore", group=uuid4())
    make_row(bank, "b", kind="restore", group=uuid4())
    assert "of one action" not in text_of(as_user(people.viewer).get("/log/"))


def test_a_row_leads_to_its_card_and_to_what_followed(bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank, "notes/a.md")
    row = make_row(bank, kind="retire", fact_ids=["f1"])
    answer = make_row(bank, kind="restore", fact_ids=["f1"], undo_of=row, state="queued", slot="s")
    client = as_user(people.viewer)
    page = text_of(client.get(f"/log/{row.pk}/"))
    assert f'<a href="{reverse("reviews:entry-detail", args=[entry.pk])}">its card</a>' in page
    assert f'<a href="/log/{answer.pk}/">restore, row {answer.pk}</a> queued' in page
    assert f'<a href="/log/{row.pk}/">row {row.pk}</a>' in text_of(client.get(f"/log/{answer.pk}/"))
    assert "its card" not in text_of(client.get(f"/log/{make_row(bank, 'elsewhere').pk}/"))


def test_no_log_and_no_match_have_faces(bank: Bank, people: People, as_user) -> None:
    client = as_user(people.viewer)
    assert "Nothing was done yet." in text_of(client.get("/log/"))
    make_row(bank)
    page = text_of(client.get("/log/?kind=retire"))
    assert "No row matches." in page
    assert '<a class="button" href="/log/">Clear filters</a>' in page


def test_more_rows_than_are_counted_are_said_so(bank: Bank, people: People, as_user, monkeypatch) -> None:
    monkeypatch.setattr("banks.selectors_log.CAP", 3)
    for _ in range(5):
        make_row(bank)
    assert "5 of 3+ rows" in text_of(as_user(people.viewer).get("/log/"))


def test_the_filter_travels_to_the_next_page_and_into_the_files(
    bank: Bank, people: People, as_user, monkeypatch
) -> None:
    for number in range(60):
        Write.objects.create(kind="edit", bank=bank, via="web", state="done", document_id=f"doc-{number}")
    page = text_of(as_user(people.viewer).get("/log/?kind=edit&since=2020-01-01"))
    assert 'href="?kind=edit&amp;since=2020-01-01&amp;page=a' in page
    assert 'href="/log/export.csv?kind=edit&amp;since=2020-01-01"' in page
    assert 'href="/log/export.jsonl?kind=edit&amp;since=2020-01-01&amp;texts=1"' in page
