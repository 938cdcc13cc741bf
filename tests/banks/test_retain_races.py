"""People and workers who act on the retain queue at the same instant: each memory goes one way, once."""

from functools import partial
from itertools import pairwise

import pytest
from django.utils import timezone

from banks import writes
from banks.models import Bank, Blob, RetainItem, Write
from banks.retain import discarding, flush
from tests.banks.retaining import Keeping, gives_up, put, states, work_off
from tests.conftest import People
from tests.racing import ROUNDS, at_once

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


def test_two_people_who_send_again_send_once(bank: Bank, people: People, wire: Keeping) -> None:
    for _ in range(ROUNDS):
        put(people.reviewer, bank, "Ann came.", "Ben came.")
        write = gives_up(bank)
        acts = [partial(writes.retry, write=Write.objects.get(pk=write.pk), actor=people.owner) for _ in range(2)]
        assert sorted(map(bool, at_once(*acts))) == [False, True]
        work_off(bank)
    assert wire.texts == [["Ann came.", "Ben came."]] * ROUNDS
    assert set(states(bank)) == {"done"}


def test_sent_again_or_discarded_but_not_both(bank: Bank, people: People, wire: Keeping) -> None:
    for _ in range(ROUNDS):
        put(people.reviewer, bank, "Ann came.")
        write = gives_up(bank)
        wire.posts.clear()
        again, dropped = at_once(
            partial(writes.retry, write=Write.objects.get(pk=write.pk), actor=people.owner),
            partial(writes.discard, write=Write.objects.get(pk=write.pk), actor=people.reviewer),
        )
        assert bool(again) != bool(dropped)
        work_off(bank)
        assert (len(wire.posts), states(bank)[-1]) == ((1, "done") if again else (0, "discarded"))


def test_a_memory_that_is_discarded_while_a_batch_is_put_together_goes_or_stays(
    bank: Bank, people: People, wire: Keeping
) -> None:
    for number in range(ROUNDS):
        one, two = put(people.reviewer, bank, f"Ann {number}.", f"Ben {number}.")
        RetainItem.objects.update(not_before=timezone.now())
        wire.posts.clear()
        dropped, _ = at_once(partial(discarding.discard, user=people.reviewer, item=one), partial(flush.flush, bank.pk))
        work_off(bank)
        one.refresh_from_db()
        two.refresh_from_db()
        expected = [f"Ben {number}."] if dropped else [f"Ann {number}.", f"Ben {number}."]
        assert [text for texts in wire.texts for text in texts] == expected
        assert (one.state, two.state) == ("discarded" if dropped else "done", "done")


def test_what_comes_while_a_batch_is_put_together_is_in_one_batch(bank: Bank, people: People, wire: Keeping) -> None:
    for number in range(ROUNDS):
        put(people.reviewer, bank, *[f"{number} before {at}" for at in range(16)])
        at_once(
            partial(put, people.reviewer, bank, *[f"{number} meanwhile {at}" for at in range(16)]),
            partial(flush.flush, bank.pk),
            partial(flush.flush, bank.pk),
        )
        work_off(bank)
    texts = [text for each in wire.texts for text in each]
    assert (len(texts), len(set(texts)), set(states(bank))) == (32 * ROUNDS, 32 * ROUNDS, {"done"})


def test_the_rows_of_a_request_follow_each_other(bank: Bank, people: People, wire: Keeping) -> None:
    """Else two operations about the same documents would each have a row before the other's, and wait for ever."""
    for number in range(10):
        texts = [[f"{number} {who} {at}" for at in range(40)] for who in "ab"]
        at_once(*[partial(put, people.reviewer, bank, *each) for each in texts])
    rows = RetainItem.objects.order_by("pk").values_list("content_id", flat=True)
    whose = [Blob.objects.get(pk=content).text.split()[:2] for content in rows]
    assert sum(one != other for one, other in pairwise(whose)) == 2 * 10 - 1
