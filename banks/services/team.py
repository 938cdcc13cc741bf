"""What an operator does to accounts: shut, open again, a new invitation. Recorded like everything about people."""

from django.db import transaction
from django.db.models import F

from banks.models import AdminEvent
from banks.services import events, tokens
from banks.services.refusal import Refusal
from memadmin.accounts import links, people
from memadmin.accounts.models import User

What = AdminEvent.What


@transaction.atomic
def close(*, actor: User, person: User, reason: str) -> bool:
    """Shuts an account; its sessions, links and tokens end. False when it was shut. What the person decided stays."""
    if person.pk == actor.pk:
        raise Refusal("You cannot close your own account. Another operator can.")
    operators = User.objects.filter(is_superuser=True)
    operators.update(is_superuser=F("is_superuser"))  # two operators who close each other take turns here
    if not operators.filter(pk=actor.pk, is_active=True).exists():
        raise Refusal("Your own account was closed meanwhile.")
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
