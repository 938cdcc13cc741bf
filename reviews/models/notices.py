import secrets
from datetime import date, datetime, time, timedelta
from typing import ClassVar
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils import timezone


def new_token() -> str:
    return secrets.token_urlsafe(24)


class DailyChoice(models.Model):
    """What is wanted each day, and at which hour of which zone."""

    digest = models.BooleanField(default=False, help_text="each day: what waits")
    soon = models.BooleanField(default=False, help_text="when memories are about to be approved by time")
    recall = models.BooleanField(default=False, help_text="when facts that saved queries expect stop coming back")
    hour = models.PositiveSmallIntegerField(default=8, validators=[MaxValueValidator(23)], help_text="of their day")
    time_zone = models.CharField(max_length=64, default="UTC")
    chosen_at = models.DateTimeField(default=timezone.now, help_text="what was due before then is not made up for")

    class Meta:
        abstract = True

    def due_on(self, day: date) -> datetime:
        return datetime.combine(day, time(self.hour), tzinfo=ZoneInfo(self.time_zone))

    def today(self) -> date:
        return timezone.localdate(timezone=ZoneInfo(self.time_zone))

    def kinds_due(self, *, late: timedelta) -> list[str]:
        """What is to be sent now, where it was not yet. Later than `late` nobody wants it any more."""
        now, due = timezone.now(), self.due_on(self.today())
        if not due <= now < due + late or self.chosen_at >= due:
            return []
        return [kind for kind in Notice.Kind.values if getattr(self, kind)]


class NoticeChoice(DailyChoice):
    """Which mails a person wants, and when in their own day. Without a row: none."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notice_choice")
    # Whoever types it in proves nothing by that, so nobody is found or signed in by it.
    email = models.EmailField(blank=True, default="", help_text="where mails go while the account has no address")
    off_token = models.CharField(max_length=43, unique=True, default=new_token, help_text="switches off, nothing else")

    def __str__(self) -> str:
        return f"mails of {self.user}"

    @property
    def address(self) -> str:
        return self.user.email or self.email


class Notice(models.Model):
    """One mail to one person on one of their days. The row is stored first: however many beats there are, it is one.

    Sent at most once: what a worker was sending when it was killed is not sent again.
    """

    class Kind(models.TextChoices):
        DIGEST = "digest", "digest"
        SOON = "soon", "about to be approved by time"
        RECALL = "recall", "facts that stopped coming back"

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENDING = "sending", "sending"
        SENT = "sent", "sent"
        EMPTY = "empty", "nothing to say"
        FAILED = "failed", "failed"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=6, choices=Kind.choices)
    day = models.DateField(help_text="of the person")
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField(default=timezone.now)
    error = models.CharField(max_length=200, blank=True, default="")
    created = models.DateTimeField(default=timezone.now)
    sent = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "kind", "day"], name="notice_once_a_day")]
        indexes: ClassVar = [models.Index(fields=["state", "not_before"], name="notice_due")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.day} for {self.user}"
