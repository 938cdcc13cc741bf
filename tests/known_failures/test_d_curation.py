"""Retiring, restoring and what extractions do to it."""

import re
from typing import Any

import httpx
import pytest

from banks import connections
from banks.fact_kinds import OBSERVATION, seen_hash
from banks.models import Bank, Server, Write
from banks.numbers import look as numbers
from reviews.curation import archive
from reviews.models import FactDecision, ReviewEntry
from reviews.services import decide, facts
from reviews.services.facts import FactRefused
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.known_failures.world import loaded, work_off
from tests.reviews.bulk import drain, restore_all, small_steps
from tests.reviews.bulk import facts as five
from tests.reviews.pages import text_of
from tests.reviews.retired import retired

__all__ = ["five", "line", "small_steps"]

pytestmark = pytest.mark.django_db(transaction=True)
BEN = "Ben reads it."
UUID = "00000000-0000-4000-8000-00000000dead"


@pytest.fixture
def entry(bank: Bank, line: LyingTransport) -> ReviewEntry:
    return loaded(bank, "notes/b.md", f"Ann keeps the ledger. {BEN}")


def fact_of(bank: Bank, text: str, state: str = "valid") -> Any:
    with connections.client_for(bank.server) as client:
        listed = client.list_facts(bank.bank_id, document_id="notes/b.md", state=state).items
    return next(fact for fact in listed if fact.text == text)


def retire(entry: ReviewEntry, people: People) -> Write:
    fact = fact_of(entry.bank, BEN)
    write = facts.retire(user=people.reviewer, entry_id=entry.pk, seen={fact.id: seen_hash(BEN)}, reason="he left")
    work_off()
    write.refresh_from_db()
    entry.refresh_from_db()
    return write


def test_row_050_an_edit_says_what_is_at_stake_and_a_fact_it_took_away_is_not_offered_back(
    entry: ReviewEntry, people: People, as_user
) -> None:
    row = retire(entry, people)
    client = as_user(people.reviewer)
    assert "Curation at stake: 1 retirement" in text_of(client.get(f"/reviews/{entry.pk}/edit/"))
    assert f"/log/{row.pk}/restore/" in text_of(client.get("/log/"))
    shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    decide.edit(user=people.reviewer, new_text="Ann keeps the ledger.", **shown)  # type: ignore[arg-type]
    work_off()
    for page in (text_of(client.get("/log/")), text_of(client.get(f"/log/{row.pk}/"))):
        assert "Extracted again since" in page
        assert f"/log/{row.pk}/restore/" not in page
    assert FactDecision.objects.get().shelf == "gone"


def test_row_051_whole_ids_are_sent_and_refusals_are_seen(
    entry: ReviewEntry, people: People, line: LyingTransport, as_user
) -> None:
    retire(entry, people)
    fact = fact_of(entry.bank, BEN, "invalidated")
    line.calls.clear()
    write = archive.restore_one(user=people.reviewer, decision_id=FactDecision.objects.get().pk)
    work_off()
    assert [path for method, path in line.calls if method == "PATCH"] == [
        f"/v1/default/banks/checkout-service/memories/{fact.id}"
    ]
    assert fact.id in text_of(as_user(people.viewer).get(f"/log/{write.pk}/"))
    gone = retired(entry.bank, 9, document_id="notes/b.md", fact_id=UUID)
    write = archive.restore_one(user=people.reviewer, decision_id=gone.pk)
    work_off()
    write.refresh_from_db()
    assert (write.state, write.outcome["restored"]) == (Write.State.ATTENTION, [])
    assert "It is no longer in the bank." in text_of(as_user(people.viewer).get("/log/"))


def test_row_051_an_observation_is_neither_offered_nor_called(
    entry: ReviewEntry, people: People, line: LyingTransport, as_user
) -> None:
    seen: Any = entry.facts
    rows = seen.text.replace('"type": "world"', '"type": "observation"')
    ReviewEntry.objects.filter(pk=entry.pk).update(facts=type(seen).objects.store(rows))
    fact = fact_of(entry.bank, BEN)
    with pytest.raises(FactRefused):
        facts.retire(user=people.reviewer, entry_id=entry.pk, seen={fact.id: seen_hash(BEN)}, reason="x")
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert "Retire this fact" not in page
    assert OBSERVATION.startswith("It is an observation")
    assert line.sent("PATCH") == 0


def test_row_052_every_list_of_facts_says_which_state_it_means(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    retire(entry, people)
    numbers.look(entry.bank.server_id)
    lists = [path for method, path in line.calls if "/memories/list" in path]
    assert lists
    assert all(re.search(r"[?&]state=(valid|invalidated)\b", path) for path in lists)


def test_row_052_a_count_that_fails_is_unknown_and_never_nothing(
    bank: Bank, people: People, line: LyingTransport, as_user
) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        if "/memories/list" in request.url.path:
            return httpx.Response(401, json={"detail": "Authentication failed"})
        return line.handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(refuse)
    assert numbers.look(bank.server_id) == "0 read, 1 failed"
    page = text_of(as_user(people.viewer).get("/facts/retired/"))
    assert "<b>unknown</b>, it could not be read" in page
    assert "<b>0</b> in" not in page


def test_row_053_a_restore_promises_the_fact_and_nothing_of_what_it_was_linked_to(
    entry: ReviewEntry, people: People, as_user
) -> None:
    Server.objects.update(api_version="0.9.1")
    row = retire(entry, people)
    (restored,) = facts.restore_row(user=people.reviewer, write_id=row.pk)
    work_off()
    page = text_of(as_user(people.viewer).get(f"/log/{restored.pk}/"))
    assert "among the facts that are recalled again" in page
    assert "Hindsight 0.9.1" in page
    assert not re.search(r"\b(graph|links?|relations?) (is|are|were) (back|restored)", page)


def test_row_054_to_retire_and_to_delete_are_two_words_for_two_things(
    entry: ReviewEntry, people: People, line: LyingTransport, as_user
) -> None:
    retire(entry, people)
    assert line.sent("DELETE") == 0
    client = as_user(people.reviewer)
    assert "Retired is not deleted: the text stays in its document." in text_of(client.get("/facts/retired/"))
    assert 'name="delete"' not in text_of(client.get("/facts/retired/"))
    entry.refresh_from_db()
    shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    decide.delete(user=people.reviewer, **shown)  # type: ignore[arg-type]
    work_off()
    kinds = list(Write.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["retire", "delete"]
    assert line.sent("DELETE") == 1


def test_row_055_many_are_restored_one_by_one_and_counted_again(
    bank: Bank, five: list[FactDecision], people: People, line: LyingTransport, as_user
) -> None:
    store(bank, "doc-0", "Something else is said here now.")  # the first of them is gone
    line.calls.clear()
    job = restore_all(people)
    drain()
    assert line.sent("PATCH") == 4
    read_back = [path for method, path in line.calls if method == "GET" and "/memories/list" not in path]
    assert len(read_back) >= 8  # before and after each call
    page = text_of(as_user(people.reviewer).get(f"/facts/retired/jobs/{job.pk}/"))
    assert "<b>4</b> confirmed, <b>1</b> refused" in page
    from banks import jobs
    from reviews.curation import elsewhere

    look = elsewhere.look_of(bank)
    assert look is not None
    jobs.run(look.pk)
    bank.refresh_from_db()
    assert bank.retired_count == 0
