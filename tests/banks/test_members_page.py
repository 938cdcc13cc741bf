"""Members of a bank or a server: added, changed, removed; the rules; who may."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks import access
from banks.models import AdminEvent, Bank, Membership, Role, Server
from memadmin.accounts.models import User
from tests import factories
from tests.banks.admin_pages import SignIn, events, get, post, role, text_after
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of


def member(person: User, on: Bank | Server) -> Membership:
    return Membership.objects.get(user=person, **({"bank": on} if isinstance(on, Bank) else {"server": on}))


@pytest.fixture
def no_operator(people: People) -> None:
    people.operator.is_superuser = False
    people.operator.save()


def test_the_page_shows_who_may_act_here_and_why(bank: Bank, people: People, as_user: SignIn) -> None:
    factories.grant(factories.make_user("sven", first_name="Sven"), bank.server, Role.REVIEWER)
    page = text_of(get(as_user(people.owner), "bank-members", bank.pk))
    for said in ("Ann Weber", "Mira Kovač", "ben", "reviewer of the whole server", "operator", bank.bank_id):
        assert said in page, said
    assert ">eve<" not in page


def test_somebody_with_an_account_is_added_by_name_or_address(bank: Bank, people: People, as_user: SignIn) -> None:
    people.stranger.email = "eve@example.org"
    people.stranger.save()
    client = as_user(people.owner)
    answer = post(client, "bank-member-add", bank.pk, login="EVE@example.org", role=Role.REVIEWER)
    assert "eve is reviewer here." in text_after(client, answer)
    assert access.role_on(people.stranger, bank) == Role.REVIEWER
    assert events() == [("member-added", "Ann Weber", "eve")]


def test_a_role_is_changed_and_the_change_is_kept(bank: Bank, people: People, as_user: SignIn) -> None:
    client, found = as_user(people.owner), member(people.viewer, bank)
    page = text_after(client, post(client, "member-role", found.pk, **role(found, Role.REVIEWER)))
    assert "ben is reviewer here." in page
    assert access.role_on(people.viewer, bank) == Role.REVIEWER
    event = AdminEvent.objects.get()
    assert (event.actor, event.person, event.bank, event.server) == (people.owner, people.viewer, bank, bank.server)
    assert (event.before, event.after) == ({"role": "viewer"}, {"role": "reviewer"})
    assert "Role changed" in page


def test_a_member_is_removed_and_loses_sight_of_the_bank(bank: Bank, people: People, as_user: SignIn) -> None:
    client, found = as_user(people.owner), member(people.viewer, bank)
    text_after(client, post(client, "member-remove", found.pk, was=found.role))
    assert access.role_on(people.viewer, bank) is None
    assert events() == [("member-removed", "Ann Weber", "ben")]
    assert post(client, "member-remove", found.pk, was=found.role).status_code == 404  # the second click


def test_a_server_admin_manages_the_server_and_its_banks(bank: Bank, people: People, as_user: SignIn) -> None:
    factories.grant(people.stranger, bank.server, Role.ADMIN)
    client = as_user(people.stranger)
    post(client, "server-member-add", bank.server.pk, login="ben", role=Role.REVIEWER)
    assert member(people.viewer, bank.server).role == Role.REVIEWER
    found = member(people.reviewer, bank)
    post(client, "member-role", found.pk, **role(found, Role.VIEWER))
    assert member(people.reviewer, bank).role == Role.VIEWER


def test_what_was_on_screen_counts(bank: Bank, people: People, as_user: SignIn) -> None:
    client, found = as_user(people.owner), member(people.reviewer, bank)
    stale = role(found, Role.ADMIN)
    Membership.objects.filter(pk=found.pk).update(role=Role.VIEWER)
    assert "was changed meanwhile" in text_after(client, post(client, "member-role", found.pk, **stale))
    assert "was changed meanwhile" in text_after(client, post(client, "member-remove", found.pk, was=stale["was"]))
    assert member(people.reviewer, bank).role == Role.VIEWER
    assert events() == []


def test_a_double_click_is_one_change(bank: Bank, people: People, as_user: SignIn) -> None:
    client, found = as_user(people.owner), member(people.viewer, bank)
    values = role(found, Role.REVIEWER)
    post(client, "member-role", found.pk, **values)
    assert "already" in text_after(client, post(client, "member-role", found.pk, **values))
    post(client, "bank-member-add", bank.pk, login="eve", role=Role.VIEWER)
    again = post(client, "bank-member-add", bank.pk, login="eve", role=Role.ADMIN)
    assert (again.status_code, "has a role here already" in text_of(again)) == (422, True)
    assert len(events()) == 2


# ── the rules ──────────────────────────────────────────────────────────────────────────────────────────────


def test_nobody_raises_their_own_role(bank: Bank, people: People, as_user: SignIn) -> None:
    factories.grant(people.reviewer, bank.server, Role.ADMIN)  # admin there, reviewer of the bank itself
    client, found = as_user(people.reviewer), member(people.reviewer, bank)
    assert "Nobody raises their own role" in text_after(
        client, post(client, "member-role", found.pk, **role(found, Role.ADMIN))
    )
    other = factories.make_bank(server=bank.server)
    answer = post(client, "bank-member-add", other.pk, login="mira", role=Role.VIEWER)
    assert (answer.status_code, "Nobody gives themselves a role" in text_of(answer)) == (422, True)
    assert events() == []


def test_an_admin_may_step_back_while_an_operator_remains(bank: Bank, people: People, as_user: SignIn) -> None:
    client, found = as_user(people.owner), member(people.owner, bank)
    assert post(client, "member-remove", found.pk, was=found.role)["Location"] == "/"
    assert access.role_on(people.owner, bank) is None


@pytest.mark.usefixtures("no_operator")
@pytest.mark.parametrize("act", ["member-role", "member-remove"])
def test_the_last_admin_stays_where_there_is_no_operator(bank: Bank, people: People, as_user: SignIn, act: str) -> None:
    client, found = as_user(people.owner), member(people.owner, bank)
    values = role(found, Role.VIEWER)
    assert "This is the last admin here" in text_after(client, post(client, act, found.pk, **values))
    assert member(people.owner, bank).role == Role.ADMIN
    closed = factories.make_user("closed", is_active=False)
    factories.grant(closed, bank, Role.ADMIN)  # who cannot sign in is no admin that remains
    assert "This is the last admin here" in text_after(client, post(client, act, found.pk, **values))
    factories.grant(people.viewer, bank.server, Role.ADMIN)  # the server's admin is one
    post(client, act, found.pk, **values)
    assert access.role_on(people.owner, bank) != Role.ADMIN


def test_a_closed_account_gets_no_role(bank: Bank, people: People, as_user: SignIn) -> None:
    people.stranger.is_active = False
    people.stranger.save()
    answer = post(as_user(people.owner), "bank-member-add", bank.pk, login="eve", role=Role.VIEWER)
    assert "This account is closed." in text_of(answer)
    assert events() == []


@pytest.mark.parametrize("value", ["0", "4", "-1", "admin", "", "1e0"])
def test_there_are_three_roles(bank: Bank, people: People, as_user: SignIn, value: str) -> None:
    client, found = as_user(people.owner), member(people.viewer, bank)
    answer = post(client, "member-role", found.pk, was=found.role, role=value)
    assert "could not be read" in text_after(client, answer)
    assert post(client, "bank-member-add", bank.pk, login="eve", role=value).status_code == 422
    assert (member(people.viewer, bank).role, events()) == (Role.VIEWER, [])


# ── who may ────────────────────────────────────────────────────────────────────────────────────────────────


def test_members_are_refused_and_strangers_see_nothing(bank: Bank, people: People, as_user: SignIn) -> None:
    found = member(people.viewer, bank)
    for person, status in ((people.reviewer, 403), (people.viewer, 403), (people.stranger, 404)):
        client = as_user(person)
        assert get(client, "bank-members", bank.pk).status_code == status
        assert post(client, "bank-member-add", bank.pk, login="eve", role=Role.ADMIN).status_code == status
        assert post(client, "member-role", found.pk, **role(found, Role.ADMIN)).status_code == status
        assert post(client, "member-remove", found.pk, was=found.role).status_code == status
    assert events() == []
    assert get(Client(), "bank-members", bank.pk).status_code == 302


def test_an_admin_of_a_bank_manages_that_bank_alone(bank: Bank, people: People, as_user: SignIn) -> None:
    other = factories.make_bank(server=bank.server)
    elsewhere, whole = (factories.grant(people.viewer, on, Role.VIEWER) for on in (other, bank.server))
    client = as_user(people.owner)
    assert get(client, "bank-members", other.pk).status_code == 404
    assert get(client, "server-members", bank.server.pk).status_code == 403
    assert post(client, "member-role", elsewhere.pk, **role(elsewhere, Role.ADMIN)).status_code == 404
    assert post(client, "member-remove", whole.pk, was=whole.role).status_code == 403
    assert post(client, "server-member-add", bank.server.pk, login="ann", role=Role.ADMIN).status_code == 403
    assert events() == []


@pytest.mark.parametrize("view", ["bank-member-add", "member-role", "member-remove"])
def test_changes_are_posts_that_come_from_our_pages(bank: Bank, people: People, view: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.operator)
    found = member(people.viewer, bank)
    pk = bank.pk if view == "bank-member-add" else found.pk
    assert get(client, view, pk).status_code == 405
    assert post(client, view, pk, **role(found, Role.ADMIN), login="eve").status_code == 403
    assert (events(), member(people.viewer, bank).role) == ([], Role.VIEWER)


def test_the_page_costs_the_same_with_many_members(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    with CaptureQueriesContext(connection) as few:
        get(client, "bank-members", bank.pk)
    for number in range(120):
        person = factories.make_user(f"member{number:03}")
        factories.grant(person, bank if number % 2 else bank.server, Role.VIEWER)
    with CaptureQueriesContext(connection) as many:
        page = text_of(get(client, "bank-members", bank.pk))
    assert len(few) == len(many)
    assert "member001" in page
    assert "member119" not in page
    later = text_of(get(client, "bank-members", bank.pk, after="member093"))
    assert "member119" in later
    assert "member093" not in later.split("h-others")[0]


def test_what_people_are_called_never_becomes_markup(people: People, as_user: SignIn) -> None:
    bank = factories.make_bank(XSS, name=XSS, server=factories.make_server(name=XSS[:100]))
    for target in (bank, bank.server):
        person = factories.make_user(f"x{target.pk}{type(target).__name__}", first_name=XSS[:90], last_name="\u202egpj")
        factories.grant(person, target, Role.VIEWER)
    client = as_user(people.operator)
    found = Membership.objects.get(bank=bank)
    post(client, "member-role", found.pk, **role(found, Role.ADMIN))
    for view, pk in (("bank-members", bank.pk), ("server-members", bank.server.pk), ("person-list", None)):
        page = text_of(get(client, view, pk))
        assert_harmless(page)
