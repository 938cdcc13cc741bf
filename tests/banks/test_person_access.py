"""Who sees a person's bank: the person and its admins. Every other role on it, or on its server, does not count."""

import pytest
from django.http import Http404

from banks import access
from banks.models import Bank, Role
from banks.services import person, tokens
from memadmin.accounts.models import User
from tests import factories
from tests.banks.retaining import put
from tests.conftest import People
from tests.reviews.pages import text_of

# Role on the bank, on the server, the person or not → what is left of it, before and after it is a person's.
MATRIX = {
    "stranger": (None, None, None, None),
    "viewer": (Role.VIEWER, None, Role.VIEWER, None),
    "reviewer": (Role.REVIEWER, None, Role.REVIEWER, None),
    "admin": (Role.ADMIN, None, Role.ADMIN, Role.ADMIN),
    "server viewer": (None, Role.VIEWER, Role.VIEWER, None),
    "server reviewer": (None, Role.REVIEWER, Role.REVIEWER, None),
    "server admin": (None, Role.ADMIN, Role.ADMIN, Role.ADMIN),
    "both": (Role.VIEWER, Role.REVIEWER, Role.REVIEWER, None),
    "admin by the server": (Role.VIEWER, Role.ADMIN, Role.ADMIN, Role.ADMIN),
}


@pytest.fixture
def ann(bank: Bank) -> User:
    """Whose bank it becomes; without any role."""
    return factories.make_user("ann-herself", first_name="Ann", last_name="Moss")


@pytest.fixture
def own(bank: Bank, ann: User) -> Bank:
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=ann)
    bank.refresh_from_db()
    return bank


def fresh(user: User) -> User:
    """As the next request reads it."""
    return User.objects.get(pk=user.pk)


def seen(user: User, bank: Bank) -> Role | None:
    """What every way of asking says; they agree."""
    role = access.role_on(fresh(user), bank)
    for asked in Role:
        expected = role is not None and role >= asked
        ids = access.bank_ids_for(fresh(user), asked)
        assert (ids is None or bank.pk in ids) == expected
        assert access.banks_for(fresh(user), asked).filter(pk=bank.pk).exists() == expected
        assert access.banks_for(fresh(user), asked).filter(pk=bank.pk).count() == int(expected)
    after_lists = fresh(user)
    access.bank_ids_for(after_lists)
    assert access.role_on(after_lists, bank) == role
    return role


@pytest.mark.parametrize("who", MATRIX)
def test_a_role_below_admin_does_not_count(bank: Bank, ann: User, who: str) -> None:
    on_bank, on_server, before, after = MATRIX[who]
    user = factories.make_user()
    for on, role in ((bank, on_bank), (bank.server, on_server)):
        if role is not None:
            factories.grant(user, on, role)  # type: ignore[arg-type]
    other = factories.make_bank(server=bank.server)
    assert seen(user, bank) == before
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=ann)
    bank.refresh_from_db()
    assert seen(user, bank) == after
    assert seen(user, other) == on_server  # nothing else changes
    Bank.objects.filter(pk=bank.pk).update(person=None)
    bank.refresh_from_db()
    assert seen(user, bank) == after  # nobody is named: its admins alone


def test_the_person_decides_there_without_a_role(own: Bank, ann: User, people: People) -> None:
    assert seen(ann, own) == Role.REVIEWER
    assert access.role_on_server(ann, own.server) == Role.VIEWER
    assert seen(people.operator, own) == Role.ADMIN
    factories.grant(ann, own, Role.ADMIN)
    assert seen(ann, own) == Role.ADMIN
    User.objects.filter(pk=ann.pk).update(is_active=False)
    assert seen(ann, own) is None


def test_a_token_gives_no_more_than_its_owner_has(own: Bank, ann: User, people: People) -> None:
    issued = tokens.issue(owner=ann, name="agent", role=Role.VIEWER, banks=[own], days=30)
    caller = tokens.caller_of(issued.text)
    assert access.role_on(caller, own) == Role.VIEWER
    other = factories.make_bank(server=own.server)
    factories.grant(people.reviewer, other, Role.REVIEWER)
    theirs = tokens.issue(owner=people.reviewer, name="agent", role=Role.ADMIN, banks=None, days=30)
    assert access.role_on(tokens.caller_of(theirs.text), own) is None
    with pytest.raises(Http404):
        tokens.issue(owner=people.reviewer, name="another", role=Role.VIEWER, banks=[own], days=30)


@pytest.mark.parametrize("who", ["owner", "ann", "operator", "reviewer", "viewer", "stranger", "server reviewer"])
def test_no_page_shows_it_to_others(own: Bank, ann: User, people: People, as_user, who: str) -> None:
    colleague = factories.make_user()
    factories.grant(colleague, own.server, Role.REVIEWER)
    users = {**vars(people), "ann": ann, "server reviewer": colleague}
    allowed = who in ("owner", "ann", "operator")
    entry = factories.make_entry(own, "notes/p.md", text="Ann likes tea.")
    (item,) = put(ann, own, "Ann dislikes noise.", user_bank=True)
    client = as_user(users[who])
    for url in (f"/reviews/{entry.pk}/", f"/retain/{item.pk}/", f"/banks/{own.pk}/facts/"):
        assert (client.get(url).status_code == 404) != allowed, url
    for url in ("/reviews/", "/banks/", "/", "/retain/", "/reviews/?q=tea", f"/reviews/?bank={own.pk}"):
        page = text_of(client.get(url))
        assert ("checkout-service" in page or "Checkout service" in page) == allowed, url
    assert (client.get(f"/banks/{own.pk}/policy/").status_code == 200) == (who in ("owner", "operator"))
    if allowed:
        assert "person’s bank" in text_of(client.get("/reviews/"))
        assert "person’s bank: <bdi>Ann Moss</bdi>" in text_of(client.get("/banks/"))
        assert "person’s bank" in text_of(client.get("/"))
        assert "person’s bank" in text_of(client.get(f"/reviews/{entry.pk}/"))


def test_the_person_decides_by_pages(own: Bank, ann: User, people: People, as_user) -> None:
    entry = factories.make_entry(own, "notes/p.md")
    posted = {"version": entry.version, "text_hash": entry.text_id}
    assert as_user(people.reviewer).post(f"/reviews/{entry.pk}/approve/", posted).status_code == 404
    as_user(ann).post(f"/reviews/{entry.pk}/approve/", posted)
    entry.refresh_from_db()
    assert (entry.state, entry.decided_by) == ("approved", "Ann Moss")


def test_how_many_it_is_hidden_from(own: Bank, ann: User, people: People) -> None:
    assert person.hidden_from(own) == 2  # the reviewer and the viewer
    factories.grant(ann, own, Role.VIEWER)
    factories.grant(people.viewer, own.server, Role.REVIEWER)  # counted once
    factories.grant(people.reviewer, own.server, Role.ADMIN)
    assert person.hidden_from(own) == 1
