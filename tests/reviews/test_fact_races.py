"""Several people at one fact: one wins, the others are told, and nothing of theirs is sent."""

import json
from dataclasses import replace
from functools import partial

import pytest
from django.test import Client

from banks.fact_kinds import seen_hash
from banks.hindsight import Fact
from banks.models import Bank, Blob, Write
from reviews.curation import archive, reapply
from reviews.models import ReviewEntry
from reviews.services import facts
from tests import factories
from tests.conftest import People
from tests.racing import ROUNDS, at_once, refusals
from tests.reviews.retired import retired

FACT = Fact.parse({"id": "f", "text": "Ann keeps the ledger.", "fact_type": "world", "state": "valid"})

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "Ann keeps the ledger."
EDITORS = 50  # all at the same instant


def entry_with_fact(bank: Bank) -> ReviewEntry:
    rows = [{"id": "f1", "text": TEXT, "type": "world", "state": "valid"}]
    return factories.make_entry(bank, facts=Blob.objects.store(json.dumps(rows)))


def test_of_fifty_edits_of_one_fact_one_is_taken(bank: Bank, people: People, as_user) -> None:
    entry = entry_with_fact(bank)
    clients: list[Client] = [as_user(people.reviewer) for _ in range(EDITORS)]

    def status(client: Client, number: int) -> int:
        data = {"fact": "f1", "seen": seen_hash(TEXT), "text": f"Editor {number} keeps the ledger."}
        return client.post(f"/reviews/{entry.pk}/facts/edit/", data).status_code

    acts = [partial(status, client, number) for number, client in enumerate(clients)]
    statuses = at_once(*acts, often_switched=False)
    assert sorted(statuses) == [303] + [409] * (EDITORS - 1)  # type: ignore[type-var]  # numbers
    write = Write.objects.get()
    assert (write.kind, write.before.text) == ("edit-fact", TEXT)  # the server keeps no old text: the row does


def test_a_retirement_and_an_edit_of_one_fact(bank: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        entry = entry_with_fact(bank)
        seen = {"f1": seen_hash(TEXT)}
        edit = partial(facts.edit, entry_id=entry.pk, fact_id="f1", text_hash=seen["f1"], new_text="Other.")
        results = at_once(
            partial(facts.retire, user=people.owner, entry_id=entry.pk, seen=seen, reason="It died."),
            partial(edit, user=people.reviewer),
        )
        assert len(refusals(results)) == 1
        assert Write.objects.filter(document_id=entry.document_id).count() == 1


def test_two_people_restore_one_fact_of_the_archive(bank: Bank, people: People) -> None:
    for number in range(ROUNDS):
        decision = retired(bank, number)
        act = partial(archive.restore_one, decision_id=decision.pk)
        results = at_once(partial(act, user=people.owner), partial(act, user=people.reviewer))
        assert len(refusals(results)) == 1
        assert Write.objects.filter(document_id=decision.document_id).count() == 1


def test_two_workers_who_find_the_same_lost_decision_send_it_once(bank: Bank) -> None:
    for number in range(ROUNDS):
        decision = retired(bank, number, text=TEXT)
        new = replace(FACT, id=f"new-{number}", document_id=decision.document_id)
        look = partial(reapply.look, bank=bank, document_id=decision.document_id, facts=[new])
        assert sorted(at_once(look, look)) == [0, 1]  # type: ignore[type-var]
        row = Write.objects.get(document_id=decision.document_id)
        assert (row.kind, row.via, row.fact_ids) == ("retire", "reapply", [new.id])
