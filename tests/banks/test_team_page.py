"""The team: who has which role where, accounts shut and opened, every change."""

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks.models import AdminEvent, Bank, Role
from memadmin.accounts import links
from memadmin.accounts.models import LoginLink, User
from tests import factories
from tests.banks.admin_pages import SignIn, events, get, post, text_after
from tests.conftest import People
from tests.reviews.pages import text_of

WHY = {"reason": "She left the company."}
ACTS = ["person-close", "person-reopen", "person-invite"]


def test_an_operator_sees_everybody_and_where_they_have_a_role(bank: Bank, people: People, as_user: SignIn) -> None:
    factories.grant(people.stranger, bank.server, Role.VIEWER)
    page = text_of(get(as_user(people.operator), "person-list"))
    for said in ("Ann Weber", "admin of", bank.bank_id, "all of", bank.server.name, "operator, may everything"):
        assert said in page, said
    assert factories.make_user("nobody").username in text_of(get(as_user(people.operator), "person-list", q="nobod"))


def test_an_admin_sees_the_roles_on_what_they_administer_alone(bank: Bank, people: People, as_user: SignIn) -> None:
    other = factories.make_bank("secret-bank", name="Secret bank")
    factories.grant(people.viewer, other, Role.ADMIN)
    factories.grant(people.stranger, other, Role.ADMIN)
    page = text_of(get(as_user(people.owner), "person-list"))
    assert "Mira Kovač" in page
    assert "ecret bank" not in page
    assert ">eve<" not in page
    assert "person-detail" not in page


def test_a_persons_page_has_all_roles_and_changes(bank: Bank, people: People, as_user: SignIn) -> None:
    post(as_user(people.owner), "bank-member-add", bank.pk, login="eve", role=Role.REVIEWER)
    page = text_of(get(as_user(people.operator), "person-detail", people.stranger.pk))
    assert "reviewer of" in page
    assert "Member added" in page
    assert "Ann Weber" in page.partition("h-changes")[2]


# ── closing an account ─────────────────────────────────────────────────────────────────────────────────────


def test_a_closed_account_is_out_everywhere_and_its_links_are_dead(people: People, as_user: SignIn) -> None:
    laptop, phone, other = as_user(people.reviewer), as_user(people.reviewer), as_user(people.viewer)
    link = links.issue(user=people.reviewer)
    client = as_user(people.operator)
    page = text_after(client, post(client, "person-close", people.reviewer.pk, **WHY))
    assert "signed out everywhere" in page
    for gone in (laptop, phone):
        assert gone.get("/").status_code == 302
    assert other.get("/").status_code == 200
    assert Client().post(link.path).status_code == 410
    assert AdminEvent.objects.get().reason == WHY["reason"]
    assert events() == [("closed", "root", "Mira Kovač")]


def test_an_opened_account_has_its_roles_but_not_its_old_sessions(bank: Bank, people: People, as_user: SignIn) -> None:
    old, link = as_user(people.reviewer), links.issue(user=people.reviewer)
    client = as_user(people.operator)
    post(client, "person-close", people.reviewer.pk, **WHY)
    post(client, "person-reopen", people.reviewer.pk, reason="She is back.")
    assert old.get("/").status_code == 302
    assert Client().post(link.path).status_code == 410
    assert get(as_user(people.reviewer), "bank-list").status_code == 200
    assert [event[0] for event in events()] == ["closed", "reopened"]


