"""Wrong passwords are counted by name and by address, in the database, and nothing is learnt from it."""

from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.conf import LazySettings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone

from banks.models import AdminEvent
from memadmin.accounts import limits
from memadmin.accounts.models import SignInTries
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, text_after
from tests.conftest import People
from tests.racing import at_once
from tests.reviews.pages import text_of

PASSWORD = "correct horse battery"
TOO_MANY = "Too many wrong tries"


def sign_in(name: str, password: str = "wrong", address: str = "192.0.2.1") -> str:
    """The page that answers; empty when it worked."""
    said = {"login": name, "password": password}
    answer = Client().post("/accounts/login/", said, REMOTE_ADDR=address)
    return "" if answer.status_code == 302 else answer.content.decode()


def test_after_five_wrong_tries_even_the_right_password_waits_from_everywhere(people: People) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for number in range(5):
            assert "do not match" in sign_in("mira", address=f"192.0.2.{number}")
        page = sign_in("mira", PASSWORD, address="198.51.100.7")
        assert f"{TOO_MANY} for this name. Wait 15 min" in page
        clock.shift(timedelta(minutes=14))
        assert f"{TOO_MANY} for this name. Wait 1 min" in sign_in("MIRA ", PASSWORD)
        clock.shift(timedelta(minutes=1))
        assert sign_in("mira", PASSWORD) == ""


def test_a_name_that_nobody_has_is_locked_like_any_other(people: People) -> None:
    with time_machine.travel(timezone.now(), tick=False):
        pages = [[sign_in(name) for _ in range(6)] for name in ("mira", "nobody")]
    assert [TOO_MANY in page for page in pages[0]] == [TOO_MANY in page for page in pages[1]] == [False] * 5 + [True]


def test_a_right_password_begins_anew(people: People) -> None:
    for _ in range(3):
        for _ in range(4):
            sign_in("mira")
        assert sign_in("mira", PASSWORD) == ""
    assert not SignInTries.objects.filter(key__startswith="name:").exists()


def test_an_address_that_tries_many_names_is_locked(people: People, settings: LazySettings) -> None:
    settings.SIGNIN_ADDRESS_TRIES = 8
    for number in range(8):
        sign_in(f"name{number}")
    assert f"{TOO_MANY} from your network address" in sign_in("mira", PASSWORD)
    assert sign_in("mira", PASSWORD, address="198.51.100.7") == ""


def test_right_passwords_do_not_wash_an_address_clean(people: People, settings: LazySettings) -> None:
    settings.SIGNIN_ADDRESS_TRIES = 4
    for number in range(4):
        assert sign_in("mira", PASSWORD) == ""
        sign_in(f"name{number}")
    assert "network address" in sign_in("mira", PASSWORD)


def test_an_ipv6_network_is_one_address(people: People, settings: LazySettings) -> None:
    settings.SIGNIN_ADDRESS_TRIES = 3
    for number in range(3):
        sign_in(f"name{number}", address=f"2001:db8:1:2::{number + 1}")
    assert "network address" in sign_in("mira", PASSWORD, address="2001:db8:1:2:ffff::9")
    assert sign_in("mira", PASSWORD, address="2001:db8:1:3::1") == ""


def test_what_was_typed_as_a_name_is_not_stored(people: People) -> None:
    sign_in("my-password-in-the-wrong-field")
    assert not [row for row in SignInTries.objects.all() if "password" in row.key]


def test_old_counts_are_forgotten(people: People) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        sign_in("nobody")
        clock.shift(timedelta(days=2))
        sign_in("mira", address="198.51.100.7")
    assert SignInTries.objects.count() == 2


def test_a_one_time_link_opens_a_locked_account(people: People) -> None:
    from memadmin.accounts import links

    for _ in range(6):
        sign_in("mira")
    assert Client().post(links.issue(user=people.reviewer).path)["Location"] == "/"


def test_an_operator_sees_and_ends_a_lock(people: People, as_user: SignIn) -> None:
    for _ in range(5):
        sign_in("mira")
    client = as_user(people.operator)
    assert "Locked until" in text_of(get(client, "person-detail", people.reviewer.pk))
    page = text_after(client, post(client, "person-unlock", people.reviewer.pk))
    assert "Locked until" not in page
    assert sign_in("mira", PASSWORD) == ""
    event = AdminEvent.objects.get()
    assert (event.what, event.actor, event.person) == ("unlocked", people.operator, people.reviewer)
    assert post(as_user(people.owner), "person-unlock", people.reviewer.pk).status_code == 403


def test_the_terminal_unlocks_a_person_an_address_or_all(people: People, settings: LazySettings) -> None:
    settings.SIGNIN_ADDRESS_TRIES = 5
    for _ in range(5):
        sign_in("mira")
    unlock("mira")
    assert "network address" in sign_in("mira", PASSWORD)
    unlock("--address", "192.0.2.1")
    assert sign_in("mira", PASSWORD) == ""
    assert AdminEvent.objects.get().actor is None
    sign_in("ben")
    unlock("--all")
    assert not SignInTries.objects.exists()
    for wrong in ([], ["mira", "--all"], ["nobody"]):
        with pytest.raises(CommandError):
            unlock(*wrong)


def test_both_names_of_a_person_are_unlocked(db: None) -> None:
    lena = factories.make_user("lena", email="lena@example.org")
    for name in ("lena", "lena@example.org"):
        for _ in range(5):
            sign_in(name)
    assert limits.unlock(lena) == 2
    assert sign_in("lena@example.org", PASSWORD) == ""


def unlock(*arguments: str) -> None:
    call_command("unlock", *arguments, stdout=StringIO())


@pytest.mark.django_db(transaction=True)
def test_of_many_tries_at_once_no_more_than_the_limit_are_looked_at() -> None:
    def one() -> bool:
        try:
            limits.take(name="mira", address="192.0.2.1")
        except limits.TooMany:
            return False
        return True

    assert sum(bool(each) for each in at_once(*[one] * 12, often_switched=False)) == 5
