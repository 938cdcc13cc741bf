"""An edit of what changed meanwhile: what was typed is never lost."""

import html
import re

import pytest
from django.http import HttpResponse
from django.test import Client

from banks.models import Bank, Write
from reviews.models import ReviewEntry
from reviews.services import decide
from tests import factories
from tests.conftest import People
from tests.reviews.happenings import CASES, OLD, form_of, happen
from tests.reviews.pages import HTMX, shown, text_of


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    return factories.make_entry(bank, "notes/a.md", text=OLD)


def typed_in(answer: HttpResponse) -> str:
    return html.unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", text_of(answer), re.DOTALL)[1])


def save(client: Client, entry: ReviewEntry, form: dict[str, str], headers: dict[str, str], **more: str):
    return client.post(f"/reviews/{entry.pk}/edit/", {**form, "text": "\nMy own words", **more}, headers=headers)


@pytest.mark.parametrize("headers", [HTMX, {}], ids=["htmx", "no script"])
@pytest.mark.parametrize("happened", list(CASES))
def test_an_edit_of_what_changed_keeps_what_was_typed(
    happened: str, headers: dict[str, str], entry: ReviewEntry, people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    form = form_of(client, entry)
    happen(happened, entry, people)
    answer = save(client, entry, form, headers)
    assert answer.status_code == 409
    assert CASES[happened][0] in text_of(answer)
    assert typed_in(answer) == "\nMy own words"
    assert "Your text against what is there" in text_of(answer)
    assert not Write.objects.filter(kind="edit", actor=people.reviewer).exists()
    assert ("Reopen with my text" in text_of(answer)) == (happened in ("approved", "by time", "being deleted"))
    now = ReviewEntry.objects.get()
    again = save(client, entry, {**form, "version": str(now.version), "text_hash": now.text_id}, headers, do="reopen")
    assert again.status_code == 200
    assert typed_in(again) == "\nMy own words"
    now.refresh_from_db()
    assert now.state == "pending"
    assert f'name="version" value="{now.version}"' in text_of(again)


@pytest.mark.parametrize("fate", ["sent", "deleted", "loading", "taken back meanwhile"])
def test_where_one_cannot_go_on_the_text_is_still_there(fate: str, entry: ReviewEntry, people: People, as_user) -> None:
    client, form = as_user(people.reviewer), shown(entry)
    decide.delete(user=people.owner, entry_id=entry.pk, version=1, text_hash=entry.text_id)
    version = 2
    if fate == "sent":
        Write.objects.update(state="sending")
    elif fate == "deleted":
        Write.objects.update(state="done")
        ReviewEntry.objects.update(state="deleted")
    elif fate == "loading":
        ReviewEntry.objects.update(state="pending", load_state="loading")
    else:
        version = 1
    answer = save(client, entry, {**form, "version": version}, HTMX, do="reopen")
    assert answer.status_code == 409
    assert typed_in(answer) == "\nMy own words"


def test_another_text_from_a_second_tab_is_not_taken_for_a_second_click(
    entry: ReviewEntry, people: People, as_user
) -> None:
    client, form = as_user(people.reviewer), shown(entry)
    assert save(client, entry, form, {}, text="First tab").status_code == 303
    assert save(client, entry, form, {}, text="First tab").status_code == 303
    answer = save(client, entry, form, {}, text="Second tab")
    assert answer.status_code == 409
    assert "Second tab" in text_of(answer)
    assert "<bdi>You</bdi> edited this memory" in text_of(answer)
    assert Write.objects.count() == 1
