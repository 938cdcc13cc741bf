"""One's own account, accounts without a role, operators made and ended, and when somebody was last here."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import AdminEvent, Bank, Role
from memadmin.accounts import presence
from memadmin.accounts.models import User
from tests import factories
from tests.banks.admin_pages import SignIn, events, get, post, text_after
from tests.conftest import People
from tests.reviews.pages import text_of

WHY = {"reason": "She runs it now."}


def test_everybody_reads_what_they_may_and_what_was_changed_about_them(
    bank: Bank, people: People, as_user: SignIn
) -> None:
    group = factories.make_group("Platform", people.stranger)
    factories.grant_group(group, bank.server, Role.VIEWER)
    post(as_user(people.owner), "bank-member-add", bank.pk, login="eve", role=Role.REVIEWER)
    page = text_of(get(as_user(people.stranger), "account"))
    for said in ("reviewer of", "in <b", "Platform", "all of", "Member added", "Ann Weber"):
        assert said in page, said
    assert "Member added" not in text_of(get(as_user(people.viewer), "account"))
    assert get(Client(), "account").status_code == 302


def test_an_operator_invites_somebody_without_a_role(people: People, as_user: SignIn) -> None:
    group, client = factories.make_group("Platform"), as_user(people.operator)
    answer = post(client, "person-new", login="lena@example.org", name="Lena Berg", group=group.pk)
    page = text_of(answer)
    link = page.split("/accounts/link/")[1].split("/")[0]
    lena = User.objects.get(username="lena@example.org")
    assert (lena.email, lena.memberships.count(), lena.group_members.get().group) == ("lena@example.org", 0, group)
    assert events() == [("invited", "root", "Lena Berg"), ("group-joined", "root", "Lena Berg")]
    assert Client().post(f"/accounts/link/{link}/")["Location"] == "/accounts/password/set/"
    again = text_of(post(client, "person-new", login="LENA@example.org"))
    assert "signs in by this already" in again
    for person, status in ((people.owner, 403), (factories.make_user(), 404)):
        assert post(as_user(person), "person-new", login="x").status_code == status


def test_an_operator_makes_another_and_ends_one(people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    page = text_after(client, post(client, "person-operator", people.owner.pk, **WHY))
    assert "may everything" in page
    assert get(as_user(people.owner), "group-list").status_code == 200
    text_after(client, post(client, "person-operator-end", people.owner.pk, **WHY))
    assert get(as_user(people.owner), "group-list").status_code == 403
    assert [(event.what, event.reason) for event in AdminEvent.objects.order_by("pk")] == [
        ("operator-made", WHY["reason"]),
        ("operator-ended", WHY["reason"]),
    ]


def test_one_operator_remains(people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    assert "from yourself" in text_after(client, post(client, "person-operator-end", people.operator.pk, **WHY))
    for person in (people.owner, people.viewer):
        for view in ("person-operator", "person-operator-end"):
            assert post(as_user(person), view, people.viewer.pk, **WHY).status_code == 403
    assert User.objects.get(is_superuser=True) == people.operator
    assert events() == []


def test_a_closed_account_becomes_no_operator(people: People, as_user: SignIn) -> None:
    User.objects.filter(pk=people.viewer.pk).update(is_active=False)
    client = as_user(people.operator)
    assert "Open it first." in text_after(client, post(client, "person-operator", people.viewer.pk, **WHY))
    assert not User.objects.get(pk=people.viewer.pk).is_superuser


# ── last seen ──────────────────────────────────────────────────────────────────────────────────────────────


def updates(client: Client) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/settings/tokens/").status_code == 200
    return sum('UPDATE "accounts_user"' in query["sql"] for query in queries)


def test_a_page_notes_that_somebody_was_here_every_few_minutes(people: People, as_user: SignIn) -> None:
    now = timezone.now()
    with time_machine.travel(now, tick=False) as clock:
        client = as_user(people.reviewer)
        assert updates(client) == 0  # who has just signed in was just seen
        clock.shift(presence.NOTED_EVERY)
        assert [updates(client) for _ in range(3)] == [1, 0, 0]
        clock.shift(presence.NOTED_EVERY - timedelta(seconds=1))
        assert updates(client) == 0
    assert User.objects.get(pk=people.reviewer.pk).last_seen == now + presence.NOTED_EVERY


@pytest.mark.parametrize("path", ["/healthz", "/accounts/login/"])
def test_what_needs_no_person_asks_for_none(people: People, path: str) -> None:
    assert Client().get(path).status_code == 200
    assert not User.objects.exclude(last_seen=None).exists()


def test_the_team_page_says_when_somebody_was_last_here(people: People, as_user: SignIn) -> None:
    User.objects.filter(pk=people.viewer.pk).update(
        last_login=timezone.now() - timedelta(days=9), last_seen=timezone.now() - timedelta(days=2)
    )
    page = text_of(get(as_user(people.operator), "person-list"))
    assert "seen 2 d" in page
