"""Tokens: what they open, and that they never open more than their owner may."""

from datetime import timedelta

import pytest
import time_machine
from django.http import Http404
from django.utils import timezone

from banks import access
from banks.models import AdminEvent, ApiToken, Bank, Role
from banks.services import members, team, tokens
from banks.services.refusal import Refusal
from memadmin.accounts.models import User
from tests import factories
from tests.api.asking import issue
from tests.conftest import People

pytestmark = pytest.mark.django_db


def caller(text: str) -> User:
    found = tokens.caller_of(text)
    assert found is not None
    return found


def test_a_token_acts_in_its_owner_s_name_and_only_its_hash_is_stored(bank: Bank, people: People) -> None:
    text = issue(people.reviewer, banks=[bank])
    assert text.startswith("mem_")
    person = caller(text)
    assert (person, access.role_on(person, bank)) == (people.reviewer, Role.REVIEWER)
    row = ApiToken.objects.get()
    assert person.token == row
    assert text.startswith(row.prefix)
    assert all(text not in str(value) for value in ApiToken.objects.values().get().values())
    event = AdminEvent.objects.get(what="token-made")
    assert (event.actor, event.person, event.after["banks"]) == (people.reviewer, people.reviewer, [bank.bank_id])
    assert text not in str(event.after)


@pytest.mark.parametrize(
    ("role", "owned", "has"),
    [
        (Role.ADMIN, Role.VIEWER, Role.VIEWER),
        (Role.VIEWER, Role.ADMIN, Role.VIEWER),
        (Role.REVIEWER, Role.ADMIN, Role.REVIEWER),
        (Role.ADMIN, Role.ADMIN, Role.ADMIN),
    ],
)
def test_the_lower_of_the_two_roles_counts(bank: Bank, role: Role, owned: Role, has: Role) -> None:
    owner = factories.make_user()
    factories.grant(owner, bank, owned)
    person = caller(issue(owner, role=role))
    assert access.role_on(person, bank) == has
    for asked in Role:
        enough = asked <= has
        assert list(access.banks_for(person, asked)) == ([bank] if enough else [])
        assert access.bank_ids_for(person, asked) == ([bank.pk] if enough else [])


def test_a_token_for_one_bank_does_not_know_the_others(bank: Bank, people: People) -> None:
    other = factories.make_bank()
    for owner in (people.owner, people.operator):
        factories.grant(owner, other, Role.ADMIN)
        person = caller(issue(owner, role=Role.ADMIN, banks=[other]))
        assert access.role_on(person, bank) is None
        assert access.bank_ids_for(person) == [other.pk]
        assert list(access.banks_for(person)) == [other]
        with pytest.raises(Http404):
            access.get_bank(person, bank.pk)


def test_a_token_administers_no_server_and_no_team(bank: Bank, people: People) -> None:
    person = caller(issue(people.operator, role=Role.ADMIN))
    assert access.role_on(person, bank) == Role.ADMIN
    assert not access.servers_for(person).exists()
    assert access.role_on_server(person, bank.server) is None
    assert access.reach_of(person) == access.Reach()


def test_what_the_owner_loses_the_token_loses_at_once(bank: Bank, people: People) -> None:
    text = issue(people.reviewer)
    membership = bank.memberships.get(user=people.reviewer)
    members.change_role(actor=people.owner, membership=membership, was=Role.REVIEWER, role=Role.VIEWER)
    assert access.role_on(caller(text), bank) == Role.VIEWER
    bank.memberships.filter(user=people.reviewer).delete()
    assert access.role_on(caller(text), bank) is None


def test_a_closed_account_s_tokens_are_dead_and_stay_so(bank: Bank, people: People) -> None:
    text = issue(people.reviewer)
    User.objects.filter(pk=people.reviewer.pk).update(is_active=False)
    assert tokens.caller_of(text) is None
    User.objects.filter(pk=people.reviewer.pk).update(is_active=True)
    team.close(actor=people.operator, person=people.reviewer, reason="has left")
    team.reopen(actor=people.operator, person=people.reviewer, reason="is back")
    assert tokens.caller_of(text) is None
    assert AdminEvent.objects.get(what="token-revoked").actor == people.operator


def test_revoked_and_expired_ones_open_nothing(bank: Bank, people: People) -> None:
    text, other = issue(people.reviewer), issue(people.reviewer, days=30)
    token = caller(text).token
    assert tokens.revoke(actor=people.reviewer, token=token)
    assert not tokens.revoke(actor=people.reviewer, token=token)
    assert tokens.caller_of(text) is None
    with time_machine.travel(timezone.now() + timedelta(days=30, seconds=1), tick=False):
        assert tokens.caller_of(other) is None


@pytest.mark.parametrize("text", ["", "mem_", "mem_" + "a" * 48, "x" * 52, "mem_" + "ж" * 48, "mem_" + "\ud800" * 48])
def test_anything_else_opens_nothing(text: str, people: People) -> None:
    assert tokens.caller_of(text) is None


def test_its_last_use_is_written_at_most_once_a_minute(bank: Bank, people: People, django_assert_num_queries) -> None:
    text = issue(people.reviewer)
    with time_machine.travel(timezone.now(), tick=False) as clock:
        first = timezone.now()
        caller(text)
        clock.shift(59)
        with django_assert_num_queries(1):
            caller(text)
        assert ApiToken.objects.get().last_used == first
        clock.shift(1)
        caller(text)
        assert ApiToken.objects.get().last_used == timezone.now()


def test_who_may_nothing_makes_no_token_and_nobody_one_for_a_foreign_bank(bank: Bank, people: People) -> None:
    with pytest.raises(Refusal):
        issue(people.stranger)
    with pytest.raises(Refusal):
        issue(people.reviewer, banks=[])
    with pytest.raises(Http404):
        issue(people.reviewer, banks=[factories.make_bank()])
    assert not ApiToken.objects.exists()
