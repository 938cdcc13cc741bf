"""API tokens: made by a person for a program, shown once, found by their hash, revoked.

A token has 288 random bits, so its SHA-256 is as hard to turn back as it is to guess: a slow hash would add nothing.
"""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.http import Http404
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from banks import access
from banks.models import AdminEvent, ApiToken, Bank, Role
from banks.services import events
from banks.services.refusal import Refusal
from memadmin.accounts.models import User

MARK = "mem_"  # so that scanners for secrets know one when they see it
RANDOM_BYTES = 36
LENGTH = len(MARK) + RANDOM_BYTES * 4 // 3
SHOWN = len(MARK) + 4  # leaves 264 bits
MOST_LIVE = 50  # per person
USE_NOTED_EVERY = timedelta(minutes=1)
What = AdminEvent.What


@dataclass(frozen=True, repr=False)
class IssuedToken:
    """The only place where the token is in the clear."""

    token: ApiToken
    text: str


@sensitive_variables()
def issue(*, owner: User, name: str, role: Role, banks: Sequence[Bank] | None, days: int) -> IssuedToken:
    """A new token; `banks` None = all that its owner may see, at each moment. Raises Refusal; 404 for foreign banks."""
    allowed = access.banks_for(owner)
    if not allowed.exists():
        raise Refusal("You have no role on any bank, so a token of yours could do nothing.")
    if banks is not None and not banks:
        raise Refusal("Choose at least one bank, or all of them.", field="banks")
    wanted = {bank.pk for bank in banks or []}
    if allowed.filter(pk__in=wanted).count() < len(wanted):
        raise Http404("No such bank.")
    text = MARK + secrets.token_urlsafe(RANDOM_BYTES)
    now = timezone.now()
    with transaction.atomic():
        if ApiToken.objects.filter(owner=owner, revoked=None, expires__gt=now).count() >= MOST_LIVE:
            raise Refusal(f"You have {MOST_LIVE} tokens that work. Revoke one that is not used any more.")
        token = ApiToken.objects.create(
            owner=owner,
            name=name,
            prefix=text[:SHOWN],
            token_hash=hash_of(text),
            role=role,
            all_banks=banks is None,
            created=now,
            expires=now + timedelta(days=days),
        )
        token.banks.set(banks or [])
        events.record(what=What.TOKEN_MADE, actor=owner, person=owner, after=_said(token, banks))
    return IssuedToken(token, text)


@sensitive_variables()
def caller_of(text: str) -> User | None:
    """The person in whose name this token acts now, with `token` set; None for anything that opens nothing.

    Found by the index over hashes: how long that takes says nothing about a token that somebody tries to guess.
    """
    if not text.startswith(MARK) or len(text) != LENGTH:
        return None
    person = _holder(token_hash=hash_of(text))
    if person is None:
        return None
    token, now = person.token, timezone.now()
    if token.last_used is None or token.last_used <= now - USE_NOTED_EVERY:
        unnoted = Q(last_used=None) | Q(last_used__lte=now - USE_NOTED_EVERY)
        ApiToken.objects.filter(unnoted, pk=token.pk).update(last_used=now)
    return person


def holder_of(token_id: int) -> User | None:
    """As `caller_of`, for work that goes on after the request of the program."""
    return _holder(pk=token_id)


def _holder(**which: Any) -> User | None:
    live = Q(revoked=None, expires__gt=timezone.now(), owner__is_active=True)
    token = ApiToken.objects.select_related("owner").filter(live, **which).first()
    if token is None:
        return None
    token.bank_ids = None if token.all_banks else frozenset(token.banks.values_list("pk", flat=True))
    person: User = token.owner
    person.token = token
    return person


def revoke(*, actor: User, token: ApiToken) -> bool:
    """From now on it opens nothing. False when it was revoked already."""
    with transaction.atomic():
        if not ApiToken.objects.filter(pk=token.pk, revoked=None).update(revoked=timezone.now()):
            return False
        events.record(what=What.TOKEN_REVOKED, actor=actor, person=token.owner, before=_named(token))
    return True


def revoke_all(*, actor: User, owner: User) -> int:
    """Where an account is closed. Returns how many opened something until now."""
    return sum(revoke(actor=actor, token=token) for token in ApiToken.objects.filter(owner=owner, revoked=None))


def get_token(user: User, pk: int) -> ApiToken:
    """One of the person's own; any, for an operator. Nobody else learns that there is one."""
    token = ApiToken.objects.select_related("owner").filter(pk=pk).first()
    if token is None or not (token.owner_id == user.pk or user.is_superuser):
        raise Http404("No such token.")
    return token


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _named(token: ApiToken) -> dict[str, Any]:
    return {"name": token.name, "prefix": token.prefix}


def _said(token: ApiToken, banks: Sequence[Bank] | None) -> dict[str, Any]:
    where = ["all"] if banks is None else [bank.bank_id for bank in banks]
    ends = f"{token.expires:%Y-%m-%d}"
    return {**_named(token), "role": Role(token.role).label, "banks": where, "expires": ends}
