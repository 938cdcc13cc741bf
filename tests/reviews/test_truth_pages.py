"""Each truth after the fact has a face on the queue, the card, the log and the overview, and a way out."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks import writes
from banks.models import Bank, Blob, Server, Write
from reviews.models import Decision, ReviewEntry
from reviews.services import decide
from reviews.services.reopening import reopen_by_itself
from tests import factories
from tests.conftest import People
from tests.reviews.pages import text_of

pytestmark = pytest.mark.django_db
Reopened, Load, State = ReviewEntry.Reopened, ReviewEntry.Load, ReviewEntry.State
SignIn = Callable[..., Client]


def pages(client: Client, entry: ReviewEntry) -> dict[str, str]:
    urls = {"queue": "/reviews/", "card": f"/reviews/{entry.pk}/", "overview": "/", "log": "/log/"}
    return {name: text_of(client.get(url)) for name, url in urls.items()}


@pytest.mark.parametrize(
    ("health", "words"),
    [("refused", "refuses our key"), ("unreachable", "does not answer"), ("degraded", "is not well")],
)
def test_a_server_in_trouble_says_so_everywhere(
    health: str, words: str, bank: Bank, people: People, as_user: SignIn
) -> None:
    entry = factories.make_entry(bank)
    Server.objects.filter(pk=bank.server_id).update(health=health, health_text="<b>sick</b>")
    for name, page in pages(as_user(people.reviewer), entry).items():
        assert words in page, name
        assert "<b>sick" not in page, name
    card = text_of(as_user(people.operator).get(f"/reviews/{entry.pk}/"))
    assert f'href="/servers/{bank.server_id}/"' in card  # the way out, for who may go there


def test_a_bank_that_is_gone_says_so_everywhere_and_its_memories_can_be_closed(
    bank: Bank, people: People, as_user: SignIn
) -> None:
    entry = factories.make_entry(bank, load_state=Load.MISSING, load_error="There is no such bank on this server.")
    Bank.objects.filter(pk=bank.pk).update(gone_since=timezone.now() - timedelta(hours=2))
    client = as_user(people.reviewer)
    for name, page in pages(client, entry).items():
        assert "is gone" in page, name
    card = text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "Close as gone" in card
    assert "Put it back" not in card  # it would create the bank
    assert client.post(f"/reviews/{entry.pk}/close/", {"version": entry.version}).status_code == 303
    entry.refresh_from_db()
    assert entry.state == State.DELETED
    assert "Close as gone" in text_of(client.get("/log/"))


def test_what_came_back_says_who_deleted_it_on_every_page(bank: Bank, people: People, as_user: SignIn) -> None:
    entry = deleted(bank, people)
    deletion = Write.objects.get(kind="delete")
    assert reopen_by_itself(entry, because=Reopened.CAME_BACK, note="it is back", answers=deletion)
    found = pages(as_user(people.reviewer), entry)
    assert "came back after delete" in found["queue"]
    assert "It came back after it was deleted." in found["card"]
    assert "Mira Kovač</bdi> deleted it" in found["card"]
    assert "Opened again: changed, or came back" in found["overview"]
    assert "<b>came back</b>" in found["log"]
    row = text_of(as_user(people.reviewer).get(f"/log/{deletion.pk}/"))
    assert f'href="/log/{Write.objects.get(kind="reopen").pk}/"' in row


def test_what_changed_since_it_was_approved_shows_both_texts(bank: Bank, people: People, as_user: SignIn) -> None:
    entry = factories.make_entry(bank, text="The limit is 30 seconds.")
    decide.approve(user=people.owner, entry_id=entry.pk, version=1, text_hash=str(entry.text_id))
    entry.refresh_from_db()
    entry.text = Blob.objects.store("The limit is 60 seconds.")
    entry.save(update_fields=["text"])
    assert reopen_by_itself(entry, because=Reopened.CHANGED, note="written again")
    card = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert "Changed since it was approved." in card
    assert "Ann Weber</bdi> approved it" in card
    assert ">30<" in card
    assert ">60<" in card


def test_what_vanished_offers_to_look_again_to_put_back_and_to_close(
    bank: Bank, people: People, as_user: SignIn
) -> None:
    entry = factories.make_entry(bank, load_state=Load.MISSING, text="Kept by us.")
    client = as_user(people.reviewer)
    found = pages(client, entry)
    assert "no longer has this document" in found["card"]
    assert "Kept by us." in found["card"]
    assert "no longer in the bank" in found["overview"]
    for label in ("Look again", "Put it back", "Close as gone"):
        assert label in found["card"]
    assert client.post(f"/reviews/{entry.pk}/put-back/", {"version": entry.version}).status_code == 303
    write = Write.objects.get()
    assert (write.kind, write.request) == ("put-back", entry.text)
    again = client.post(f"/reviews/{entry.pk}/put-back/", {"version": entry.version})
    assert again.status_code == 409
    assert Write.objects.count() == 1


def test_an_approved_memory_that_vanished_stays_approved_and_says_so(
    bank: Bank, people: People, as_user: SignIn
) -> None:
    decided = {"state": State.APPROVED, "decided_at": timezone.now()}
    entry = factories.make_entry(bank, load_state=Load.MISSING, **decided)
    client = as_user(people.reviewer)
    assert "somebody removed it since" in text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "no longer in the bank" in text_of(client.get("/reviews/?state=approved"))


def test_an_edit_without_facts_says_so_and_offers_the_earlier_text(bank: Bank, people: People, as_user: SignIn) -> None:
    entry = factories.make_entry(bank, text="ok", fact_count=0)
    earlier = Blob.objects.store("Ann keeps the ledger.")
    write = Write.objects.create(
        kind="edit",
        bank=bank,
        slot="s",
        via="web",
        actor=people.reviewer,
        document_id=entry.document_id,
        document_hash=entry.document_hash,
        request=entry.text,
        before=earlier,
        state=Write.State.DONE,
        outcome={"zero_facts": True, "facts": 0},
    )
    client = as_user(people.reviewer)
    found = pages(client, entry)
    assert "no facts" in found["queue"]
    assert "after it was edited" in found["card"]
    assert "Without facts" in found["overview"]
    assert "<b>no facts</b>" in found["log"]
    assert "drew no facts" in text_of(client.get(f"/log/{write.pk}/"))
    shown = {"version": entry.version, "text_hash": entry.text_id}
    assert client.post(f"/reviews/{entry.pk}/revert/", shown).status_code == 303
    assert Write.objects.latest("pk").request == earlier


@pytest.mark.parametrize("act", ["close", "put-back", "revert"])
def test_the_ways_out_are_posts_of_reviewers(act: str, bank: Bank, people: People, as_user: SignIn) -> None:
    entry = factories.make_entry(bank, load_state=Load.MISSING)
    url = f"/reviews/{entry.pk}/{act}/"
    assert as_user(people.reviewer).get(url).status_code == 405
    assert as_user(people.viewer).post(url, {"version": 1}).status_code == 403
    assert as_user(people.stranger).post(url, {"version": 1}).status_code == 404
    assert as_user(people.reviewer).post(url, {"version": "x"}).status_code == 409
    assert not Write.objects.exists()


def test_a_live_session_warns_before_it_is_edited(bank: Bank, people: People, as_user: SignIn) -> None:
    entry = factories.make_entry(
        bank, live_until=timezone.now() + timedelta(hours=1), document_updated_at=timezone.now()
    )
    client = as_user(people.reviewer)
    assert "live session" in text_of(client.get("/reviews/"))
    assert "Live session." in text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "will probably overwrite" in text_of(client.get(f"/reviews/{entry.pk}/edit/"))


@pytest.mark.parametrize("url", ["/", "/reviews/", "/log/"])
def test_the_pages_ask_as_often_with_many_troubles(url: str, people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(url)
        return len(queries)

    def trouble(number: int) -> None:
        other = factories.make_bank(f"gone-{number}", gone_since=timezone.now())
        Server.objects.filter(pk=other.server_id).update(health="refused")
        entry = factories.make_entry(other, reopened_because=Reopened.CHANGED)
        Decision.objects.create(entry=entry, verdict="approved", decided_via="person", version=1)

    trouble(0)
    asked()  # the first request of a process asks for more
    few = asked()
    for number in range(1, 20):
        trouble(number)
    asked()  # the days of banks are kept for some minutes
    assert asked() == few


def deleted(bank: Bank, people: People) -> ReviewEntry:
    entry = factories.make_entry(bank)
    write = decide.delete(user=people.reviewer, entry_id=entry.pk, version=1, text_hash=str(entry.text_id))
    Write.objects.filter(pk=write.pk).update(state=Write.State.DONE)
    ReviewEntry.objects.filter(pk=entry.pk).update(state=State.DELETED)
    entry.refresh_from_db()
    assert writes.get("reopen").sends is False
    return entry
