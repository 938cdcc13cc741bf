from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone


class User(AbstractUser):
    """A person. Superusers are operators: they may administer every server and bank."""

    class Theme(models.TextChoices):
        SYSTEM = "", "as the system"
        LIGHT = "light", "light"
        DARK = "dark", "dark"

    # The token by which a program acts in this person's name (banks.models.ApiToken): no right exceeds it.
    token: Any = None

    theme = models.CharField(max_length=5, choices=Theme.choices, default=Theme.SYSTEM, blank=True)
    letters = models.BooleanField(default=True, db_default=True, help_text="single letters are keys")

    last_seen = models.DateTimeField(null=True, help_text="a page of theirs was asked for; to a few minutes")

    @property
    def seen(self) -> datetime | None:
        """The last sign of this person in a browser."""
        return max((at for at in (self.last_seen, self.last_login) if at), default=None)

    @property
    def display_name(self) -> str:
        """As it is written into decisions and the log; two long names together may be longer than that."""
        return (self.get_full_name() or self.username)[:150]


class LoginLink(models.Model):
    """A one-time sign-in link: only the hash is stored, it is spent by a POST, and it is short-lived."""

    user = models.ForeignKey(User, models.CASCADE, related_name="login_links")
    token_hash = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(default=timezone.now)
    expires = models.DateTimeField()
    spent = models.DateTimeField(null=True)
    invitation = models.BooleanField(default=False, help_text="handed to somebody who has never been here")

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"sign-in link for {self.user}, until {self.expires:%H:%M}"


class SignInTries(models.Model):
    """Wrong passwords and codes, counted by what was typed (hashed), by network address, or by person."""

    key = models.CharField(max_length=80, unique=True)
    failures = models.PositiveIntegerField(default=0)
    last = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.failures} tries"
