"""Every stored secret under the first of MEMADMIN_ENCRYPTION_KEYS, so that the other keys can go.

Safe while the product runs: a secret is replaced only where it still is what was read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db.models import Model

from banks import crypto
from banks.models import Server, Webhook
from memadmin.up.folder import LOCK, running
from reviews.models import OutgoingHook

# Every field that holds a secret, and what it is called. A test looks for others.
SECRETS: list[tuple[type[Model], str, str]] = [
    (Server, "api_key_encrypted", "API key"),
    (Webhook, "secret_encrypted", "webhook secret"),
    (OutgoingHook, "secret_encrypted", "secret of a notification address"),
    (OutgoingHook, "url_encrypted", "notification address"),
]
FACTOR = ("secret", "seed")  # of an app, and of recovery codes: in the JSON of an authenticator
TRIES = 5  # where somebody stores another secret meanwhile

MOVED, KEPT, LOST, RACED = "re-encrypted", "under the first key", "no key opens it", "changed meanwhile"
WOULD_MOVE = "would be re-encrypted"


@dataclass(frozen=True)
class Outcome:
    server: str
    secret: str  # what it is, never what it says
    outcome: str


def rotate(*, dry_run: bool = False) -> list[Outcome]:
    """Idempotent. What no key opens is left alone."""
    found = []
    for model, field, name in SECRETS:
        for row in model._default_manager.exclude(**{field: ""}).order_by("pk"):
            found.append(Outcome(str(row), name, _rotate(row, field, dry_run=dry_run)))
    for row, key in _factors():
        what = "second factor" if key == "secret" else "recovery codes"
        found.append(Outcome(row.user.username, what, _rotate_factor(row, key, dry_run=dry_run)))
    return found


def _rotate(row: Model, field: str, *, dry_run: bool) -> str:
    rows = type(row)._default_manager.filter(pk=row.pk)
    token = getattr(row, field)
    for _ in range(TRIES):
        number = crypto.key_of(token)
        if number is None:
            return LOST
        if number == 0:
            return KEPT
        if dry_run:
            return WOULD_MOVE
        if rows.filter(**{field: token}).update(**{field: crypto.encrypt(crypto.decrypt(token))}):
            return MOVED
        token = rows.values_list(field, flat=True).first()
        if not token:  # the secret, or its server, was removed
            return KEPT
    return RACED


def _factors() -> Iterator[tuple[Authenticator, str]]:
    for row in Authenticator.objects.select_related("user").order_by("pk"):
        yield from ((row, key) for key in FACTOR if row.data.get(key))


def _rotate_factor(row: Authenticator, key: str, *, dry_run: bool) -> str:
    for _ in range(TRIES):
        number = crypto.key_of(row.data[key])
        if number is None:
            return LOST
        if number == 0:
            return KEPT
        if dry_run:
            return WOULD_MOVE
        moved = {**row.data, key: crypto.encrypt(crypto.decrypt(row.data[key]))}
        # A recovery code that is used at this moment changes the same field.
        if Authenticator.objects.filter(pk=row.pk, data=row.data).update(data=moved):
            return MOVED
        again = Authenticator.objects.filter(pk=row.pk).first()
        if again is None:
            return KEPT
        row = again
    return RACED


def unused_keys() -> list[int]:
    """Positions (from 1) of keys behind the first that open no stored secret."""
    used = {0}
    for model, field, _ in SECRETS:
        tokens = model._default_manager.exclude(**{field: ""}).values_list(field, flat=True)
        used |= {number for token in tokens if (number := crypto.key_of(token)) is not None}
    used |= {number for row, key in _factors() if (number := crypto.key_of(row.data[key])) is not None}
    return [number + 1 for number in range(len(settings.ENCRYPTION_KEYS)) if number not in used]


def runs_with_older_keys(file: Path) -> bool:
    """Whether the `memadmin up` of this data folder started before the file of keys was changed."""
    base = Path(settings.DATA_DIR).parent if settings.DEMO else Path(settings.DATA_DIR)
    if not file.exists() or running(base) is None:
        return False
    return (base / LOCK).stat().st_mtime_ns < file.stat().st_mtime_ns
