"""Two admins at once: the last one always stays, and each change is made and kept once."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from banks.models import AdminEvent, Bank, Membership, Role, Write
from banks.services import members, policy, servers, team
from banks.services.refusal import Refusal
from banks.whole import acts
from memadmin.accounts.models import User
from tests import factories
from tests.conftest import People
from tests.racing import at_once

ROUNDS = 5


def tried(act: Callable[..., object], **values: Any) -> Callable[[], object]:
    """Gives back what the act returned, or its refusal."""

    def run() -> object:
        try:
            return act(**values)
        except Refusal as refused:
            return refused

    return run


def refused(results: list[object]) -> int:
    return sum(isinstance(result, Refusal) for result in results)


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_demote_each_other_leave_one(bank: Bank) -> None:
    ann, ben = factories.make_user("ann"), factories.make_user("ben")
    for _ in range(ROUNDS):
        Membership.objects.all().delete()
        of_ann, of_ben = (factories.grant(person, bank, Role.ADMIN) for person in (ann, ben))
        results = at_once(
            tried(members.change_role, actor=ann, membership=of_ben, was=Role.ADMIN, role=Role.VIEWER),
            tried(members.remove, actor=ben, membership=of_ann, was=Role.ADMIN),
        )
        assert refused(results) == 1, results
        assert Membership.objects.filter(bank=bank, role=Role.ADMIN).count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_delete_or_make_a_bank_one_does(bank: Bank) -> None:
    ann, ben = factories.make_user("ann"), factories.make_user("ben")
    for person in (ann, ben):
        factories.grant(person, bank.server, Role.ADMIN)
    for number in range(ROUNDS):
        Write.objects.all().delete()
        made = factories.make_bank(f"made-{number}", server=bank.server)
        delete = partial(tried, acts.delete, bank=made, typed=made.bank_id, documents=0)
        one, other = at_once(delete(actor=ann), delete(actor=ben))
        assert (one, other) == (other, Write.objects.get())
        Bank.objects.filter(pk=made.pk).update(gone_since=timezone.now())
        create = partial(tried, acts.create, server=bank.server, bank_id=made.bank_id)
        assert refused(at_once(create(actor=ann), create(actor=ben))) == 1
        assert Write.objects.filter(kind="bank-create").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_operators_who_close_each_other_leave_one() -> None:
    one, two = (factories.make_user(name, is_superuser=True) for name in ("one", "two"))
    for _ in range(ROUNDS):
        User.objects.update(is_active=True)
        close = partial(tried, team.close, reason="a quarrel")
        assert refused(at_once(close(actor=one, person=two), close(actor=two, person=one))) == 1
        assert User.objects.filter(is_active=True).count() == 1
    assert AdminEvent.objects.filter(what="closed").count() == ROUNDS


@pytest.mark.django_db(transaction=True)
def test_a_switch_is_thrown_once_however_many_press_it(bank: Bank, people: People) -> None:
    press = partial(servers.pause, actor=people.operator, server=bank.server, reason="moving")
    assert sorted(at_once(press, press, press, press), key=bool) == [False, False, False, True]
    assert AdminEvent.objects.filter(what="writes-paused").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_policies_one_is_stored_and_the_other_refused(bank: Bank, people: People) -> None:
    for number in range(ROUNDS):
        bank.refresh_from_db()
        values = policy.values_of(bank)
        change = partial(tried, policy.change, actor=people.owner, bank=bank, shown=policy.seen(bank))
        mine = change(values={**values, "language": f"de-{number}"})
        theirs = change(values={**values, "auto_approve_days": 10.0 + number})
        assert refused(at_once(mine, theirs)) == 1
        assert AdminEvent.objects.filter(what="policy-changed").count() == number + 1


@pytest.mark.django_db(transaction=True)
def test_one_person_gets_one_role(bank: Bank, people: People) -> None:
    add = partial(tried, members.add, actor=people.owner, on=bank, person=people.stranger)
    assert refused(at_once(*(add(role=role) for role in Role))) == 2
    assert Membership.objects.filter(user=people.stranger).count() == 1
    assert AdminEvent.objects.count() == 1
