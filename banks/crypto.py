"""Secrets at rest: the first of MEMADMIN_ENCRYPTION_KEYS encrypts, all of them decrypt."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class CannotDecrypt(Exception):
    """No configured key opens this secret: it was stored under a key that is gone."""


def _keys() -> list[Fernet]:
    # Any passphrase will do as a key: Fernet wants exactly 32 bytes.
    return [Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest())) for key in settings.ENCRYPTION_KEYS]


def encrypt(secret: str) -> str:
    return MultiFernet(_keys()).encrypt(secret.encode()).decode("ascii") if secret else ""


def decrypt(token: str) -> str:
    if not token:
        return ""
    try:
        return MultiFernet(_keys()).decrypt(token.encode("ascii")).decode()
    except (InvalidToken, UnicodeError) as error:
        raise CannotDecrypt("stored under an encryption key that is not in MEMADMIN_ENCRYPTION_KEYS") from error


def key_of(token: str) -> int | None:
    """Which of the keys opens this secret: 0 is the one that encrypts, None that none does."""
    for number, key in enumerate(_keys()):
        try:
            key.decrypt(token.encode("ascii"))
        except (InvalidToken, UnicodeError):
            continue
        return number
    return None
