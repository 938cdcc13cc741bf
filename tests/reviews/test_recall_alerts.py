"""Who is told when facts stop coming back: once for each that goes away, without a word of it."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from banks.models import Bank, ExpectedFact, Membership, RecallCheck
from memadmin import outgoing as wire
from reviews.models import Notice, OutgoingDelivery
from reviews.services import notices, outgoing
from tests.conftest import People
from tests.reviews.outgoing import make_outgoing

SECRET_TEXT = "The password of the ledger is hunter2."


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-03-16T10:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def check(bank: Bank, clock: time_machine.Traveller) -> RecallCheck:
    check = RecallCheck.objects.create(bank=bank, name="Secret ledger", asked={"query": "x"}, made_by="Mira")
    for number in range(2):
        ExpectedFact.objects.create(recall_check=check, fact_id=f"f{number}", text=SECRET_TEXT, words_hash=f"{number}")
    return check


@pytest.fixture
def reader(people: People, settings: Any, clock: time_machine.Traveller) -> Any:
    """Somebody who wants to know of lost facts alone, at eight."""
    settings.MAIL_ON, settings.PUBLIC_URL = True, "https://memadmin.example.org"
    people.reviewer.email = "mira@example.org"
    people.reviewer.save()
    notices.choose(user=people.reviewer, digest=False, soon=False, recall=True, hour=8, time_zone="UTC")
    return people.reviewer


def lose(check: RecallCheck, fact_id: str) -> None:
    """As a check of the night does."""
    ExpectedFact.objects.filter(recall_check=check, fact_id=fact_id).update(missing_since=timezone.now())
    RecallCheck.objects.filter(pk=check.pk).update(lost=1)


def morning(clock: time_machine.Traveller, day: int) -> list[Any]:
    """The mails of one morning."""
    before = len(mail.outbox)
    clock.move_to(f"2026-03-{day}T08:00:00Z")
    notices.plan()
    notices.send_due()
    return mail.outbox[before:]


def test_a_mail_tells_of_what_was_lost_once(reader: Any, check: RecallCheck, clock: time_machine.Traveller) -> None:
    assert morning(clock, 17) == []
    clock.move_to("2026-03-18T03:00:00Z")
    lose(check, "f0")
    (message,) = morning(clock, 18)
    assert message.subject == "Facts that stopped coming back (2026-03-18)"
    assert "1 fact that a saved query expects does not come back any more." in message.body
    assert "- Checkout service: 1\n" in message.body
    assert "https://memadmin.example.org/recall/checks/" in message.body
    for secret in (SECRET_TEXT, "Secret ledger"):
        assert secret not in str(message.message())
    assert morning(clock, 19) == []  # nothing else went away
    clock.move_to("2026-03-20T03:00:00Z")
    lose(check, "f1")
    (message,) = morning(clock, 20)
    assert "2 expected facts do not come back any more." in message.body


def test_what_came_back_is_told_no_more(reader: Any, check: RecallCheck, clock: time_machine.Traveller) -> None:
    lose(check, "f0")
    ExpectedFact.objects.update(missing_since=None)
    assert morning(clock, 17) == []
    assert Notice.objects.get().state == Notice.State.EMPTY


def test_who_sees_the_bank_no_more_is_not_told(reader: Any, check: RecallCheck, clock: time_machine.Traveller) -> None:
    lose(check, "f0")
    Membership.objects.filter(user=reader).delete()
    assert morning(clock, 17) == []


def test_the_way_out_ends_these_too(reader: Any, check: RecallCheck, clock: time_machine.Traveller) -> None:
    lose(check, "f0")
    assert notices.switch_off(token=reader.notice_choice.off_token)
    assert morning(clock, 17) == []


def test_a_team_is_told_once_and_never_of_a_persons_bank(
    bank: Bank, check: RecallCheck, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []

    def post(url: str, *, headers: dict[str, str], body: bytes) -> tuple[int, float]:
        sent.append(body)
        return 200, 0.1

    monkeypatch.setattr(wire, "post", post)
    make_outgoing(bank.server, digest=False, soon=False, recall=True)
    lose(check, "f0")
    for day in (17, 18):
        clock.move_to(f"2026-03-{day}T08:00:00Z")
        outgoing.plan()
        outgoing.send_due()
    (raw,) = sent
    said = json.loads(raw)
    assert (said["event"], said["lost"], said["banks"]) == ("recall", 1, [{"name": "Checkout service", "lost": 1}])
    assert b"hunter2" not in raw
    Bank.objects.update(kind=Bank.Kind.PERSON)
    clock.shift(timedelta(hours=1))
    lose(check, "f1")
    clock.move_to("2026-03-19T08:00:00Z")
    outgoing.plan()
    assert outgoing.send_due() == 0
    assert OutgoingDelivery.objects.filter(state=OutgoingDelivery.State.EMPTY).count() == 2
