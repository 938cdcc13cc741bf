"""Prompts in an imported log: for admins of the bank alone, and each look is a row of the log."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.utils import timezone

from banks import log_index
from banks.models import Bank, Blob, Role, Write
from banks.services import prompts
from memadmin.accounts.models import User
from tests import factories
from tests.conftest import People
from tests.reviews.log_files import entry, import_log, recall, retained, rows
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

SECRET = "hunter2"


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def row(bank: Bank, people: People) -> Write:
    import_log([recall()], people.reviewer, bank)
    return rows()[0]


def test_an_admin_sees_it_after_the_look_was_stored(row: Write, people: People, as_user) -> None:
    client = as_user(people.owner)
    page = text_of(client.get(f"/log/{row.pk}/"))
    assert "The prompt of this recall is private." in page
    assert f'action="/log/{row.pk}/prompt/"' in page
    assert SECRET not in page
    answer = client.post(f"/log/{row.pk}/prompt/")
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert SECRET in text_of(answer)
    (look,) = Write.objects.filter(kind="look")
    assert (look.bank, look.actor, look.undo_of, look.state, look.slot) == (row.bank, people.owner, row, "done", "")
    listing = text_of(as_user(people.viewer).get("/log/"))
    assert f"of row {row.pk}" in listing
    assert "Ann Weber" in listing


def test_each_look_is_a_row(row: Write, people: People, as_user) -> None:
    client = as_user(people.owner)
    for _ in range(3):
        client.post(f"/log/{row.pk}/prompt/", headers=HTMX)
    assert Write.objects.filter(kind="look").count() == 3


def test_a_fragment_is_the_prompt_alone(row: Write, people: People, as_user) -> None:
    answer = as_user(people.owner).post(f"/log/{row.pk}/prompt/", headers=HTMX)
    assert (SECRET in text_of(answer), "<html" in text_of(answer)) == (True, False)
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize(("who", "status"), [("reviewer", 403), ("viewer", 403), ("stranger", 404)])
def test_nobody_else_sees_it_and_nothing_is_logged(row: Write, people: People, as_user, who: str, status: int) -> None:
    client = as_user(getattr(people, who))
    assert client.post(f"/log/{row.pk}/prompt/").status_code == status
    page = text_of(client.get(f"/log/{row.pk}/"))
    assert SECRET not in page
    assert "/prompt/" not in page
    assert not Write.objects.filter(kind="look").exists()


def test_an_admin_of_another_bank_is_a_stranger(row: Write, as_user) -> None:
    elsewhere = factories.make_user("elsewhere")
    factories.grant(elsewhere, factories.make_bank(), Role.ADMIN)
    assert as_user(elsewhere).post(f"/log/{row.pk}/prompt/").status_code == 404


def test_a_look_that_cannot_be_stored_shows_nothing(
    row: Write, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**values: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("banks.writes.record", full)
    with pytest.raises(RuntimeError):
        prompts.look(user=people.owner, write_id=row.pk)


def test_getting_it_is_no_look(row: Write, people: People, as_user) -> None:
    assert as_user(people.owner).get(f"/log/{row.pk}/prompt/").status_code == 405


def test_a_row_without_a_prompt_has_none_to_show(bank: Bank, people: People, as_user) -> None:
    import_log([retained()], people.reviewer, bank)
    assert as_user(people.owner).post(f"/log/{rows()[0].pk}/prompt/").status_code == 404


def test_an_erased_prompt_says_so_and_is_no_look(row: Write, people: People, as_user) -> None:
    Blob.objects.filter(pk=row.private_id).update(data=b"", erased=timezone.now())
    client = as_user(people.owner)
    assert "Its prompt was erased." in text_of(client.get(f"/log/{row.pk}/"))
    assert "Erased." in text_of(client.post(f"/log/{row.pk}/prompt/"))
    assert not Write.objects.filter(kind="look").exists()


@pytest.mark.parametrize("who", ["owner", "operator", "viewer"])
def test_no_list_search_or_export_has_it(row: Write, people: People, as_user, who: str) -> None:
    while log_index.sweep():
        pass
    client = as_user(getattr(people, who))
    found = text_of(client.get("/log/", {"q": SECRET}))
    assert f"/log/{row.pk}/" not in found
    assert f"/log/{row.pk}/" in text_of(client.get("/log/", {"q": "run migrations"}))  # or else nothing is found at all
    for address in ("/log/", "/log/export.jsonl?texts=1", "/log/export.csv?texts=1"):
        answer = client.get(address)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert SECRET.encode() not in body
        assert answer.status_code == 200


def test_what_an_unknown_type_holds_is_private_too(bank: Bank, people: People, as_user) -> None:
    import_log([entry("futuretype", message="hm", prompt=SECRET)], people.reviewer, bank)
    page = text_of(as_user(people.owner).get(f"/log/{rows()[0].pk}/"))
    assert "What else this line holds is private." in page
    assert SECRET not in page


def test_a_hostile_prompt_is_text(bank: Bank, people: People, as_user) -> None:
    import_log([recall(query=XSS, user=XSS, reason=XSS, injectedText=XSS, rawHits=[XSS])], people.reviewer, bank)
    client = as_user(people.owner)
    for page in (client.get("/log/"), client.get(f"/log/{rows()[0].pk}/"), client.post(f"/log/{rows()[0].pk}/prompt/")):
        assert_harmless(text_of(page))


def test_a_person_is_asked_by_name(row: Write, people: People) -> None:
    user: User = people.owner
    write, text = prompts.look(user=user, write_id=row.pk)
    assert (write, text) == (row, "how do we run it? My password is hunter2.")
