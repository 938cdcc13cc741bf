"""Ways to lose a decision about a fact, or to repeat one that was taken back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from banks import connections
from banks.fact_kinds import GONE, seen_hash
from banks.models import Bank, Write
from banks.writes import discard, retry
from reviews.curation import archive, reapply
from reviews.errors import FactRefused, TooLate
from reviews.models import FactDecision, Reapplication, ReviewEntry
from reviews.services import decide, facts
from tests.banks.conftest import line, store
from tests.conftest import People
from tests.reviews.curating import TEXT, drain, entry, extracted_anew, in_bank, look, no_pause, retire

__all__ = ["entry", "line", "no_pause"]

pytestmark = pytest.mark.django_db(transaction=True)
BEN = "Ben reads it."


def patch(bank: Bank, fact_id: str, **values: str) -> None:
    """What another tool does, past us."""
    with connections.client_for(bank.server) as client:
        client.patch_fact(bank.bank_id, fact_id, **values)  # type: ignore[arg-type]


def half_done(entry: ReviewEntry, people: People) -> Write:
    """A row that retired Ben's fact and was refused the next one."""
    ids = [in_bank(entry.bank)[BEN].id, "00000000-0000-4000-8000-00000000dead"]
    from django.db import transaction

    from banks import writes

    with transaction.atomic():
        row = writes.record(
            kind="retire", bank=entry.bank, via=Write.Via.WEB, actor=people.owner, document_id="notes/a.md",
            fact_ids=ids, facts_before=entry.facts, params={"reason": "left"},
        )  # fmt: skip
    drain(entry)
    row.refresh_from_db()
    assert (row.state, row.outcome["retired"]) == (Write.State.ATTENTION, ids[:1])
    return row


def restore(entry: ReviewEntry, people: People) -> None:
    fact = in_bank(entry.bank, "invalidated")[BEN]
    facts.restore(user=people.reviewer, entry_id=entry.pk, seen={fact.id: seen_hash(BEN)})
    drain(entry)
    assert BEN in in_bank(entry.bank)


def test_giving_up_an_old_row_does_not_retire_what_was_restored_since(
    bank: Bank, entry: ReviewEntry, people: People
) -> None:
    row = half_done(entry, people)
    restore(entry, people)
    assert discard(write=row, actor=people.owner)
    decision = FactDecision.objects.get()
    assert (decision.verdict, decision.user) == ("restored", people.reviewer)
    extracted_anew(entry)
    assert BEN in in_bank(bank)


def test_a_retry_of_an_old_row_leaves_what_was_restored_since(bank: Bank, entry: ReviewEntry, people: People) -> None:
    row = half_done(entry, people)
    restore(entry, people)
    assert retry(write=row, actor=people.owner)
    drain(entry)
    assert BEN in in_bank(bank)
    assert FactDecision.objects.get().verdict == "restored"


def test_giving_up_an_old_row_of_applying_again_leaves_the_decision_where_it_is_now(
    bank: Bank, entry: ReviewEntry, people: People
) -> None:
    retire(entry, people, BEN)
    extracted_anew(entry)
    old = Write.objects.get(via=Write.Via.REAPPLY)
    extracted_anew(entry, TEXT + " It snowed.")
    now = in_bank(bank, "invalidated")[BEN].id
    Write.objects.filter(pk=old.pk).update(state=Write.State.ATTENTION)
    old.refresh_from_db()
    discard(write=old, actor=people.owner)
    assert FactDecision.objects.get().fact_id == now


def test_an_edit_of_long_ago_does_not_say_it_again(bank: Bank, entry: ReviewEntry, people: People) -> None:
    text = TEXT + " It rained."
    shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    decide.edit(user=people.reviewer, new_text=text, **shown)  # type: ignore[arg-type]
    drain(entry)
    retire(entry, people, "It rained.", "it did not")
    store(bank, "notes/a.md", text + " It snowed.")
    extracted_anew(entry, text)
    assert list(in_bank(bank, "invalidated")) == ["It rained."]


def test_who_else_retires_it_again_does_not_take_the_decision_over(
    bank: Bank, entry: ReviewEntry, people: People
) -> None:
    row = retire(entry, people, BEN)
    store(bank, "notes/a.md", TEXT + " It rained.")
    patch(bank, in_bank(bank)[BEN].id, state="invalidated", reason="another tool says so")
    look(entry)
    decision = FactDecision.objects.get()
    assert (decision.user, decision.reason, decision.origin) == (people.reviewer, "left the company", "ours")
    (write,) = facts.restore_row(user=people.owner, write_id=row.pk)
    drain(entry)
    write.refresh_from_db()
    assert write.outcome["restored"] == [in_bank(bank)[BEN].id]


def test_what_a_policy_let_go_stays_so_until_the_next_extraction(
    bank: Bank, entry: ReviewEntry, people: People
) -> None:
    retire(entry, people, BEN)
    Bank.objects.update(reapply="off")
    extracted_anew(entry)
    assert FactDecision.objects.get().shelf == "gone"
    Bank.objects.update(reapply="auto")
    look(entry)
    drain(entry)
    assert BEN in in_bank(bank)
    extracted_anew(entry, TEXT + " It snowed.")
    assert list(in_bank(bank, "invalidated")) == [BEN]
    assert FactDecision.objects.get().shelf == "again"


