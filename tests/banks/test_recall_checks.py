"""Saved queries: a fact that stops coming back is noticed, a bank that is away forgets nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from banks import connections
from banks.models import Bank, ExpectedFact, RecallCheck, Server
from banks.recall import checks, saving
from banks.recall.selectors import lost_for
from banks.services.refusal import Refusal
from tests.banks.conftest import NOW, LyingTransport, store
from tests.banks.recalling import ANN, ask_now, recall, save
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


def retire(bank: Bank, text: str) -> str:
    """What an agent does, past memadmin."""
    with connections.client_for(bank.server) as client:
        (fact,) = [each for each in client.list_facts(bank.bank_id).items if each.text == text]
        client.patch_fact(bank.bank_id, fact.id, state="invalidated")
        return fact.id


def test_what_is_expected_is_there_when_it_is_saved(
    bank: Bank, people: People, line: LyingTransport, clock: time_machine.Traveller
) -> None:
    check = save(people.reviewer, bank)
    (fact,) = check.expected.all()
    assert (fact.text, fact.place, fact.way, fact.missing_since) == (ANN, 1, "itself", None)
    assert (check.lost, check.made_by, check.asked["query"]) == (0, str(people.reviewer), "Who keeps the ledger?")
    assert timedelta() < check.run_after - timezone.now() < timedelta(days=1)
    assert check.run_after.hour == 3
    assert checks.run(check.pk) == "not due"


def test_a_fact_that_stops_coming_back_is_lost_since_then(
    bank: Bank, people: People, line: LyingTransport, clock: time_machine.Traveller
) -> None:
    check = save(people.reviewer, bank)
    fact_id = retire(bank, ANN)
    clock.move_to(check.run_after)
    assert checks.due() == [check.pk]
    assert checks.run(check.pk) == "lost"
    clock.shift(timedelta(days=1))
    assert checks.run(check.pk) == "lost"
    check.refresh_from_db()
    fact = check.expected.get()
    assert (check.lost, fact.place, fact.missing_since) == (1, None, timezone.now() - timedelta(days=1))
    assert lost_for(people.viewer).facts == 1
    assert not lost_for(people.stranger)
    with connections.client_for(bank.server) as client:
        client.patch_fact(bank.bank_id, fact_id, state="valid")
    assert ask_now(check, people.reviewer) == "well"
    assert (check.lost, check.expected.get().missing_since) == (0, None)


def test_a_fact_is_known_again_by_its_words_after_a_new_extraction(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    check = save(people.reviewer, bank)
    before = check.expected.get().fact_id
    store(bank, "notes/a.md", "Ann keeps the ledger. Ben reads it every day.")
    assert ask_now(check, people.reviewer) == "well"
    fact = check.expected.get()
    assert (fact.fact_id != before, fact.way) == (True, "itself")


def test_another_text_and_an_observation_count_as_there(bank: Bank, people: People, line: LyingTransport) -> None:
    check = save(people.reviewer, bank)
    with connections.client_for(bank.server) as client:
        client.patch_fact(bank.bank_id, check.expected.get().fact_id, text="Ann keeps the old ledger.")
    assert ask_now(check, people.reviewer) == "well"
    assert check.expected.get().way == "changed"
    store(bank, "more", "Ann keeps the keys of the ledger.")
    RecallCheck.objects.update(asked={**check.asked, "prefer": True})
    assert ask_now(check, people.reviewer) == "well"
    assert check.expected.get().way == "derived"


def test_a_bank_that_does_not_answer_has_lost_nothing(
    bank: Bank, people: People, line: LyingTransport, clock: time_machine.Traveller
) -> None:
    check = save(people.reviewer, bank)
    clock.move_to(check.run_after)
    line.cut_before = ["POST"]
    assert checks.run(check.pk) == "no answer"
    check.refresh_from_db()
    assert (check.lost, check.failures, check.expected.get().place) == (0, 1, 1)
    assert check.error
    assert check.run_after == timezone.now() + checks.FIRST_PAUSE
    clock.move_to(check.run_after)
    assert checks.run(check.pk) == "well"
    check.refresh_from_db()
    assert (check.error, check.failures, check.answered_at) == ("", 0, timezone.now())


def test_servers_that_are_away_are_left_alone(
    bank: Bank, people: People, line: LyingTransport, clock: time_machine.Traveller
) -> None:
    check = save(people.reviewer, bank)
    clock.move_to(check.run_after)
    Server.objects.update(health=Server.Health.REFUSED)
    assert checks.due() == []
    Server.objects.update(health=Server.Health.OK)
    Bank.objects.update(gone_since=timezone.now())
    assert checks.due() == []


def test_of_two_workers_one_asks(
    bank: Bank, people: People, line: LyingTransport, clock: time_machine.Traveller
) -> None:
    check = save(people.reviewer, bank)
    clock.move_to(check.run_after)
    line.before_call["POST"] = lambda: said.append(checks.run(check.pk))
    said: list[str] = []
    assert checks.run(check.pk) == "well"
    assert said == ["not due"]
    RecallCheck.objects.update(run_after=timezone.now(), claimed_until=timezone.now() + checks.CLAIM)
    assert checks.due() == []  # one that was killed holds it for a while
    clock.shift(checks.CLAIM + timedelta(seconds=1))
    assert checks.due() == [check.pk]


def test_one_that_was_removed_meanwhile_stores_nothing(bank: Bank, people: People, line: LyingTransport) -> None:
    check = save(people.reviewer, bank)
    checks.ask_now(user=people.reviewer, check=check)
    line.before_call["POST"] = lambda: saving.remove(user=people.reviewer, check=check)
    assert checks.run(check.pk) == "not ours"
    assert not ExpectedFact.objects.exists()


@pytest.mark.parametrize("picks", [(), (7,), (0,), (-1,)])
def test_something_has_to_be_expected(bank: Bank, people: People, line: LyingTransport, picks: tuple[int, ...]) -> None:
    with pytest.raises(Refusal, match="at least one fact"):
        save(people.reviewer, bank, picks=picks)
    assert not RecallCheck.objects.exists()


def test_observations_are_not_expected(bank: Bank, people: People, line: LyingTransport) -> None:
    store(bank, "more", "Ann keeps the keys.")
    job = recall(people.reviewer, bank, types=("observation",))
    with pytest.raises(Refusal, match="made anew"):
        saving.save(user=people.reviewer, job=job, name="x", picks=[1])


def test_a_bank_has_a_bounded_number_of_them(
    bank: Bank, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "MOST", 1)
    check = save(people.reviewer, bank)
    with pytest.raises(Refusal, match="at most 1"):
        save(people.reviewer, bank, name="Another")
    assert save(people.reviewer, bank) == check  # a second click
    assert RecallCheck.objects.get() == check


def test_a_fact_that_need_not_come_back_is_lost_no_more(bank: Bank, people: People, line: LyingTransport) -> None:
    store(bank, "more", "Zoe keeps a ledger.")
    check = save(people.reviewer, bank, picks=(1, 2))
    gone, other = check.expected.all()
    retire(bank, gone.text)
    assert ask_now(check, people.reviewer) == "lost"
    for _ in range(2):
        saving.expect_no_more(user=people.reviewer, check=check, expected=gone.pk)
    check.refresh_from_db()
    assert (check.lost, check.expected.get()) == (0, other)
    with pytest.raises(Refusal, match="only fact"):
        saving.expect_no_more(user=people.reviewer, check=check, expected=other.pk)
    assert not lost_for(people.reviewer)


def test_a_fact_that_is_dropped_while_it_is_looked_for_is_not_counted(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    store(bank, "more", "Zoe keeps a ledger.")
    check = save(people.reviewer, bank, picks=(1, 2))
    gone = check.expected.all()[0]
    retire(bank, gone.text)
    checks.ask_now(user=people.reviewer, check=check)
    line.before_call["POST"] = lambda: saving.expect_no_more(user=people.reviewer, check=check, expected=gone.pk)
    assert checks.run(check.pk) == "well"
    check.refresh_from_db()
    assert check.lost == 0


def test_the_night_is_that_of_the_installation(settings: object, clock: time_machine.Traveller) -> None:
    settings.RECALL_CHECK_HOUR = 10  # type: ignore[attr-defined]
    assert checks.next_night(0) == datetime(2026, 3, 17, 10, 0, tzinfo=UTC)  # it is ten sharp
    assert checks.next_night(61) == datetime(2026, 3, 16, 10, 1, tzinfo=UTC)
