"""The page of one's own mails, and the link that switches them off without signing in."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from memadmin.accounts import people as accounts
from memadmin.accounts.models import User
from reviews.models import NoticeChoice
from reviews.services import notices
from tests.conftest import People
from tests.reviews.pages import text_of

URL = "/settings/notifications/"
CHOICE = {"digest": "on", "soon": "on", "hour": "7", "time_zone": "Europe/Berlin"}


@pytest.fixture
def choice(people: People) -> NoticeChoice:
    notices.choose(user=people.reviewer, digest=True, soon=True, hour=8, time_zone="UTC")
    return NoticeChoice.objects.get()


def test_a_person_chooses_for_themselves(people: People, as_user: Callable[..., Client]) -> None:
    client = as_user(people.reviewer)
    assert client.post(URL, {**CHOICE, "user": people.viewer.pk}).status_code == 303
    choice = NoticeChoice.objects.get()
    assert (choice.user, choice.digest, choice.soon, choice.hour) == (people.reviewer, True, True, 7)
    assert 'value="Europe/Berlin" selected' in text_of(client.get(URL))
    client.post(URL, {**CHOICE, "digest": "", "soon": ""})
    choice.refresh_from_db()
    assert (choice.digest, choice.soon) == (False, False)


def test_who_has_no_address_names_one(people: People, as_user: Callable[..., Client], settings: Any) -> None:
    settings.MAIL_ON = True
    User.objects.filter(pk=people.reviewer.pk).update(email="")
    client = as_user(people.reviewer)
    assert "no e-mail address" in text_of(client.get(URL))
    assert client.post(URL, {**CHOICE, "email": "no address"}).status_code == 422
    assert client.post(URL, {**CHOICE, "email": "mira@example.org"}).status_code == 303
    page = text_of(client.get(URL))
    assert ("no e-mail address" in page, "mira@example.org" in page) == (False, True)
    assert NoticeChoice.objects.get().address == "mira@example.org"


def test_an_address_that_was_only_typed_in_is_nobodys_name(people: People, as_user: Callable[..., Client]) -> None:
    """Else whoever comes first would get the roles, and the sign-in, that are meant for its owner."""
    User.objects.filter(pk=people.reviewer.pk).update(email="")
    as_user(people.reviewer).post(URL, {**CHOICE, "email": "ceo@example.org"})
    assert accounts.find("ceo@example.org") == []
    assert User.objects.get(pk=people.reviewer.pk).email == ""
    User.objects.filter(pk=people.reviewer.pk).update(email="mira@example.org")  # an operator's comes first
    assert NoticeChoice.objects.get().address == "mira@example.org"


def test_the_same_once_more_changes_no_time(choice: NoticeChoice, people: People) -> None:
    notices.choose(user=people.reviewer, digest=True, soon=True, hour=8, time_zone="UTC")
    before = choice.chosen_at
    choice.refresh_from_db()
    assert choice.chosen_at == before


@pytest.mark.parametrize(
    "change", [{"hour": "24"}, {"hour": "x"}, {"time_zone": "../../etc/passwd"}, {"time_zone": ""}]
)
def test_what_is_no_hour_or_zone_is_refused(people: People, as_user: Callable[..., Client], change: Any) -> None:
    assert as_user(people.reviewer).post(URL, {**CHOICE, **change}).status_code == 422
    assert not NoticeChoice.objects.exists()


def test_it_is_for_signed_in_people() -> None:
    assert Client().get(URL)["Location"].startswith("/accounts/login/")


def test_without_a_mail_server_the_page_says_so(people: People, as_user: Callable[..., Client], settings: Any) -> None:
    settings.MAIL_ON = False
    assert "No mail is sent." in text_of(as_user(people.reviewer).get(URL))


def test_the_link_switches_off_by_a_post_alone(choice: NoticeChoice) -> None:
    client = Client(enforce_csrf_checks=True)
    link = f"/mail/off/{choice.off_token}"
    page = client.get(link)
    assert (page.status_code, "Switch them off" in text_of(page)) == (200, True)
    choice.refresh_from_db()
    assert choice.digest is True  # scanners of mail open links
    for _ in range(2):
        assert client.post(link, {"List-Unsubscribe": "One-Click"}).status_code == 200
    choice.refresh_from_db()
    assert (choice.digest, choice.soon) == (False, False)
    assert not client.cookies


@pytest.mark.parametrize("token", ["x", "a" * 300])
def test_another_link_switches_nothing_off(choice: NoticeChoice, token: str) -> None:
    for ask in (Client().get, Client().post):
        assert ask(f"/mail/off/{token}").status_code == 404
    choice.refresh_from_db()
    assert choice.digest is True
