"""Mails to people who want them: a daily digest, a word before memories are approved by time, and lost facts."""

import logging
import time
from datetime import datetime, timedelta
from email.utils import parseaddr
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from banks.recall.selectors import lost_for
from memadmin.accounts.models import User
from reviews.models import Notice, NoticeChoice
from reviews.selectors import notices as said

logger = logging.getLogger(__name__)
Kind, State = Notice.Kind, Notice.State

LATE = timedelta(hours=12)  # after that a mail of the morning is of no use
MOST_ATTEMPTS = 5
FIRST_PAUSE = timedelta(minutes=2)
KEPT = timedelta(days=90)
AT_ONCE, MOST_FAILURES = 200, 3  # mails of one turn
SLICE = 60.0  # seconds of one turn
SUBJECTS = {
    Kind.DIGEST: "What waits for review",
    Kind.SOON: "Memories about to be approved by time",
    Kind.RECALL: "Facts that stopped coming back",
}
PAGES = {
    Kind.DIGEST: ("Review", "reviews:entry-list", ""),
    Kind.SOON: ("Review", "reviews:entry-list", "?age=soon"),
    Kind.RECALL: ("Saved queries", "reviews:recall-check-list", ""),
}


def choose(
    *, user: User, digest: bool, soon: bool, hour: int, time_zone: str, recall: bool = False, email: str = ""
) -> None:
    """Only a change counts from now on; storing the same again delays nothing. `email`: for an account without one."""
    wanted = {"digest": digest, "soon": soon, "recall": recall, "hour": hour, "time_zone": time_zone, "email": email}
    choice, _ = NoticeChoice.objects.get_or_create(user=user, defaults={})
    if any(getattr(choice, name) != value for name, value in wanted.items()):
        NoticeChoice.objects.filter(pk=choice.pk).update(**wanted, chosen_at=timezone.now())


def switch_off(*, token: str) -> bool:
    """Every mail to the person whose link this is. False for a link that is none; otherwise idempotent."""
    return bool(NoticeChoice.objects.filter(off_token=token).update(digest=False, soon=False, recall=False))


def plan() -> int:
    """A row for each mail that is due. Running it twice, or at once, makes none a second time."""
    if not settings.MAIL_ON:
        return 0
    reached = NoticeChoice.objects.filter(user__is_active=True).exclude(user__email="", email="")
    wanted = reached.exclude(digest=False, soon=False, recall=False)
    rows = [
        Notice(user_id=choice.user_id, kind=kind, day=choice.today())
        for choice in wanted.iterator(chunk_size=500)
        for kind in choice.kinds_due(late=LATE)
    ]
    Notice.objects.bulk_create(rows, ignore_conflicts=True, batch_size=200)
    Notice.objects.filter(created__lt=timezone.now() - KEPT).delete()
    return len(rows)


def send_due(*, limit: int = AT_ONCE) -> int:
    """Sends what waits, one after the other; returns how many were sent. Safe to run twice at once."""
    if not settings.MAIL_ON:
        return 0
    due = Notice.objects.filter(state=State.WAITING, not_before__lte=timezone.now()).order_by("not_before", "pk")
    over, said = time.monotonic() + SLICE, list[str]()
    for key in list(due.values_list("pk", flat=True)[:limit]):
        said.append(send(key))
        # A mail server that is away is not waited for by one person after the other: the rest is the next turn's.
        if said.count("waiting") + said.count("failed") >= MOST_FAILURES or time.monotonic() > over:
            break
    return said.count("sent")


def send(notice_id: int) -> str:
    """One mail, at most once: the row is taken before anything leaves, and only a clear failure gives it back."""
    taken = Notice.objects.filter(pk=notice_id, state=State.WAITING, not_before__lte=timezone.now())
    if not taken.update(state=State.SENDING, attempts=F("attempts") + 1):
        return "not due"
    notice = Notice.objects.select_related("user").get(pk=notice_id)
    choice = NoticeChoice.objects.filter(user=notice.user_id).select_related("user").first()
    # Asked anew: somebody may have switched it off, or lost every role, since the row was made.
    wanted = choice is not None and getattr(choice, notice.kind) and notice.user.is_active and choice.address
    lines = _lines(notice) if wanted else []
    if choice is None or not lines:
        return _end(notice, State.EMPTY)
    try:
        _message(notice, choice, lines).send()
    except (OSError, ValueError) as error:  # SMTP errors are OSErrors; their words may hold addresses and keys
        logger.warning("mail %s could not be sent (%s)", notice.pk, type(error).__name__)
        return _failed(notice, type(error).__name__)
    return _end(notice, State.SENT, sent=timezone.now())


def _lines(notice: Notice) -> list[str]:
    """What it tells; nothing when there is nothing to tell."""
    if notice.kind == Kind.RECALL:
        return said.lost_lines(lost_for(notice.user), _told_before(notice))
    found = said.summary_for(notice.user)
    if notice.kind == Kind.DIGEST:
        return [] if found.is_empty else said.digest_lines(found)
    return said.soon_lines(found) if found.soon else []


def _told_before(notice: Notice) -> datetime | None:
    """When the last mail of its kind that was sent began: what was lost by then, it told."""
    earlier = Notice.objects.filter(user=notice.user_id, kind=notice.kind, state=State.SENT, pk__lt=notice.pk)
    return earlier.order_by("-pk").values_list("created", flat=True).first()


def _message(notice: Notice, choice: NoticeChoice, lines: list[str]) -> EmailMessage:
    headers = {
        "Message-ID": f"<notice-{notice.pk}-{notice.day:%Y%m%d}@{_domain()}>",
        "Auto-Submitted": "auto-generated",
    }
    if base := settings.PUBLIC_URL:
        off = f"{base}{reverse('reviews:notice-off', args=[choice.off_token])}"
        label, page, query = PAGES[Kind(notice.kind)]
        lines += ["", f"{label}: {base}{reverse(page)}{query}", "", f"No more of these mails: {off}"]
        headers |= {"List-Unsubscribe": f"<{off}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    else:
        lines += ["", "The page “Notifications” of memadmin switches these mails off."]
    subject = f"{SUBJECTS[Kind(notice.kind)]} ({notice.day:%Y-%m-%d})"
    return EmailMessage(subject, "\n".join(lines) + "\n", to=[choice.address], headers=headers)


def _domain() -> str:
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"


def _failed(notice: Notice, error: str) -> str:
    if notice.attempts >= MOST_ATTEMPTS:
        return _end(notice, State.FAILED, error=error)
    pause = FIRST_PAUSE * 2 ** (notice.attempts - 1)
    return _end(notice, State.WAITING, error=error, not_before=timezone.now() + pause)


def _end(notice: Notice, state: Notice.State, **changes: Any) -> str:
    Notice.objects.filter(pk=notice.pk, state=State.SENDING).update(state=state, **changes)
    return str(state.value)
