"""Several at once on what is held: one decides, queue and entry agree, and nothing is sent that was rejected."""

from functools import partial

import pytest

from banks.models import Bank, RetainItem, Write
from banks.retain import flush
from banks.services import policy
from reviews.models import Decision, ReviewEntry
from reviews.services import decide
from tests.banks.retaining import put
from tests.conftest import People
from tests.racing import ROUNDS, at_once, refusals
from tests.reviews.holding import act, held, hold, item_of

pytestmark = pytest.mark.django_db(transaction=True)

FITS = {"approved": "queued", "rejected": "discarded", "held": "held"}


def shown(entry: ReviewEntry) -> dict[str, object]:
    return {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}


def agree(entry: ReviewEntry) -> None:
    entry.refresh_from_db()
    item = item_of(entry)
    assert item.state == FITS[entry.state]
    assert item.content_id == entry.text_id


def test_of_approve_reject_and_edit_one_wins(bank: Bank, people: People) -> None:
    for number in range(ROUNDS):
        (entry,) = held(people.owner, bank, f"Memory {number}.")
        results = at_once(
            partial(decide.approve, user=people.owner, **shown(entry)),
            partial(decide.delete, user=people.reviewer, **shown(entry)),
            partial(decide.edit, user=people.operator, new_text=f"Memory {number}, anew.", **shown(entry)),
        )
        assert len(refusals(results)) == 2, results
        assert Decision.objects.filter(entry=entry).count() == 1
        assert Write.objects.filter(document_id=entry.document_id).exclude(kind="hold").count() == 1
        agree(entry)


def test_an_approval_is_sent_or_taken_back_never_both(bank: Bank, people: People) -> None:
    for number in range(ROUNDS):
        (entry,) = held(people.owner, bank, f"Memory {number}.")
        act("approve", people.owner, entry)
        RetainItem.objects.filter(pk=entry.item_id).update(not_before=entry.created)
        Write.objects.filter(kind="retain").update(state="done")
        taken_back, _ = at_once(
            partial(decide.undo, user=people.owner, entry_id=entry.pk), partial(flush.flush, bank.pk)
        )
        entry.refresh_from_db()
        item = item_of(entry)
        if isinstance(taken_back, Decision):
            assert (entry.state, item.state, item.write) == ("held", "held", None)
        else:
            assert (entry.state, item.state) == ("approved", "sent")


def test_a_newer_text_and_an_approval_at_once(bank: Bank, people: People) -> None:
    for number in range(ROUNDS):
        name = f"session-{number}"
        (entry,) = held(people.owner, bank, {"content": "Ann came.", "document_id": name})
        newer = {"content": "Ann came. Ben left.", "document_id": name}
        at_once(partial(decide.approve, user=people.owner, **shown(entry)), partial(put, people.reviewer, bank, newer))
        rows = list(RetainItem.objects.filter(bank=bank, document_id=name).order_by("pk"))
        assert [row.state for row in rows] in (["queued", "held"], ["discarded", "held"])
        waiting = ReviewEntry.objects.get(bank=bank, document_id=name, state="held")
        assert waiting.item == rows[1]
        if rows[0].state == "queued":
            entry.refresh_from_db()
            assert (entry.state, entry.item) == ("approved", rows[0])


def test_the_policy_is_turned_off_while_memories_arrive(bank: Bank, people: People) -> None:
    for number in range(ROUNDS):
        hold(bank)
        bank.refresh_from_db()
        values = {**policy.values_of(bank), "hold": False}
        change = partial(policy.change, actor=people.owner, bank=bank, shown=policy.seen(bank), values=values)
        _, items = at_once(change, partial(put, people.reviewer, bank, f"Memory {number}."))
        (item,) = items  # type: ignore[misc]
        entries = ReviewEntry.objects.filter(item=item, state="held").count()
        assert (item.state, entries) in (("held", 1), ("queued", 0))
