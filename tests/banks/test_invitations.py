"""Invitations: somebody new gets an account, a role, and a link that is shown once and opens it once."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from banks import access
from banks.models import AdminEvent, Bank, Role
from memadmin.accounts import links
from memadmin.accounts.models import LoginLink, User
from tests import factories
from tests.banks.admin_pages import SignIn, events, get, post, text_after
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

LENA = {"login": "lena@example.org", "name": "Lena Núñez", "new": "on", "role": Role.REVIEWER}


def link_on(page: str) -> str:
    found = re.search(r"<textarea[^>]*>(http://testserver/accounts/link/[\w-]+/)</textarea>", page)
    assert found, page
    return found[1].removeprefix("http://testserver")


@pytest.fixture
def invited(bank: Bank, people: People, as_user: SignIn) -> str:
    """The path of the link that Ann was given for Lena."""
    return link_on(text_of(post(as_user(people.owner), "bank-member-add", bank.pk, **LENA)))


def test_somebody_new_comes_in_by_the_link_and_chooses_a_password(bank: Bank, people: People, invited: str) -> None:
    lena = User.objects.get(username="lena@example.org")
    assert (lena.email, lena.display_name, lena.has_usable_password()) == ("lena@example.org", "Lena Núñez", False)
    assert access.role_on(lena, bank) == Role.REVIEWER
    assert events() == [("invited", "Ann Weber", "Lena Núñez")]
    client = Client()
    welcome = text_of(client.get(invited))  # type: ignore[arg-type]
    assert "Welcome, <bdi>Lena Núñez</bdi>" in welcome
    answer = client.post(invited)
    assert answer["Location"] == "/accounts/password/set/"
    new = "staple staple staple"
    assert client.post(answer["Location"], {"password1": new, "password2": new})["Location"] == "/"
    again = Client().post("/accounts/login/", {"login": "lena@example.org", "password": new})
    assert again["Location"] == "/"
    assert bank.name in text_of(get(client, "bank-list"))


def test_the_link_works_once_and_for_three_days(people: People, invited: str) -> None:
    now = timezone.now()
    with time_machine.travel(now + timedelta(days=3, seconds=1), tick=False):
        assert Client().post(invited).status_code == 410
    with time_machine.travel(now + timedelta(days=2, hours=23), tick=False):
        assert Client().post(invited).status_code == 302
        assert Client().post(invited).status_code == 410


def test_the_link_is_shown_once_and_kept_nowhere(
    bank: Bank, people: People, as_user: SignIn, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    client = as_user(people.owner)
    answer = post(client, "bank-member-add", bank.pk, **LENA)
    token = link_on(text_of(answer)).split("/")[-2]
    assert (answer["Cache-Control"], answer.status_code) == ("no-store", 200)
    rows = [str(row) for model in (AdminEvent, LoginLink) for row in model.objects.values()]
    again = post(client, "bank-member-add", bank.pk, **LENA)  # the page loaded again
    pages = [text_of(get(client, "bank-members", bank.pk)), text_of(again), str(client.cookies), caplog.text, *rows]
    assert not [text for text in pages if token in text]
    assert again.status_code == 422
    assert LoginLink.objects.count() == 1


def test_a_mistyped_name_makes_no_account(bank: Bank, people: People, as_user: SignIn) -> None:
    answer = post(as_user(people.owner), "bank-member-add", bank.pk, **{**LENA, "new": ""})
    assert answer.status_code == 422
    assert "Nobody signs in by this." in text_of(answer)
    assert not User.objects.filter(username__startswith="lena").exists()


@pytest.mark.parametrize("login", ["root", "ROOT", "root@example.org", "Root@Example.org"])
def test_no_link_is_made_for_an_account_that_exists(bank: Bank, people: People, as_user: SignIn, login: str) -> None:
    """Else an admin of a bank could sign in as an operator."""
    people.operator.email = "root@example.org"
    people.operator.save()
    answer = post(as_user(people.owner), "bank-member-add", bank.pk, **{**LENA, "login": login})
    assert (answer.status_code, "Somebody signs in by this already." in text_of(answer)) == (422, True)
    added = post(as_user(people.owner), "bank-member-add", bank.pk, login=login, role=Role.VIEWER)
    assert added.status_code == 303  # they got the role, and nobody got a link
    assert not LoginLink.objects.exists()


@pytest.mark.parametrize("login", ["a b", "lena@", "@", "<b>", "a\u202eb", "x" * 151, ""])
def test_what_is_no_name_is_refused(bank: Bank, people: People, as_user: SignIn, login: str) -> None:
    answer = post(as_user(people.owner), "bank-member-add", bank.pk, **{**LENA, "login": login})
    assert answer.status_code == 422
    assert not LoginLink.objects.exists()


def test_two_accounts_that_fit_are_not_guessed(bank: Bank, people: People, as_user: SignIn) -> None:
    for username in ("one", "two"):
        factories.make_user(username, email="same@example.org")
    answer = post(as_user(people.owner), "bank-member-add", bank.pk, login="same@example.org", role=Role.VIEWER)
    assert "More than one account fits." in text_of(answer)
    assert events() == []


def test_an_operator_makes_a_new_link_and_the_old_one_is_dead(people: People, as_user: SignIn, invited: str) -> None:
    lena = User.objects.get(username="lena@example.org")
    client = as_user(people.operator)
    assert "Make a new invitation link" in text_of(get(client, "person-detail", lena.pk))
    fresh = link_on(text_of(post(client, "person-invite", lena.pk)))
    assert Client().post(invited).status_code == 410
    assert Client().post(fresh).status_code == 302
    assert events()[-1] == ("invited-again", "root", "Lena Núñez")


def test_who_has_been_here_gets_no_invitation(people: People, as_user: SignIn, invited: str) -> None:
    lena = User.objects.get(username="lena@example.org")
    Client().post(invited)
    client = as_user(people.operator)
    for person in (lena, people.owner, people.operator):
        assert "No link was made." in text_after(client, post(client, "person-invite", person.pk))
    assert "Make a new invitation link" not in text_of(get(client, "person-detail", lena.pk))


def test_only_operators_make_new_links(people: People, as_user: SignIn, invited: str) -> None:
    """Whoever invited may not open an account again that others have given roles since."""
    lena = User.objects.get(username="lena@example.org")
    for person, status in ((people.owner, 403), (people.viewer, 403), (people.stranger, 404)):
        assert post(as_user(person), "person-invite", lena.pk).status_code == status
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people.operator)
    assert get(strict, "person-invite", lena.pk).status_code == 405
    assert post(strict, "person-invite", lena.pk).status_code == 403
    assert links.find(invited.split("/")[-2]) is not None


def test_a_hostile_name_is_refused_or_harmless(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    refused = post(client, "bank-member-add", bank.pk, **{**LENA, "name": "L\u202eena"})
    assert (refused.status_code, "hidden characters" in text_of(refused)) == (422, True)
    page = text_of(post(client, "bank-member-add", bank.pk, **{**LENA, "name": XSS}))
    assert_harmless(page)
    assert_harmless(text_of(Client().get(link_on(page))))  # type: ignore[arg-type]
    assert_harmless(text_of(get(client, "bank-members", bank.pk)))
