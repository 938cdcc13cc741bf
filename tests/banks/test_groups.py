"""Groups: roles by being in one, the highest counts; who may change them; what is kept of it."""

import pytest
from django.db import connection
from django.http import Http404
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks import access
from banks.models import AdminEvent, Bank, Group, GroupMember, GroupRole, Role
from banks.services import groups, members
from banks.services.refusal import Refusal
from tests import factories
from tests.banks.admin_pages import SignIn, events, get, post, text_after
from tests.conftest import People
from tests.reviews.pages import text_of


@pytest.fixture
def platform(bank: Bank, people: People) -> Group:
    """Eve, who has no role of her own, is in it; it reviews the bank."""
    group = factories.make_group("Platform", people.stranger)
    factories.grant_group(group, bank, Role.REVIEWER)
    return group


def test_who_is_in_a_group_has_its_role(bank: Bank, people: People, platform: Group) -> None:
    assert access.get_bank(people.stranger, bank.pk, Role.REVIEWER) == bank
    assert list(access.banks_for(people.stranger, Role.REVIEWER)) == [bank]
    assert access.bank_ids_for(people.stranger) == [bank.pk]
    assert not access.banks_for(people.stranger, Role.ADMIN).exists()
    assert access.role_on_server(people.stranger, bank.server) == Role.VIEWER


def test_the_highest_of_all_roles_counts(bank: Bank, people: People, platform: Group) -> None:
    for person in (people.viewer, people.owner):
        groups.join(actor=people.operator, group=platform, person=person)
    assert access.role_on(people.viewer, bank) == Role.REVIEWER
    assert access.role_on(people.owner, bank) == Role.ADMIN


def test_a_groups_role_on_a_server_counts_for_all_its_banks(bank: Bank, people: People) -> None:
    group = factories.make_group("Keepers", people.stranger)
    factories.grant_group(group, bank.server, Role.ADMIN)
    assert list(access.servers_for(people.stranger)) == [bank.server]
    assert access.get_server(people.stranger, bank.server.pk) == bank.server
    assert access.reach_of(people.stranger) == access.Reach(servers=True, member=True)
    assert access.role_on(people.stranger, factories.make_bank(server=bank.server)) == Role.ADMIN


def test_a_persons_bank_stays_with_its_admins(bank: Bank, people: People, platform: Group) -> None:
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.viewer)
    with pytest.raises(Http404):
        access.get_bank(people.stranger, bank.pk)
    assert access.bank_ids_for(people.stranger) == []


def test_who_leaves_a_group_has_its_roles_no_more(bank: Bank, people: People, platform: Group, as_user: SignIn) -> None:
    client = as_user(people.operator)
    member = platform.members.get()
    page = text_after(client, post(client, "group-member-remove", member.pk))
    assert "Nobody is in it." in page
    assert access.role_on(people.stranger, bank) is None
    assert post(client, "group-member-remove", member.pk).status_code == 404