def test_a_session_that_began_meanwhile_does_not_come_back(people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    post(client, "person-close", people.reviewer.pk, **WHY)
    late = as_user(people.reviewer)  # a sign-in that was on its way
    assert late.get("/").status_code == 302
    post(client, "person-reopen", people.reviewer.pk, **WHY)
    assert late.get("/").status_code == 302
    assert Session.objects.count() == 1  # the operator's


def test_nobody_closes_their_own_account(people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    page = text_after(client, post(client, "person-close", people.operator.pk, **WHY))
    assert "Another operator can." in page
    assert User.objects.get(pk=people.operator.pk).is_active


def test_closing_says_why_and_happens_once(people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    assert "Say why" in text_after(client, post(client, "person-close", people.viewer.pk))
    for _ in range(2):
        post(client, "person-close", people.viewer.pk, **WHY)
    for _ in range(2):
        post(client, "person-reopen", people.viewer.pk, **WHY)
    assert [event[0] for event in events()] == ["closed", "reopened"]


# ── every change ───────────────────────────────────────────────────────────────────────────────────────────


def test_changes_are_read_page_by_page(bank: Bank, people: People, as_user: SignIn) -> None:
    for number in range(60):
        factories_event(bank, people.owner, number)
    client = as_user(people.owner)
    page = text_of(get(client, "event-list"))
    assert ("number 59" in page, "number 9”" in page, "Older" in page) == (True, False, True)
    older = page.split('rel="next" href="?page=')[1].split('"')[0]
    assert "number 0" in text_of(client.get(f"/team/changes/?page={older}"))  # type: ignore[arg-type]


def test_an_admin_reads_the_changes_of_their_own_banks_alone(bank: Bank, people: People, as_user: SignIn) -> None:
    factories_event(factories.make_bank("secret-bank"), people.operator, 1)
    factories_event(bank, people.operator, 2)
    page = text_of(get(as_user(people.owner), "event-list"))
    assert ("number 2" in page, "secret-bank" in page) == (True, False)
    assert "secret-bank" in text_of(get(as_user(people.operator), "event-list"))


def factories_event(bank: Bank, actor: User, number: int) -> None:
    AdminEvent.objects.create(
        what="policy-changed",
        actor=actor,
        actor_name=actor.display_name,
        server=bank.server,
        server_name=bank.server.name,
        bank=bank,
        bank_name=bank.bank_id,
        reason=f"number {number}",
    )


# ── who may ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("view", "owner"), [("person-list", 200), ("event-list", 200), ("person-detail", 403)])
def test_members_are_refused_and_strangers_see_nothing(people: People, as_user: SignIn, view: str, owner: int) -> None:
    pk = people.viewer.pk if view == "person-detail" else None
    for person, status in ((people.owner, owner), (people.reviewer, 403), (people.viewer, 403), (people.stranger, 404)):
        assert get(as_user(person), view, pk).status_code == status, person
    assert get(Client(), view, pk).status_code == 302


@pytest.mark.parametrize("view", ACTS)
def test_only_operators_touch_accounts_by_posts_from_our_pages(people: People, as_user: SignIn, view: str) -> None:
    for person, status in ((people.owner, 403), (people.viewer, 403), (people.stranger, 404)):
        assert post(as_user(person), view, people.reviewer.pk, **WHY).status_code == status
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people.operator)
    assert get(strict, view, people.reviewer.pk).status_code == 405
    assert post(strict, view, people.reviewer.pk, **WHY).status_code == 403
    assert User.objects.get(pk=people.reviewer.pk).is_active
    assert (events(), LoginLink.objects.count()) == ([], 0)


@pytest.mark.parametrize("who", ["owner", "operator"])
def test_the_list_costs_the_same_with_many_people(bank: Bank, people: People, as_user: SignIn, who: str) -> None:
    client = as_user(getattr(people, who))
    with CaptureQueriesContext(connection) as few:
        get(client, "person-list")
    banks = [factories.make_bank(server=bank.server) for _ in range(12)]
    for number in range(60):
        person = factories.make_user(f"person{number:03}x")
        factories.grant(person, bank, Role.VIEWER)
        if number == 1:
            for each in banks:
                factories.grant(person, each, Role.VIEWER)
                factories.grant(people.owner, each, Role.ADMIN)
    with CaptureQueriesContext(connection) as many:
        page = text_of(get(client, "person-list"))
    assert len(few) == len(many)
    assert "and more" in page
    assert "Later names" in page


def test_links_are_shown_to_whom_they_are_for(bank: Bank, people: People, as_user: SignIn) -> None:
    factories.grant(people.reviewer, bank.server, Role.ADMIN)
    for person, servers, team in (
        (people.stranger, False, False),
        (people.viewer, False, False),
        (people.owner, False, True),
        (people.reviewer, True, True),
        (people.operator, True, True),
    ):
        rail = text_of(as_user(person).get("/")).split('id="rail"')[1].split("</nav>")[0]
        assert ("/servers/" in rail, "/team/" in rail) == (servers, team), person
        assert 'href="/banks/"' in rail
        assert 'href="/settings/account/"' in rail
