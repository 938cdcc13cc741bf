"""The page on which a bank becomes a person's, and a project's again."""

import pytest
from django.test import Client

from banks.models import AdminEvent, Bank
from banks.services import person
from banks.services.refusal import ChangedMeanwhile
from memadmin.accounts.models import User
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, text_after
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of


@pytest.fixture
def ann(db: None) -> User:
    return factories.make_user("ann-herself", first_name="Ann", last_name="Moss", email="ann@example.org")


def test_an_admin_makes_it_a_persons_and_a_projects_again(
    bank: Bank, ann: User, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    page = text_of(get(client, "bank-person", bank.pk))
    assert "This is a project’s bank." in page
    assert "2 people with a role below admin" in page
    page = text_after(client, post(client, "bank-person", bank.pk, login="ann@example.org"))
    bank.refresh_from_db()
    assert (bank.kind, bank.person) == ("person", ann)
    assert "This is <bdi>Ann Moss</bdi>’s bank." in page
    event = AdminEvent.objects.get()
    assert (event.what, event.actor, event.person, event.after) == (
        "person-named",
        people.owner,
        ann,
        {"person": "Ann Moss"},
    )
    assert "already" in text_after(client, post(client, "bank-person", bank.pk, login="ann-herself"))
    assert AdminEvent.objects.count() == 1
    page = text_after(client, post(client, "bank-person-clear", bank.pk))
    bank.refresh_from_db()
    assert (bank.kind, bank.person) == ("project", None)
    assert AdminEvent.objects.order_by("-pk")[0].before == {"person": "Ann Moss"}
    assert "Made a person&#x27;s bank" in page
    assert "already" in text_after(client, post(client, "bank-person-clear", bank.pk))


@pytest.mark.parametrize(("login", "said"), [("", "Say whose"), ("nobody", "Nobody signs in by this")])
def test_who_is_nobody_is_refused(bank: Bank, people: People, as_user: SignIn, login: str, said: str) -> None:
    answer = post(as_user(people.owner), "bank-person", bank.pk, login=login)
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert not AdminEvent.objects.exists()


def test_a_closed_account_has_no_bank(bank: Bank, ann: User, people: People, as_user: SignIn) -> None:
    User.objects.filter(pk=ann.pk).update(is_active=False)
    answer = post(as_user(people.owner), "bank-person", bank.pk, login="ann-herself")
    assert answer.status_code == 409
    assert "This account is closed." in text_of(answer)


def test_only_admins_change_it(bank: Bank, ann: User, people: People, as_user: SignIn) -> None:
    for name in ("bank-person", "bank-person-clear"):
        for who, status in ((people.reviewer, 403), (people.viewer, 403), (people.stranger, 404)):
            assert post(as_user(who), name, bank.pk, login="ann-herself").status_code == status
    Bank.objects.filter(pk=bank.pk).update(kind="person", person=ann)
    assert get(as_user(ann), "bank-person", bank.pk).status_code == 403  # it is theirs to use, not to give away
    assert post(as_user(ann), "bank-person-clear", bank.pk).status_code == 403
    assert post(as_user(people.reviewer), "bank-person-clear", bank.pk).status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people.owner)
    assert post(strict, "bank-person-clear", bank.pk).status_code == 403
    assert not AdminEvent.objects.exists()


def test_of_two_admins_the_second_is_told(bank: Bank, ann: User, people: People) -> None:
    stale = Bank.objects.get(pk=bank.pk)
    person.mark(actor=people.owner, bank=bank, person=ann)
    with pytest.raises(ChangedMeanwhile):
        person.mark(actor=people.operator, bank=stale, person=people.reviewer)
    bank.refresh_from_db()
    assert bank.person == ann


def test_a_hostile_name_stays_text(bank: Bank, people: People, as_user: SignIn) -> None:
    evil = factories.make_user("evil", first_name=XSS[:100])
    Bank.objects.filter(pk=bank.pk).update(kind="person", person=evil)
    client = as_user(people.operator)
    assert_harmless(text_of(get(client, "bank-person", bank.pk)))
    assert_harmless(text_of(get(client, "bank-list")))
