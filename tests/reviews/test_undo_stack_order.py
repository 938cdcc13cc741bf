"""The stack itself: the newest first over all kinds, one step at a time, for a day."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.http import Http404
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import Bank, Role, Write
from reviews.errors import TooLate
from reviews.services import decide
from reviews.undoing.acts import NotTheLast, NotUndone
from reviews.undoing.judging import judge
from reviews.undoing.steps import LOOKED_AT, stack, top
from tests import factories
from tests.conftest import People
from tests.reviews.undoing import act, end, restore, retire, said, undo, with_facts

pytestmark = pytest.mark.django_db
START = "2026-03-16T10:00:00Z"


def test_it_walks_back_over_all_kinds(bank: Bank, people: People) -> None:
    with time_machine.travel(START, tick=False) as clock:
        facts = with_facts(bank)
        for number, kind in enumerate(("approve", "delete")):
            act(kind, people.reviewer, factories.make_entry(bank, f"{number}.md"))
            clock.shift(1)
        retire(people.reviewer, facts, "f1", "f2")
        clock.shift(1)
        restore(people.reviewer, facts, "f3")
        clock.shift(1)
        act("approve", people.reviewer, facts)
        whole = [
            "approve of notes/f.md",
            "restore of 1 fact in notes/f.md",
            "retire of 2 facts in notes/f.md",
            "delete of 1.md",
            "approve of 0.md",
        ]
        assert said(people.reviewer) == whole
        for number in range(len(whole)):
            undo(people.reviewer)
            for row in Write.objects.filter(state="queued", undo_of__isnull=False):
                end(row, **{{"restore": "restored", "retire": "retired"}[row.kind]: row.fact_ids})
            assert said(people.reviewer) == whole[number + 1 :]
    assert Write.objects.filter(undo_of__isnull=False).count() == len(whole)


def test_only_the_newest_can_be_named(bank: Bank, people: People) -> None:
    first, second = factories.make_entry(bank, "1.md"), factories.make_entry(bank, "2.md")
    act("approve", people.reviewer, first)
    named = stack(people.reviewer)[0].name
    act("approve", people.reviewer, second)  # in another tab
    with pytest.raises(NotTheLast, match=r"approve of 1.md.*approve of 2.md"):
        undo(people.reviewer, named)
    undo(people.reviewer)
    undo(people.reviewer, named)
    first.refresh_from_db()
    assert first.state == "pending"


def test_the_same_press_twice_is_one_undo(bank: Bank, people: People) -> None:
    for kind in ("approve", "delete"):
        act(kind, people.reviewer, factories.make_entry(bank))
        name = stack(people.reviewer)[0].name
        assert not undo(people.reviewer, name).again
        assert undo(people.reviewer, name).again
    retire(people.reviewer, with_facts(bank), "f1")
    name = stack(people.reviewer)[0].name
    first, again = undo(people.reviewer, name), undo(people.reviewer, name)
    assert (again.again, again.write, again.entry) == (True, first.write, first.entry)
    assert Write.objects.filter(undo_of__isnull=False).count() == 3


def test_what_was_refused_and_said_so_is_passed_over(bank: Bank, people: People) -> None:
    first, second = factories.make_entry(bank, "1.md"), factories.make_entry(bank, "2.md")
    act("approve", people.reviewer, first)
    act("approve", people.reviewer, second)
    decide.undo(user=people.owner, entry_id=second.pk)
    name = stack(people.reviewer)[0].name
    with pytest.raises(NotUndone, match="Ann Weber took it back already"):
        undo(people.reviewer, name)
    step = top(people.reviewer, {name})
    assert step is not None
    assert step.said == "approve of 1.md"
    undo(people.reviewer, step.name, passed={name})
    assert top(people.reviewer, {name}) is None


def test_a_day_is_remembered_and_strangers_actions_are_not(bank: Bank, people: People) -> None:
    with time_machine.travel(START, tick=False) as clock:
        act("approve", people.reviewer, factories.make_entry(bank))
        name = stack(people.reviewer)[0].name
        assert stack(people.owner) == []
        with pytest.raises(Http404):
            undo(people.owner, name)
        for nonsense in ("w0", "w", "x1", "w٣", "j1", "-", "w" + "9" * 30):
            with pytest.raises(Http404):
                undo(people.owner, nonsense)
        clock.shift(timedelta(hours=24, seconds=1))
        assert stack(people.reviewer) == []
        with pytest.raises(TooLate, match="too long ago"):
            undo(people.reviewer, name)


def test_other_ways_in_are_nobodys_last_action(bank: Bank, people: People) -> None:
    for via in (Write.Via.API, Write.Via.CLI):
        entry = factories.make_entry(bank)
        decide.approve(user=people.reviewer, entry_id=entry.pk, version=1, text_hash=str(entry.text_id), via=via)
    assert stack(people.reviewer) == []


def test_a_long_day_asks_no_more(bank: Bank, people: People) -> None:
    facts = with_facts(bank)
    counts = []
    for _ in range(2):
        for _ in range(4):
            act("approve", people.reviewer, factories.make_entry(bank))
            act("delete", people.reviewer, factories.make_entry(bank))
            retire(people.reviewer, facts, "f1")
        user = type(people.reviewer).objects.get(pk=people.reviewer.pk)
        with CaptureQueriesContext(connection) as queries:
            judged = judge(user, stack(user))
        counts.append(len(queries))
    assert len(judged) == 24
    assert counts[0] == counts[1] <= 12
    assert not [each for each in queries if "banks_blob" in each["sql"]]


def test_of_endless_rows_the_latest_are_looked_at(bank: Bank, people: People) -> None:
    now = timezone.now()
    rows = [
        Write(kind="approve", bank=bank, via="web", actor=people.reviewer, state="done", occurred_at=now)
        for _ in range(LOOKED_AT + 50)
    ]
    Write.objects.bulk_create(rows)
    assert len(stack(people.reviewer)) == LOOKED_AT


def test_nothing_of_a_lost_bank_is_shown(bank: Bank, people: People) -> None:
    act("approve", people.reviewer, factories.make_entry(bank, "secret.md"))
    people.reviewer.memberships.all().delete()
    user = type(people.reviewer).objects.get(pk=people.reviewer.pk)
    assert said(user) == ["approve in a bank that you can no longer see"]
    with pytest.raises(NotUndone) as refused:
        undo(user)
    assert refused.value.judged.write is None
    factories.grant(people.reviewer, bank, Role.VIEWER)
    user = type(people.reviewer).objects.get(pk=people.reviewer.pk)
    with pytest.raises(NotUndone, match="Your role"):
        undo(user)