def test_an_operator_makes_a_group_and_puts_people_into_it(people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    assert "Nobody is in it yet." in text_after(client, post(client, "group-list", name="Platform"))
    group = Group.objects.get()
    assert "eve is in it." in text_after(client, post(client, "group-add", group.pk, login="eve"))
    assert "eve is in it already." in text_after(client, post(client, "group-add", group.pk, login="eve"))
    assert "There is a group of this name already." in text_of(post(client, "group-list", name="PLATFORM"))
    text_after(client, post(client, "group-rename", group.pk, name="Payments"))
    told = [event.group_name for event in AdminEvent.objects.order_by("pk")]
    assert [what for what, *_ in events()] == ["group-made", "group-joined", "group-renamed"]
    assert told == ["Platform", "Platform", "Payments"]


def test_a_group_with_roles_is_not_removed(people: People, platform: Group, as_user: SignIn) -> None:
    client = as_user(people.operator)
    assert "Take them away first" in text_after(client, post(client, "group-remove", platform.pk))
    platform.roles.all().delete()
    assert "“Platform” is gone" in text_after(client, post(client, "group-remove", platform.pk))
    assert not Group.objects.exists()
    assert AdminEvent.objects.get().group_name == "Platform"


def test_a_banks_admin_gives_changes_and_takes_a_groups_role(bank: Bank, people: People, as_user: SignIn) -> None:
    group, client = factories.make_group("Readers", people.stranger), as_user(people.owner)
    said = {"group": group.pk, "role": Role.VIEWER}
    assert "“Readers” is viewer here." in text_after(client, post(client, "bank-group-add", bank.pk, **said))
    assert "has a role here already" in text_of(post(client, "bank-group-add", bank.pk, **said))
    held = GroupRole.objects.get()
    page = text_after(client, post(client, "group-role", held.pk, was=Role.VIEWER, role=Role.REVIEWER))
    assert "is reviewer here." in page
    assert "eve" in page.partition('id="h-groups"')[2].partition("</section>")[0]
    stale = text_after(client, post(client, "group-role-remove", held.pk, was=Role.VIEWER))
    assert "changed meanwhile" in stale
    text_after(client, post(client, "group-role-remove", held.pk, was=Role.REVIEWER))
    assert access.role_on(people.stranger, bank) is None
    assert [what for what, *_ in events()] == ["group-role-given", "group-role-changed", "group-role-taken"]


def test_the_last_admin_by_a_group_stays(bank: Bank, people: People) -> None:
    people.operator.is_superuser = False
    people.operator.save()
    held = factories.grant_group(factories.make_group("Keepers", people.stranger), bank, Role.ADMIN)
    own = bank.memberships.get(user=people.owner)
    members.remove(actor=people.owner, membership=own, was=Role.ADMIN)
    with pytest.raises(Refusal, match="last admin"):
        groups.take(actor=people.stranger, held=held, was=Role.ADMIN)
    with pytest.raises(Refusal, match="last admin"):
        groups.change_role(actor=people.stranger, held=held, was=Role.ADMIN, role=Role.VIEWER)
    assert access.role_on(people.stranger, bank) == Role.ADMIN


def test_an_empty_or_closed_group_is_no_admin(bank: Bank, people: People) -> None:
    people.operator.is_superuser = False
    people.operator.save()
    factories.grant_group(factories.make_group("Nobody"), bank, Role.ADMIN)
    closed = factories.make_user("gone", is_active=False)
    factories.grant_group(factories.make_group("Gone", closed), bank, Role.ADMIN)
    with pytest.raises(Refusal, match="last admin"):
        members.remove(actor=people.owner, membership=bank.memberships.get(user=people.owner), was=Role.ADMIN)


def test_the_team_page_names_groups_to_those_whose_bank_they_are_on(
    bank: Bank, people: People, platform: Group, as_user: SignIn
) -> None:
    factories.make_group("Elsewhere", people.viewer)
    groups.leave(actor=people.operator, member=GroupMember.objects.get(user=people.stranger))
    groups.join(actor=people.operator, group=platform, person=people.stranger)
    page = text_of(get(as_user(people.owner), "person-list"))
    assert ("Platform" in page, "eve" in page, "Elsewhere" in page) == (True, True, False)
    assert "Taken out of a group" in page
    assert "Elsewhere" in text_of(get(as_user(people.operator), "person-list"))


@pytest.mark.parametrize("view", ["group-list", "group-detail", "group-add", "group-remove", "group-rename"])
def test_groups_are_an_operators_business(people: People, platform: Group, as_user: SignIn, view: str) -> None:
    pk = None if view == "group-list" else platform.pk
    ask = get if view in ("group-list", "group-detail") else post
    for person, status in ((people.owner, 403), (people.reviewer, 403), (people.viewer, 403)):
        assert ask(as_user(person), view, pk).status_code == status
    assert ask(as_user(factories.make_user()), view, pk).status_code == 404
    assert ask(Client(), view, pk).status_code == 302


def test_only_the_admins_of_what_it_is_about_touch_a_groups_role(
    bank: Bank, people: People, platform: Group, as_user: SignIn
) -> None:
    held = platform.roles.get()
    said = {"was": Role.REVIEWER, "role": Role.ADMIN}
    outsider = factories.make_user()
    factories.grant(outsider, factories.make_bank(server=bank.server), Role.ADMIN)
    for person, status in ((people.reviewer, 403), (people.stranger, 403), (outsider, 404)):
        for view in ("group-role", "group-role-remove"):
            assert post(as_user(person), view, held.pk, **said).status_code == status
    assert post(as_user(outsider), "bank-group-add", bank.pk, group=platform.pk, role=3).status_code == 404
    held.refresh_from_db()
    assert (held.role, events()) == (Role.REVIEWER, [])


@pytest.mark.parametrize("view", ["person-list", "bank-members", "account"])
def test_many_groups_cost_what_one_costs(
    bank: Bank, people: People, platform: Group, as_user: SignIn, view: str
) -> None:
    groups.join(actor=people.operator, group=platform, person=people.owner)
    client, pk = as_user(people.owner), bank.pk if view == "bank-members" else None
    with CaptureQueriesContext(connection) as few:
        get(client, view, pk)
    for number in range(12):
        group = factories.make_group(f"Team {number}", people.owner, *(factories.make_user() for _ in range(12)))
        factories.grant_group(group, bank, Role.VIEWER)
    with CaptureQueriesContext(connection) as many:
        page = text_of(get(client, view, pk))
    assert len(few) == len(many)
    assert "Team 1" in page
