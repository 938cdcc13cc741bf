"""Memories that a bank's policy holds back: shown from our row, sent on approval, dropped on rejection."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from banks import retain
from banks.models import Bank, RetainItem, Write
from reviews.errors import Blank, Conflict, TooLarge, TooLate
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, expiry
from tests.banks.conftest import LyingTransport, line
from tests.banks.retaining import drain, in_bank, put, states, text_of
from tests.conftest import People
from tests.reviews.holding import act, held, hold, item_of

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)


def kinds(bank: Bank) -> list[str]:
    return list(Write.objects.filter(bank=bank).order_by("pk").values_list("kind", flat=True))


def test_what_arrives_is_held_and_shown_without_a_call(bank: Bank, people: People, line: LyingTransport) -> None:
    hold(bank)
    items = retain.parse([{"content": "Ann moved to Lyon."}, {"content": "Ben stayed.", "tags": ["x"]}])
    queued = retain.enqueue(user=people.reviewer, bank=bank, items=items, via=Write.Via.API, project="/home/ann/api")
    assert (queued.message, queued.held) == ("2 memories held for review.", True)
    assert queued.said == "2 memories held for review. They are sent once somebody approves them."
    first, second = ReviewEntry.objects.order_by("pk")
    assert (first.state, first.preview, first.loaded) == ("held", "Ann moved to Lyon.", True)
    assert first.project == "/home/ann/api"
    assert (second.tags, second.expires_at, second.sources) == (["x"], None, ["retain"])
    assert kinds(bank) == ["hold", "hold"]
    log = Write.objects.order_by("pk")[0]
    assert (log.actor, log.via, log.document_id) == (people.reviewer, "api", first.document_id)
    drain(bank)
    assert (line.calls, states(bank)) == ([], ["held", "held"])
    (one,) = retain.parse([{"content": "Cara left."}])
    again = retain.enqueue(user=people.reviewer, bank=bank, items=[one], via=Write.Via.API)
    assert again.message == "1 memory held for review."


def test_without_the_policy_nothing_is_held(bank: Bank, people: People, line: LyingTransport) -> None:
    put(people.reviewer, bank, "Ann moved to Lyon.")
    assert (states(bank), ReviewEntry.objects.count()) == (["queued"], 0)


def test_approving_sends_it_with_everything_that_came_with_it(bank: Bank, people: People, line: LyingTransport) -> None:
    given = {"content": "Ann moved.", "document_id": "d", "tags": ["x"], "context": "talk", "timestamp": "unset"}
    (entry,) = held(people.reviewer, bank, given)
    decision = act("approve", people.owner, entry)
    assert (decision.verdict, states(bank)) == ("approved", ["queued"])
    drain(bank)
    row = in_bank(bank)["d"]
    assert (text_of(bank, "d"), row.tags, row.retain_params["context"]) == ("Ann moved.", ["x"], "talk")
    assert kinds(bank) == ["hold", "approve", "retain"]
    approval = Write.objects.get(kind="approve")
    assert (approval.actor, approval.document_id) == (people.owner, "d")


def test_rejecting_drops_it_and_can_be_taken_back(bank: Bank, people: People, line: LyingTransport) -> None:
    (entry,) = held(people.reviewer, bank, "Ann moved.")
    write = act("delete", people.owner, entry)
    entry.refresh_from_db()
    assert (write.kind, write.state, entry.state, entry.decided_by) == ("reject", "done", "rejected", "Ann Weber")
    item = item_of(entry)
    assert (item.state, item.error) == ("discarded", "Rejected by Ann Weber; it was never sent.")
    drain(bank)
    assert line.calls == []
    decide.undo(user=people.reviewer, entry_id=entry.pk)
    entry.refresh_from_db()
    assert (entry.state, entry.decided_by, states(bank), item_of(entry).error) == ("held", "", ["held"], "")
    act("approve", people.owner, entry)
    drain(bank)
    assert states(bank) == ["done"]
    assert kinds(bank) == ["hold", "reject", "undo", "approve", "retain"]


def test_an_approval_is_taken_back_until_it_is_on_its_way(bank: Bank, people: People, line: LyingTransport) -> None:
    (entry,) = held(people.reviewer, bank, "Ann moved.")
    act("approve", people.owner, entry)
    decide.undo(user=people.owner, entry_id=entry.pk)
    assert states(bank) == ["held"]
    drain(bank)
    assert line.calls == []
    act("approve", people.owner, entry)
    RetainItem.objects.update(state="sent")
    with pytest.raises(TooLate, match="on its way"):
        decide.undo(user=people.owner, entry_id=entry.pk)
    RetainItem.objects.update(state="discarded")
    with pytest.raises(TooLate, match="discarded after"):
        decide.undo(user=people.owner, entry_id=entry.pk)
    entry.refresh_from_db()
    assert entry.state == "approved"


def test_an_edit_changes_what_is_sent_and_the_log_keeps_the_first(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    (entry,) = held(people.reviewer, bank, "Ann moved.\r\nBen stayed.")
    shown_before = {"version": entry.version, "text_hash": entry.text_id}
    write = act("edit", people.owner, entry, new_text="Ann moved to Lyon.\nBen stayed.")
    entry.refresh_from_db()
    write = Write.objects.get(pk=write.pk)
    assert (entry.state, entry.text.text, entry.text_by) == ("held", "Ann moved to Lyon.\r\nBen stayed.", people.owner)  # type: ignore[union-attr]
    assert write.before is not None
    assert (write.kind, write.before.text, write.state) == ("edit-held", "Ann moved.\r\nBen stayed.", "done")
    assert item_of(entry).size == len("Ann moved to Lyon.\r\nBen stayed.")
    with pytest.raises(Conflict):  # the text that was on screen is not what would be sent
        decide.approve(user=people.reviewer, entry_id=entry.pk, **shown_before)  # type: ignore[arg-type]
    assert act("edit", people.owner, entry, new_text="Ann moved to Lyon.\nBen stayed.") is None
    act("approve", people.reviewer, entry)
    drain(bank)
    assert text_of(bank, entry.document_id) == "Ann moved to Lyon.\r\nBen stayed."
    assert not Write.objects.filter(kind="edit").exists()


def test_an_edit_has_the_limits_of_what_is_retained(bank: Bank, people: People, settings) -> None:
    (entry,) = held(people.reviewer, bank, "Ann moved.")
    settings.RETAIN_ITEM_BYTES = 20
    with pytest.raises(TooLarge):
        act("edit", people.owner, entry, new_text="A text that is longer than is taken.")
    with pytest.raises(Blank):
        act("edit", people.owner, entry, new_text=" \u200b ")
    assert item_of(entry).content_id == entry.text_id


def test_time_decides_nothing_about_what_is_held(bank: Bank, people: People) -> None:
    Bank.objects.update(auto_approve_days=1, expire_marked=True)
    (entry,) = held(people.reviewer, bank, "Ann moved.")
    with time_machine.travel(timezone.now() + timedelta(days=400), tick=False):
        assert expiry.run().count == 0
        assert expiry.recompute(bank=bank) == 0
    entry.refresh_from_db()
    assert (entry.state, entry.expires_at, Decision.objects.count()) == ("held", None, 0)


def test_what_is_held_stays_held_when_the_policy_is_turned_off(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    (entry,) = held(people.reviewer, bank, "Ann moved.")
    hold(bank, on=False)
    put(people.reviewer, bank, "Ben stayed.")
    drain(bank)
    assert states(bank) == ["held", "done"]
    act("approve", people.owner, entry)
    drain(bank)
    assert states(bank) == ["done", "done"]


def test_a_request_with_an_operation_id_is_answered_again_and_sent_one_by_one(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    hold(bank)
    asked = {
        "user": people.reviewer,
        "bank": bank,
        "items": retain.parse([{"content": "Ann moved."}, {"content": "Ben stayed."}]),
        "via": Write.Via.API,
        "operation_id": "11111111-1111-4111-8111-111111111111",
    }
    first = retain.enqueue(**asked)  # type: ignore[arg-type]
    one, two = ReviewEntry.objects.order_by("pk")
    act("approve", people.owner, one)
    drain(bank)
    again = retain.enqueue(**asked)  # type: ignore[arg-type]
    assert (again.message, again.again) == (first.message, True)
    assert [item.pk for item in again.items] == [item.pk for item in first.items]
    act("approve", people.owner, two)
    drain(bank)
    assert states(bank) == ["done", "done"]
    assert len(Write.objects.filter(kind="retain")) == 2


def test_what_was_erased_is_not_sent(bank: Bank, people: People) -> None:
    (entry,) = held(people.reviewer, bank, "Ann moved.")
    item_of(entry).content.__class__.objects.update(erased=timezone.now(), data=b"")
    with pytest.raises(TooLate, match="erased"):
        act("approve", people.owner, entry)
    act("delete", people.owner, entry)
    with pytest.raises(TooLate, match="erased"):
        decide.undo(user=people.owner, entry_id=entry.pk)
