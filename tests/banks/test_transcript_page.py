"""A session of an agent by hand: the file, what it becomes, and the confirmation that queues it."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from banks import kept_files
from banks.models import Bank, RetainItem
from tests import factories
from tests.banks.transcripts import as_file, header, pi, plain, talk
from tests.conftest import People

SESSION = as_file(
    header(),
    pi("a", None, "user", "<memories>Ann is ill.</memories>Move Ann to Lyon."),
    pi("b", "a", "assistant", [{"type": "text", "text": "I will."}, {"type": "toolCall", "id": "1", "name": "ls"}]),
    "{ torn",
)


@pytest.fixture(autouse=True)
def folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return tmp_path / "uploads"


@pytest.fixture
def web(people: People, as_user: Any) -> Client:
    client: Client = as_user(people.reviewer)
    return client


def send(web: Client, bank: Bank, data: bytes = SESSION, **fields: Any) -> HttpResponse:
    upload = SimpleUploadedFile("session.jsonl", data)
    given = {"bank": bank.pk, "mode": "full-session", "every": 3, "overlap": 0, "file": upload, **fields}
    return web.post(reverse("banks:transcript-new"), given)  # type: ignore[return-value]  # the test client's own


def confirm(web: Client, page: HttpResponse, **fields: Any) -> HttpResponse:
    context = page.context  # type: ignore[attr-defined]  # of the test client
    said = context["form"].cleaned_data
    names = ("format", "mode", "every", "overlap", "session")
    given = {**{name: said[name] for name in names}, "bank": said["bank"].pk, "kept": context["kept"], **fields}
    return web.post(reverse("banks:transcript-confirm"), given, follow=True)  # type: ignore[return-value]


def test_a_session_is_shown_and_stored_when_it_is_confirmed(web: Client, bank: Bank, folder: Path) -> None:
    page = send(web, bank)
    said = page.content.decode()
    assert "1 document for" in said
    assert "pi session" in said
    assert "line 4" in said
    assert "Move Ann to Lyon." in said
    assert "Ann is ill." not in said
    assert not RetainItem.objects.exists()
    answer = confirm(web, page)
    assert "1 memory queued." in answer.content.decode()
    item = RetainItem.objects.get()
    assert (item.bank, item.document_id, item.metadata) == (bank, "s-1", {"session_id": "s-1"})
    assert item.timestamp.startswith("2026-08-19T10:00:00")
    assert "Move Ann to Lyon.\n[user:end]" in item.content.text
    assert list(folder.iterdir()) == []


def test_windows_are_a_document_each(web: Client, bank: Bank) -> None:
    confirm(web, send(web, bank, as_file(*talk(5)), mode="last-turn", every=2, overlap=1))
    items = RetainItem.objects.order_by("pk")
    assert [item.document_id.rpartition("-")[0] for item in items] == ["t-1"] * 3
    assert [item.content.text.count("[role: user]") for item in items] == [2, 3, 2]


def test_a_second_confirmation_stores_nothing_more(web: Client, bank: Bank) -> None:
    page = send(web, bank)
    confirm(web, page)
    assert "Nothing was stored now" in confirm(web, page).content.decode()
    assert RetainItem.objects.count() == 1


def test_a_file_of_somebody_else_cannot_be_confirmed(web: Client, bank: Bank, people: People, as_user: Any) -> None:
    page = send(web, bank)
    assert "Nothing was stored now" in confirm(as_user(people.owner), page).content.decode()
    assert not RetainItem.objects.exists()
    confirm(web, page)
    assert RetainItem.objects.count() == 1


@pytest.mark.parametrize("kept", ["", "x", "../../etc/passwd"])
def test_a_name_that_was_not_given_out_is_no_file(web: Client, bank: Bank, kept: str) -> None:
    assert "Nothing was stored now" in confirm(web, send(web, bank), kept=kept).content.decode()


def test_banks_of_people_are_not_offered_and_take_nothing(web: Client, bank: Bank, people: People) -> None:
    page = send(web, bank)
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.reviewer)
    assert send(web, bank).status_code == 422
    confirm(web, page)
    assert not RetainItem.objects.exists()


@pytest.mark.parametrize("name", ["banks:transcript-new", "banks:transcript-confirm"])
def test_readers_may_not_and_strangers_do_not_learn(name: str, bank: Bank, people: People, as_user: Any) -> None:
    statuses = [
        as_user(person).post(reverse(name), {"bank": bank.pk}).status_code
        for person in (people.viewer, people.stranger)
    ]
    assert statuses == [403, 404]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "Neither a pi session"),
        (b"not a session\n", "Neither a pi session"),
        (as_file(plain("user", "Move Ann.")), "does not name its session"),
    ],
)
def test_what_cannot_become_documents_says_why(web: Client, bank: Bank, folder: Path, data: bytes, said: str) -> None:
    page = send(web, bank, data)
    assert page.status_code == 422
    assert said in page.content.decode()
    assert list(folder.iterdir()) == []


def test_a_session_in_which_nothing_was_said_has_no_button(web: Client, bank: Bank) -> None:
    page = send(web, bank, as_file(header(), pi("a", None, "user", ".")))
    assert "Nothing was said in it" in page.content.decode()
    assert "Retain 0" not in page.content.decode()


def test_a_document_that_is_too_large_is_named_before_anything_is_stored(
    web: Client, bank: Bank, settings: LazySettings
) -> None:
    settings.RETAIN_ITEM_BYTES = 60
    page = send(web, bank)
    assert "Choose windows of a few turns" in page.content.decode()
    assert "at most 60 in one item" in page.content.decode()
    confirm(web, page)
    assert not RetainItem.objects.exists()


def test_a_file_that_is_too_large_is_refused_in_words(web: Client, bank: Bank, settings: LazySettings) -> None:
    settings.TRANSCRIPT_MAX_BYTES = 10
    page = send(web, bank)
    assert page.status_code == 413
    assert "The file is larger than 10 bytes" in page.content.decode()


def test_what_waits_for_nobody_goes_after_an_hour(folder: Path) -> None:
    name = kept_files.keep([b"x"], kind="session", most=10)
    assert kept_files.remove_strays("session") == 0
    old = time.time() - kept_files.STRAY_AFTER - 60
    os.utime(folder / name, (old, old))
    assert kept_files.remove_strays("session", wanted={name}) == 0
    assert kept_files.remove_strays("session") == 1


def test_hostile_text_is_shown_and_does_not_run(web: Client, bank: Bank) -> None:
    hostile = as_file(plain("user", "<script>alert(1)</script> \u202eMove"), plain("<b>x</b>", "y"))
    said = send(web, bank, hostile, session="<i>s</i>").content.decode()
    assert "<script>alert" not in said
    assert "<b>x" not in said
    assert "<i>s" not in said
    assert "\u202e" not in said


def test_another_bank_is_not_reached_by_the_confirmation(web: Client, bank: Bank) -> None:
    other = factories.make_bank()
    assert confirm(web, send(web, bank), bank=other.pk).status_code == 404
    assert not RetainItem.objects.exists()
