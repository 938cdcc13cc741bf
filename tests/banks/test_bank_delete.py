"""Deleting a whole bank: decided by an admin who typed its id, kept back for a while, and nothing of ours is lost."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from banks import connections, retain, writes
from banks.models import Bank, RetainItem, Role, Write
from banks.writes import worker
from reviews.models import ReviewEntry
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, text_after
from tests.banks.conftest import LyingTransport, later, store
from tests.banks.hooking import make_hook
from tests.banks.retaining import flush_now, put, work_off
from tests.conftest import People
from tests.reviews.pages import text_of

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


def is_there(bank: Bank) -> bool:
    with connections.client_for(bank.server) as client:
        return client.has_bank(bank.bank_id)


def make_again(bank: Bank) -> None:
    """What others do past us: the bank goes, and another one of its id comes."""
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    store(bank, "again", "Ann came back.")


def delete(client: Client, bank: Bank, **said: object) -> Write:
    answer = post(client, "bank-delete", bank.pk, **{"typed": bank.bank_id, "documents": 1, **said})
    assert answer.status_code == 303, text_of(answer)
    return Write.objects.get(kind="bank-delete")


def test_it_is_shown_typed_kept_back_and_then_done_once(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.owner)
    page = text_of(get(client, "bank-delete", bank.pk, now=1))
    assert '<input type="hidden" name="documents" value="1">' in page
    assert "Export its settings, models and directives" in page
    line.calls.clear()
    write = delete(client, bank)
    assert write.not_before - write.created > timedelta(minutes=59)
    assert worker.run(write.pk) == "not due"
    assert line.calls == []
    assert "will be deleted" in text_of(get(as_user(people.viewer), "bank-list"))
    assert delete(client, bank) == write  # pressed twice
    work_off(bank)
    write.refresh_from_db()
    bank.refresh_from_db()
    assert (write.state, line.sent("DELETE"), is_there(bank)) == (State.DONE, 1, False)
    assert (write.outcome["documents"], write.outcome["facts"] > 0, bank.gone_since is not None) == (1, True, True)


def test_until_it_is_sent_any_admin_keeps_it(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    write = delete(as_user(people.owner), bank)
    other = as_user(people.operator)
    assert "Keep the bank" in text_of(get(other, "bank-delete", bank.pk))
    assert "The bank stays" in text_after(other, post(other, "bank-keep", bank.pk))
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, line.sent("DELETE"), is_there(bank)) == (State.CANCELLED, 0, True)
    assert Write.objects.get(undo_of=write).actor == people.operator
    assert "Nothing was taken back" in text_after(other, post(other, "bank-keep", bank.pk))


def test_nothing_of_ours_is_lost_and_nothing_makes_the_bank_anew(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    entry = factories.make_entry(bank, "notes/a.md")
    (queued,) = put(people.owner, bank, "Ann came.")
    Bank.objects.filter(pk=bank.pk).update(hold=True)
    bank.refresh_from_db()
    (held,) = put(people.owner, bank, "Ben left.")
    delete(as_user(people.owner), bank)
    line.calls.clear()
    write = Write.objects.get(kind="bank-delete")
    with time_machine.travel(write.not_before + later(1), tick=False):
        assert worker.run(write.pk) == "done"
    assert flush_now(bank) == "bank gone"
    states = dict(RetainItem.objects.values_list("pk", "state"))
    assert states == {queued.pk: RetainItem.State.QUEUED, held.pk: RetainItem.State.HELD}
    entry.refresh_from_db()
    assert entry.state == ReviewEntry.State.PENDING
    assert line.sent("POST") == line.sent("PUT") == line.sent("PATCH") == 0
    assert not is_there(bank)
    bank.refresh_from_db()
    with pytest.raises(retain.BankClosed):
        put(people.owner, bank, "Too late.")


def test_documents_that_came_since_stop_it(bank: Bank, line: LyingTransport, people: People, as_user: SignIn) -> None:
    write = delete(as_user(people.owner), bank)
    store(bank, "new", "Carl came.")
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, line.sent("DELETE")) == (State.CHANGED, 0)
    assert "It has 2 documents now and had 1" in write.error_text


def test_who_is_no_admin_any_more_has_decided_nothing(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    write = delete(as_user(people.owner), bank)
    people.owner.memberships.update(role=Role.REVIEWER)
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, is_there(bank)) == (State.CHANGED, True)


def test_a_lost_answer_is_looked_up_and_not_repeated(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    write = delete(as_user(people.owner), bank)
    line.cut_after.append("DELETE")
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, line.sent("DELETE"), write.outcome["confirmed_by"]) == (State.DONE, 1, "list")


def test_a_bank_that_is_made_again_meanwhile_is_not_deleted_twice(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    write = delete(as_user(people.owner), bank)
    line.cut_after.append("DELETE")
    with time_machine.travel(write.not_before + later(1), tick=False) as clock:
        assert worker.run(write.pk) == "unknown"
        clock.shift(5)
        store(bank, "again", "Ann came back.")
        clock.shift(600)
        assert worker.run(write.pk) == "done"
    write.refresh_from_db()
    bank.refresh_from_db()
    assert (write.outcome["came_back"], line.sent("DELETE"), bank.gone_since) == (True, 1, None)


def test_a_bank_that_was_made_after_the_decision_is_another_one(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    """In the time of grace somebody else deletes it, and an agent begins a new one under its id."""
    with time_machine.travel(timezone.now(), tick=False) as clock:
        write = delete(as_user(people.owner), bank)
        clock.shift(60)
        make_again(bank)
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, line.sent("DELETE"), is_there(bank)) == (State.CHANGED, 1, True)  # theirs
    assert "it may be another one" in write.error_text


def test_a_server_whose_clock_is_late_cannot_have_the_next_bank_deleted(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    """The answer to the delete is lost, and the new bank seems older than the delete: it still is not the same."""
    write = delete(as_user(people.owner), bank)
    line.cut_after.append("DELETE")
    with time_machine.travel(write.not_before + later(1), tick=False):
        assert worker.run(write.pk) == "unknown"
    with time_machine.travel(write.created - timedelta(minutes=30), tick=False):
        store(bank, "again", "Ann came back.")
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, line.sent("DELETE"), write.outcome["came_back"]) == (State.DONE, 1, True)
    assert is_there(bank)


def test_what_is_retried_by_a_person_finds_another_bank(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    write = delete(as_user(people.owner), bank)
    line.cut_before.append("DELETE")
    with time_machine.travel(write.not_before + later(1), tick=False):
        worker.run(write.pk)  # never arrived
    with time_machine.travel(write.created - timedelta(minutes=30), tick=False):
        make_again(bank)
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, line.sent("DELETE"), is_there(bank)) == (State.CHANGED, 1, True)


@pytest.mark.parametrize("again", [False, True])
def test_its_webhook_goes_with_it(
    again: bool, bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    """Or else the next bank of its id would be shown with one that its server does not have, and get no other."""
    hook = make_hook(bank)
    write = delete(as_user(people.owner), bank)
    line.cut_after.append("DELETE")
    with time_machine.travel(write.not_before + later(1), tick=False):
        worker.run(write.pk)
        if again:
            store(bank, "again", "Ann came back.")
    hook.refresh_from_db()
    assert hook.removed_at is None
    work_off(bank)
    hook.refresh_from_db()
    assert hook.removed_at is not None


@pytest.mark.parametrize(("ours", "waits"), [("bank-delete", "config"), ("config", "bank-delete")])
def test_nothing_is_on_its_way_into_a_bank_while_it_is_deleted(
    ours: str, waits: str, bank: Bank, line: LyingTransport, people: People
) -> None:
    """Whichever is in flight, the other one waits: a setting that comes after the delete would make the bank anew."""
    Write.objects.create(kind=ours, bank=bank, via="web", state=State.ACCEPTED, slot="a", not_before=timezone.now())
    write = Write.objects.create(kind=waits, bank=bank, via="web", state=State.QUEUED, slot="b", actor=people.owner)
    assert worker.run(write.pk) == "document busy"
    write.refresh_from_db()
    assert (write.state, line.calls) == (State.QUEUED, [])


def test_what_needs_a_person_is_tried_again_by_admins_alone(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    write = delete(as_user(people.owner), bank)
    Write.objects.filter(pk=write.pk).update(state=State.ATTENTION)
    assert as_user(people.reviewer).post(f"/log/{write.pk}/retry/").status_code == 403
    write.refresh_from_db()
    assert write.state == State.ATTENTION
    assert writes.discard(write=write, actor=people.owner)


def test_the_settings_are_exported_and_a_server_that_is_away_says_so(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    with connections.client_for(bank.server) as past_us:
        past_us.patch_config(bank.bank_id, {"retain_mission": "Keep names."})
    client = as_user(people.owner)
    answer = get(client, "bank-config-export", bank.pk)
    assert answer["Content-Disposition"].startswith("attachment")
    assert '"retain_mission": "Keep names."' in text_of(answer)
    line.cut_before.append("GET")
    assert "Nothing was exported." in text_after(client, get(client, "bank-config-export", bank.pk))
    assert get(as_user(people.reviewer), "bank-config-export", bank.pk).status_code == 403