def test_a_question_stays_a_question_when_the_policy_changes(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    Bank.objects.update(reapply="ask")
    extracted_anew(entry)
    Bank.objects.update(reapply="auto")
    look(entry)
    assert Reapplication.objects.get().state == "asked"
    assert not Write.objects.filter(via=Write.Via.REAPPLY).exists()
    reapply.answer(user=people.owner, reapplication_id=Reapplication.objects.get().pk, apply=True)
    drain(entry)
    assert list(in_bank(bank, "invalidated")) == [BEN]


def test_letting_a_question_go_is_in_the_log(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    Bank.objects.update(reapply="ask")
    extracted_anew(entry)
    reapply.answer(user=people.owner, reapplication_id=Reapplication.objects.get().pk, apply=False)
    row = Write.objects.get(kind="let-go")
    assert (row.actor, row.state, row.fact_ids) == (people.owner, "done", [in_bank(bank)[BEN].id])
    assert FactDecision.objects.get().shelf == "restored"


def test_what_was_edited_elsewhere_since_is_what_comes_back(bank: Bank, entry: ReviewEntry, people: People) -> None:
    fact = in_bank(bank)[BEN]
    facts.edit(
        user=people.reviewer, entry_id=entry.pk, fact_id=fact.id, text_hash=seen_hash(BEN), new_text="Ben audits it."
    )
    drain(entry)
    patch(bank, fact.id, text="Ben audits it twice.")
    look(entry)
    decision = FactDecision.objects.get()
    assert (decision.origin, decision.user, decision.extracted.text) == ("observed", None, BEN)
    extracted_anew(entry)
    assert "Ben audits it twice." in in_bank(bank)


def test_a_document_that_is_deleted_and_put_back(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    with connections.client_for(bank.server) as client:
        client.delete_document(bank.bank_id, "notes/a.md")
    reapply.document_gone(bank=bank, document_id="notes/a.md")
    assert FactDecision.objects.get().shelf == "gone"
    extracted_anew(entry, TEXT)
    assert list(in_bank(bank, "invalidated")) == [BEN]
    assert FactDecision.objects.get().shelf == "again"


def test_a_bank_that_is_made_again_under_its_id(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    store(bank, "other", "Something else.")
    extracted_anew(entry, TEXT)
    assert list(in_bank(bank, "invalidated")) == [BEN]


def test_a_restore_of_what_is_gone_is_no_restore_and_is_not_undone_by_an_extraction(
    bank: Bank, entry: ReviewEntry, people: People
) -> None:
    row = retire(entry, people, BEN)
    with connections.client_for(bank.server) as client:
        client.delete_document(bank.bank_id, "notes/a.md")
    (write,) = facts.restore_row(user=people.owner, write_id=row.pk)
    store(bank, "notes/a.md", "Ann keeps the ledger.")
    drain(entry)
    write.refresh_from_db()
    assert (write.state, write.outcome["restored"]) == (Write.State.ATTENTION, [])
    assert GONE in write.error_text
    assert FactDecision.objects.get().shelf == "gone"
    extracted_anew(entry, TEXT)
    assert BEN in in_bank(bank)


def test_nothing_is_restored_while_it_is_just_applied_again(bank: Bank, entry: ReviewEntry, people: People) -> None:
    row = retire(entry, people, BEN)
    store(bank, "notes/a.md", TEXT + " It rained.")
    look(entry)
    assert Write.objects.get(via=Write.Via.REAPPLY).is_open
    with pytest.raises(FactRefused, match="under way"):
        archive.restore_one(user=people.reviewer, decision_id=FactDecision.objects.get().pk)
    with pytest.raises(TooLate, match="applied again"):
        facts.restore_row(user=people.reviewer, write_id=row.pk)
    drain(entry)
    archive.restore_one(user=people.reviewer, decision_id=FactDecision.objects.get().pk)
    drain(entry)
    assert BEN in in_bank(bank)


def test_a_fact_that_is_only_away_is_not_gone_for_ever(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    FactDecision.objects.update(gone_since=timezone.now() - timedelta(days=1))
    look(entry)
    assert FactDecision.objects.get().shelf == "retired"


@pytest.mark.parametrize("now", ["ben reads it.", "Ben  reads it.", "Ben reads it!"])
def test_case_space_and_punctuation_alone_ask(now: str, bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    extracted_anew(entry, f"Ann keeps the ledger. {now} Cara pays for it.")
    assert [pair.why for pair in Reapplication.objects.all()] == [reapply.CLOSE_TEXT]
    assert in_bank(bank, "invalidated") == {}


@pytest.mark.parametrize("now", ["Bob reads it.", "Ben never reads it.", "Ben reads 2 of it."])
def test_another_statement_does_not_even_ask(now: str, bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, BEN)
    extracted_anew(entry, f"Ann keeps the ledger. {now} Cara pays for it.")
    assert not Reapplication.objects.exists()
    assert FactDecision.objects.get().shelf == "gone"


def test_many_are_applied_again_in_rows_that_a_worker_can_hold(
    bank: Bank, entry: ReviewEntry, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reapply, "PER_ROW", 2)
    for text in ("Ann keeps the ledger.", BEN, "Cara pays for it."):
        retire(entry, people, text)
    extracted_anew(entry)
    rows = Write.objects.filter(via=Write.Via.REAPPLY).order_by("pk")
    assert [len(row.fact_ids) for row in rows] == [2, 1]
    assert len({row.group for row in rows}) == 1
    assert len(in_bank(bank, "invalidated")) == 3
