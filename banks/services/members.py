"""Who has which role on a bank or on a whole server. Every change is recorded; the rules are here, not in the pages.

The caller has proven that `actor` is an admin of what it is about (banks.access).
"""

from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import F

from banks import access
from banks.models import AdminEvent, Bank, GroupRole, Membership, Role, Server
from banks.services import events
from banks.services.refusal import ChangedMeanwhile, Refusal
from memadmin.accounts import links, people
from memadmin.accounts.models import User

What = AdminEvent.What


@dataclass(frozen=True)
class Added:
    """`link` is there for a new person only: it opens their account, whoever holds it."""

    membership: Membership
    link: links.IssuedLink | None = None


def add(*, actor: User, on: Bank | Server, person: User, role: Role) -> Added:
    """Gives a person who has an account a first role here. Raises Refusal when they have one."""
    if not person.is_active:
        raise Refusal("This account is closed. An operator can open it again.", field="login")
    if person.pk == actor.pk:
        raise Refusal("Nobody gives themselves a role. Another admin or an operator can.", field="login")
    try:
        with transaction.atomic():
            membership = Membership.objects.create(user=person, role=role, **_target(on))
            _record(What.MEMBER_ADDED, actor, membership, after={"role": role.label})
    except IntegrityError as error:
        raise Refusal("This person has a role here already: change it in the list.", field="login") from error
    return Added(membership)


def invite(*, actor: User, on: Bank | Server, username: str, email: str, name: str, role: Role) -> Added:
    """Makes an account without a password, gives it a role here, and a link that opens it once, for three days."""
    if people.find(username) or (email and people.find(email)):
        raise Refusal("Somebody has this name or address already. Load the page again.", field="login")
    try:
        with transaction.atomic():
            person = people.create_invited(username=username, email=email, name=name)
            membership = Membership.objects.create(user=person, role=role, **_target(on))
            _record(What.INVITED, actor, membership, after={"role": role.label})
            return Added(membership, links.issue(user=person, invitation=True))
    except IntegrityError as error:
        raise Refusal("Somebody has just taken this name. Load the page again.", field="login") from error


def change_role(*, actor: User, membership: Membership, was: Role, role: Role) -> bool:
    """False when that is the role already. `was`: the role that was on screen.

    Raises Refusal: nobody raises their own role, and the last admin stays one unless an operator remains.
    """
    if membership.role == role:
        return False
    if membership.user_id == actor.pk and role > membership.role:
        raise Refusal("Nobody raises their own role. Another admin or an operator can.")
    with transaction.atomic():
        take_turns(target_of(membership))
        if not Membership.objects.filter(pk=membership.pk, role=was).update(role=role):
            raise ChangedMeanwhile("This role was changed meanwhile. Nothing was changed by you; look at it again.")
        if was == Role.ADMIN and membership.user.is_active:
            keep_an_admin(target_of(membership))
        _record(What.ROLE_CHANGED, actor, membership, {"role": was.label}, {"role": role.label})
    return True


def remove(*, actor: User, membership: Membership, was: Role) -> None:
    """Takes the role away. What the person has decided stays theirs. Raises Refusal as `change_role` does."""
    with transaction.atomic():
        take_turns(target_of(membership))
        removed, _ = Membership.objects.filter(pk=membership.pk, role=was).delete()
        if not removed:
            raise ChangedMeanwhile("This role was changed meanwhile. Nothing was changed by you; look at it again.")
        if was == Role.ADMIN and membership.user.is_active:
            keep_an_admin(target_of(membership))
        _record(What.MEMBER_REMOVED, actor, membership, before={"role": was.label})


def target_of(held: Membership | GroupRole) -> Bank | Server:
    """What a person's or a group's role is about."""
    target = held.bank or held.server
    assert target is not None  # a constraint of the table
    return target


def take_turns(on: Bank | Server) -> None:
    """Two admins who demote each other at once wait here for each other: the second sees what the first one did."""
    same = Bank.objects.filter(pk=on.pk) if isinstance(on, Bank) else Server.objects.filter(pk=on.pk)
    same.update(created=F("created"))


def keep_an_admin(on: Bank | Server) -> None:
    """After a role was taken away: raises Refusal, which undoes it, where nobody is left who could give it back."""
    if User.objects.filter(access.admins_of(on)).exists():
        return
    if not User.objects.filter(is_superuser=True, is_active=True).exists():
        raise Refusal("This is the last admin here, and there is no operator. Make somebody else an admin first.")


def _target(on: Bank | Server) -> dict[str, Bank | Server]:
    return {"bank": on} if isinstance(on, Bank) else {"server": on}


def _record(
    what: AdminEvent.What,
    actor: User,
    membership: Membership,
    before: dict[str, str] | None = None,
    after: dict[str, str] | None = None,
) -> None:
    events.record(
        what=what,
        actor=actor,
        server=membership.server,
        bank=membership.bank,
        person=membership.user,
        before=before,
        after=after,
    )
