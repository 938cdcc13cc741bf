"""Groups: who is in one, and which role it has where. Every change is recorded.

The caller has proven that `actor` is an operator, or, for roles, an admin of what the role is about (banks.access).
"""

from django.db import IntegrityError, transaction

from banks.models import AdminEvent, Bank, Group, GroupMember, GroupRole, Role, Server
from banks.services import events
from banks.services.members import keep_an_admin, take_turns, target_of
from banks.services.refusal import ChangedMeanwhile, Refusal
from memadmin.accounts.models import User

What = AdminEvent.What
TAKEN = "There is a group of this name already."
CHANGED = "This was changed meanwhile. Nothing was changed by you; look at it again."


def make(*, actor: User, name: str) -> Group:
    try:
        with transaction.atomic():
            group = Group.objects.create(name=name)
            events.record(what=What.GROUP_MADE, actor=actor, group=group)
    except IntegrityError as error:
        raise Refusal(TAKEN, field="name") from error
    return group


def rename(*, actor: User, group: Group, name: str) -> bool:
    """False when that is its name."""
    was = group.name
    if name == was:
        return False
    try:
        with transaction.atomic():
            if not Group.objects.filter(pk=group.pk, name=was).update(name=name):
                raise ChangedMeanwhile(CHANGED)
            group.name = name
            events.record(what=What.GROUP_RENAMED, actor=actor, group=group, before={"name": was}, after={"name": name})
    except IntegrityError as error:
        raise Refusal(TAKEN, field="name") from error
    return True


@transaction.atomic
def remove(*, actor: User, group: Group) -> None:
    """Only once it has no role anywhere, so that each bank's admins read what was taken away from whom."""
    if group.roles.exists():
        raise Refusal("It still has roles. Take them away first, on the page of each bank or server.")
    events.record(what=What.GROUP_REMOVED, actor=actor, group=group)
    group.delete()


def join(*, actor: User, group: Group, person: User) -> bool:
    """From now on the person has the group's roles. False when they are in it already."""
    if not person.is_active:
        raise Refusal("This account is closed. An operator can open it again.", field="login")
    with transaction.atomic():
        _, added = GroupMember.objects.get_or_create(group=group, user=person)
        if added:
            events.record(what=What.GROUP_JOINED, actor=actor, person=person, group=group)
    return added


@transaction.atomic
def leave(*, actor: User, member: GroupMember) -> bool:
    """What they decided stays theirs. False when they had left already. The operator who acts can give it back."""
    if not GroupMember.objects.filter(pk=member.pk).delete()[0]:
        return False
    events.record(what=What.GROUP_LEFT, actor=actor, person=member.user, group=member.group)
    return True


def give(*, actor: User, on: Bank | Server, group: Group, role: Role) -> GroupRole:
    """A first role of the group here. Raises Refusal when it has one."""
    try:
        with transaction.atomic():
            held = GroupRole.objects.create(
                group=group, role=role, **({"bank": on} if isinstance(on, Bank) else {"server": on})
            )
            _record(What.GROUP_ROLE_GIVEN, actor, held, after={"role": role.label})
    except IntegrityError as error:
        raise Refusal("This group has a role here already: change it in the list.", field="group") from error
    return held


def change_role(*, actor: User, held: GroupRole, was: Role, role: Role) -> bool:
    """False when it is that already. `was`: the role that was on screen. Raises Refusal."""
    if held.role == role:
        return False
    with transaction.atomic():
        take_turns(target_of(held))
        if not GroupRole.objects.filter(pk=held.pk, role=was).update(role=role):
            raise ChangedMeanwhile(CHANGED)
        if was == Role.ADMIN:
            keep_an_admin(target_of(held))
        _record(What.GROUP_ROLE_CHANGED, actor, held, {"role": was.label}, {"role": role.label})
    return True


def take(*, actor: User, held: GroupRole, was: Role) -> None:
    """Takes the role away. Raises Refusal as `change_role` does."""
    with transaction.atomic():
        take_turns(target_of(held))
        if not GroupRole.objects.filter(pk=held.pk, role=was).delete()[0]:
            raise ChangedMeanwhile(CHANGED)
        if was == Role.ADMIN:
            keep_an_admin(target_of(held))
        _record(What.GROUP_ROLE_TAKEN, actor, held, before={"role": was.label})


def _record(
    what: AdminEvent.What,
    actor: User,
    held: GroupRole,
    before: dict[str, str] | None = None,
    after: dict[str, str] | None = None,
) -> None:
    events.record(
        what=what,
        actor=actor,
        server=held.server,
        bank=held.bank,
        group=held.group,
        before=before,
        after=after,
    )
