import pytest
from django.http import Http404

from banks import access
from banks.models import Bank, Role
from tests import factories
from tests.conftest import People


def test_each_role_includes_the_ones_before(bank: Bank, people: People) -> None:
    assert access.get_bank(people.owner, bank.pk, Role.ADMIN) == bank
    assert access.get_bank(people.reviewer, bank.pk, Role.REVIEWER) == bank
    assert access.get_bank(people.viewer, bank.pk) == bank


def test_a_reader_may_not_write(bank: Bank, people: People) -> None:
    with pytest.raises(access.NotEnough) as refused:
        access.get_bank(people.viewer, bank.pk, Role.REVIEWER)
    assert (refused.value.has, refused.value.needs) == (Role.VIEWER, Role.REVIEWER)


def test_a_stranger_does_not_learn_that_the_bank_exists(bank: Bank, people: People) -> None:
    with pytest.raises(Http404):
        access.get_bank(people.stranger, bank.pk)
    assert not access.banks_for(people.stranger).exists()


def test_a_role_on_the_server_counts_for_all_its_banks(bank: Bank, people: People) -> None:
    elsewhere = factories.make_bank()
    factories.grant(people.stranger, bank.server, Role.REVIEWER)
    assert list(access.banks_for(people.stranger, Role.REVIEWER)) == [bank]
    assert access.role_on(people.stranger, elsewhere) is None


def test_the_higher_of_two_roles_counts(bank: Bank, people: People) -> None:
    factories.grant(people.viewer, bank.server, Role.ADMIN)
    assert access.role_on(people.viewer, bank) == Role.ADMIN


def test_an_operator_may_everything(bank: Bank, people: People) -> None:
    assert access.role_on(people.operator, bank) == Role.ADMIN


def test_a_deactivated_person_may_nothing(bank: Bank, people: People) -> None:
    people.owner.is_active = False
    people.owner.save()
    assert access.role_on(people.owner, bank) is None
