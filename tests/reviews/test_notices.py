"""Mails to people who want them: one a day of each kind, at their hour, without anything that is secret."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from banks.models import Bank, Membership
from reviews.models import Notice, NoticeChoice, ReviewEntry
from reviews.services import notices
from tests import factories
from tests.conftest import People

State = Notice.State
SECRET_TEXT = "The password of the ledger is hunter2."


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-03-16T10:00:00Z", tick=False) as traveller:  # a Monday
        yield traveller


@pytest.fixture
def reader(clock: time_machine.Traveller, people: People, bank: Bank, settings: Any) -> Any:
    """Somebody who wants everything at eight in the morning of Berlin; something waits, and some of it not for long."""
    settings.MAIL_ON, settings.PUBLIC_URL = True, "https://memadmin.example.org"
    people.reviewer.email = "mira@example.org"
    people.reviewer.save()
    notices.choose(user=people.reviewer, digest=True, soon=True, hour=8, time_zone="Europe/Berlin")
    factories.make_entry(bank, "secret/doc.md", text=SECRET_TEXT, expires_at=timezone.now() + timedelta(hours=30))
    factories.make_entry(bank)
    return people.reviewer


def turn() -> list[str]:
    """One beat; the subjects of what it sent."""
    before = len(mail.outbox)
    notices.plan()
    notices.send_due()
    return [message.subject for message in mail.outbox[before:]]


def test_at_their_hour_they_get_each_mail_once_however_many_beats_there_are(
    reader: Any, clock: time_machine.Traveller
) -> None:
    clock.move_to("2026-03-17T06:59:00Z")
    assert turn() == []
    clock.move_to("2026-03-17T07:00:00Z")  # eight in Berlin
    assert turn() == ["What waits for review (2026-03-17)", "Memories about to be approved by time (2026-03-17)"]
    for minutes in (0, 1, 60, 600):
        clock.move_to("2026-03-17T07:00:00Z")
        clock.shift(timedelta(minutes=minutes))
        assert turn() == []
    assert Notice.objects.count() == 2
    clock.move_to("2026-03-18T07:00:00Z")
    assert turn()[0] == "What waits for review (2026-03-18)"


def test_what_is_in_them_and_what_is_not(reader: Any, bank: Bank, clock: time_machine.Traveller) -> None:
    Bank.objects.filter(pk=bank.pk).update(name="Books\r\nBcc: eve@example.org\u202e")
    clock.move_to("2026-03-17T07:00:00Z")
    turn()
    digest, soon = mail.outbox
    assert digest.to == ["mira@example.org"]
    assert "2 pending, 1 of them to be approved by time" in digest.body
    assert "- BooksBcc: eve@example.org: 2 pending, 0 held\n" in digest.body
    assert "1 pending memories are approved by time within 24 hours" in soon.body
    choice = NoticeChoice.objects.get()
    off = f"https://memadmin.example.org/mail/off/{choice.off_token}"
    for message in (digest, soon):
        text = str(message.message())
        assert SECRET_TEXT not in text
        assert "secret/doc.md" not in text
        assert off in message.body
        assert message.extra_headers["List-Unsubscribe"] == f"<{off}>"
        assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert len({message.extra_headers["Message-ID"] for message in (digest, soon)}) == 2


def test_the_day_is_the_persons(reader: Any, clock: time_machine.Traveller) -> None:
    notices.choose(user=reader, digest=True, soon=False, hour=23, time_zone="Pacific/Auckland")
    clock.move_to("2026-03-17T10:00:00Z")  # 23:00 of the 17th there
    turn()
    assert [notice.day for notice in Notice.objects.all()] == [date(2026, 3, 17)]
    clock.move_to("2026-03-17T12:00:00Z")  # the 18th has begun there, and its hour has not come
    assert turn() == []


@pytest.mark.parametrize(
    ("day", "at"), [("2026-03-29", "2026-03-29T00:30:00Z"), ("2026-10-25", "2026-10-25T00:30:00Z")]
)
def test_the_days_when_clocks_change_have_one_mail(
    reader: Any, clock: time_machine.Traveller, day: str, at: str
) -> None:
    notices.choose(user=reader, digest=True, soon=False, hour=2, time_zone="Europe/Berlin")
    ReviewEntry.objects.update(expires_at=None)
    clock.move_to(at)
    for _ in range(12):
        clock.shift(timedelta(minutes=15))
        turn()
    assert [f"{notice.day}" for notice in Notice.objects.filter(state=State.SENT)] == [day]


def test_what_was_due_before_they_chose_is_not_made_up_for(reader: Any, clock: time_machine.Traveller) -> None:
    clock.move_to("2026-03-17T09:00:00Z")
    notices.choose(user=reader, digest=True, soon=False, hour=8, time_zone="Europe/Berlin")
    assert turn() == []
    clock.move_to("2026-03-18T08:00:00Z")
    assert len(turn()) == 1


def test_a_morning_that_is_long_over_is_left_out(reader: Any, clock: time_machine.Traveller) -> None:
    clock.move_to("2026-03-17T19:01:00Z")
    assert turn() == []


def test_nothing_to_say_is_not_said(reader: Any, clock: time_machine.Traveller) -> None:
    ReviewEntry.objects.update(state=ReviewEntry.State.APPROVED)
    clock.move_to("2026-03-17T07:00:00Z")
    assert turn() == []
    assert {notice.state for notice in Notice.objects.all()} == {State.EMPTY}


def test_rights_and_wishes_are_asked_when_it_is_sent(reader: Any, clock: time_machine.Traveller) -> None:
    clock.move_to("2026-03-17T07:00:00Z")
    notices.plan()
    Membership.objects.filter(user=reader).delete()
    assert notices.send_due() == 0
    assert mail.outbox == []


def test_two_workers_send_one(reader: Any, clock: time_machine.Traveller) -> None:
    clock.move_to("2026-03-17T07:00:00Z")
    notices.plan()
    first = Notice.objects.order_by("pk")[0]
    Notice.objects.filter(pk=first.pk).update(state=State.SENDING)  # by one that was killed in the middle
    assert notices.send(first.pk) == "not due"
    assert notices.send_due() == 1
    assert len(mail.outbox) == 1


def test_a_mail_server_that_is_away_is_tried_again_and_then_no_more(
    reader: Any, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Any, *args: Any) -> int:
        raise ConnectionRefusedError("smtp.example.org said: password hunter2 is wrong")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    clock.move_to("2026-03-17T07:00:00Z")
    for _ in range(notices.MOST_ATTEMPTS + 2):
        turn()
        clock.shift(timedelta(hours=1))
    for notice in Notice.objects.all():
        assert (notice.state, notice.attempts, notice.error) == (
            State.FAILED,
            notices.MOST_ATTEMPTS,
            "ConnectionRefusedError",
        )


@pytest.mark.parametrize("lack", ["server", "address", "account"])
def test_without_a_mail_server_an_address_or_an_account_there_is_none(
    reader: Any, clock: time_machine.Traveller, settings: Any, lack: str
) -> None:
    if lack == "server":
        settings.MAIL_ON = False
    elif lack == "address":
        type(reader).objects.filter(pk=reader.pk).update(email="")
    else:
        type(reader).objects.filter(pk=reader.pk).update(is_active=False)
    clock.move_to("2026-03-17T07:00:00Z")
    assert turn() == []
    assert not Notice.objects.exists()


def test_a_mail_server_that_is_away_is_not_waited_for_by_one_after_the_other(
    reader: Any, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def away(key: int) -> str:
        tried.append(key)
        return "waiting"

    monkeypatch.setattr(notices, "send", away)
    people = [factories.make_user(f"p{number}") for number in range(6)]
    Notice.objects.bulk_create(Notice(user=user, kind="digest", day=date(2026, 3, 16)) for user in people)
    assert notices.send_due() == 0
    assert len(tried) == notices.MOST_FAILURES
