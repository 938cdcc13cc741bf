from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from memadmin.accounts import links
from memadmin.accounts.models import LoginLink, User
from tests import factories

NOW = datetime(2026, 3, 16, 10, 44, tzinfo=UTC)


@pytest.fixture
def admin(db: None) -> User:
    return factories.make_user("admin", is_superuser=True)


def test_a_post_spends_the_link_and_signs_in(client: Client, admin: User) -> None:
    link = links.issue(user=admin)

    page = client.get(link.path)
    answer = client.post(link.path)

    assert b"Sign in as admin" in page.content
    assert answer["Location"] == "/"
    assert client.get("/").status_code == 200


def test_looking_at_the_link_does_not_spend_it(admin: User) -> None:
    link = links.issue(user=admin)

    for _ in range(3):
        assert Client().get(link.path).status_code == 200
    assert Client().head(link.path).status_code == 200

    assert Client().post(link.path).status_code == 302


def test_a_link_works_once(client: Client, admin: User) -> None:
    link = links.issue(user=admin)
    Client().post(link.path)

    again = client.post(link.path)

    assert again.status_code == 410
    assert b"memadmin login-link" in again.content
    assert client.get("/").status_code == 302


def test_of_two_who_spend_it_at_the_same_time_one_gets_in(admin: User) -> None:
    token = links.issue(user=admin).path.split("/")[-2]

    assert [links.spend(token), links.spend(token)] == [admin, None]


def test_a_link_is_dead_after_a_quarter_of_an_hour(client: Client, admin: User) -> None:
    with time_machine.travel(NOW, tick=False):
        link = links.issue(user=admin)
    with time_machine.travel(NOW + timedelta(minutes=14, seconds=59), tick=False):
        assert client.get(link.path).status_code == 200
    with time_machine.travel(NOW + timedelta(minutes=15), tick=False):
        assert client.get(link.path).status_code == 410
        assert client.post(link.path).status_code == 410


def test_unknown_and_spent_links_look_the_same(client: Client, admin: User) -> None:
    link = links.issue(user=admin)
    Client().post(link.path)

    unknown = client.get("/accounts/link/made-up/")
    spent = client.get(link.path)

    assert (unknown.status_code, unknown.content) == (spent.status_code, spent.content)


def test_a_closed_account_is_not_opened_by_a_link(client: Client, admin: User) -> None:
    link = links.issue(user=admin)
    User.objects.update(is_active=False)

    assert client.post(link.path).status_code == 410


def test_only_the_hash_is_stored(admin: User) -> None:
    token = links.issue(user=admin).path.split("/")[-2]

    assert token not in str(LoginLink.objects.values().get())


def test_a_post_from_another_site_does_not_spend_it(admin: User) -> None:
    link = links.issue(user=admin)

    assert Client(enforce_csrf_checks=True).post(link.path).status_code == 403
    assert links.find(link.path.split("/")[-2]) is not None
