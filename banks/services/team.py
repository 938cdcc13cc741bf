"""What an operator does to accounts: make, shut, open again, make operators. Recorded like everything about people."""

from django.db import IntegrityError, transaction
from django.db.models import F

from banks.models import AdminEvent, Group
from banks.services import events, groups, tokens
from banks.services.refusal import Refusal
from memadmin.accounts import factor, identities, limits, links, people
from memadmin.accounts.models import User

What = AdminEvent.What


@transaction.atomic
def close(*, actor: User, person: User, reason: str) -> bool:
    """Shuts an account; its sessions, links and tokens end. False when it was shut. What the person decided stays."""
    if person.pk == actor.pk:
        raise Refusal("You cannot close your own account. Another operator can.")
    _still_operator(actor)
    if not people.close(person):
        return False
    events.record(what=What.CLOSED, actor=actor, person=person, reason=reason)
    tokens.revoke_all(actor=actor, owner=person)
    return True


@transaction.atomic
def reopen(*, actor: User, person: User, reason: str) -> bool:
    """Opens an account again, with the roles it had. False when it was open."""
    if not people.reopen(person):
        return False
    events.record(what=What.REOPENED, actor=actor, person=person, reason=reason)
    return True


@transaction.atomic
def invite_again(*, actor: User, person: User) -> links.IssuedLink:
    """A new link for somebody who has not come yet; the one before is dead. Raises Refusal for everybody else."""
    if not people.may_be_invited(person):
        raise Refusal("Only somebody who has never signed in gets an invitation.")
    events.record(what=What.INVITED_AGAIN, actor=actor, person=person)
    return links.issue(user=person, invitation=True)


def invite(*, actor: User, username: str, email: str, name: str, group: Group | None) -> links.IssuedLink:
    """An account without a password or a role of its own, and a link that opens it once, for three days."""
    if people.find(username) or (email and people.find(email)):
        raise Refusal("Somebody has this name or address already.", field="login")
    try:
        with transaction.atomic():
            person = people.create_invited(username=username, email=email, name=name)
            events.record(what=What.INVITED, actor=actor, person=person)
            if group is not None:
                groups.join(actor=actor, group=group, person=person)
            return links.issue(user=person, invitation=True)
    except IntegrityError as error:
        raise Refusal("Somebody has just taken this name. Load the page again.", field="login") from error


@transaction.atomic
def make_operator(*, actor: User, person: User, reason: str) -> bool:
    """From now on the person may everything. False when they may already."""
    _still_operator(actor)
    if not User.objects.filter(pk=person.pk, is_superuser=False, is_active=True).update(is_superuser=True):
        if not person.is_active:
            raise Refusal("This account is closed. Open it first.")
        return False
    events.record(what=What.OPERATOR_MADE, actor=actor, person=person, reason=reason)
    return True


@transaction.atomic
def end_operator(*, actor: User, person: User, reason: str) -> bool:
    """What is left are the roles they have. False when they were none. Nobody does it to themselves, so one remains."""
    if person.pk == actor.pk:
        raise Refusal("You cannot take this from yourself. Another operator can.")
    _still_operator(actor)
    if not User.objects.filter(pk=person.pk, is_superuser=True).update(is_superuser=False):
        return False
    events.record(what=What.OPERATOR_ENDED, actor=actor, person=person, reason=reason)
    return True


@transaction.atomic
def unlock(*, actor: User | None, person: User) -> bool:
    """Wrong passwords and codes count from nothing again. False when none were counted. No actor: the terminal."""
    if not limits.unlock(person):
        return False
    events.record(what=What.UNLOCKED, actor=actor, person=person)
    return True


@transaction.atomic
def reset_factor(*, actor: User | None, person: User, reason: str = "") -> bool:
    """For who lost phone and codes; signed out everywhere. False when there was none. No actor: the terminal."""
    if actor is not None and actor.pk == person.pk:
        raise Refusal("Your own is removed on the page of your account.")
    if actor is not None:
        _still_operator(actor)
    if not factor.reset(person):
        return False
    events.record(what=What.FACTOR_RESET, actor=actor, person=person, reason=reason)
    return True


@transaction.atomic
def end_identities(*, actor: User, person: User, reason: str) -> bool:
    """The company's sign-in opens this account no more; they are signed out. False when it never did."""
    _still_operator(actor)
    if not identities.end(person):
        return False
    events.record(what=What.IDENTITY_ENDED, actor=actor, person=person, reason=reason)
    return True


def _still_operator(actor: User) -> None:
    operators = User.objects.filter(is_superuser=True)
    operators.update(is_superuser=F("is_superuser"))  # two operators who close each other take turns here
    if not operators.filter(pk=actor.pk, is_active=True).exists():
        raise Refusal("You are no operator any more.")
