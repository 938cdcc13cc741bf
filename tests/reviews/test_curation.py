"""What was decided about facts stands again after a new extraction; what was taken back does not."""

import pytest

from banks import connections
from banks.fact_kinds import seen_hash
from banks.models import Bank, Write
from reviews.curation import reapply
from reviews.curation.remember import at_stake
from reviews.errors import FactRefused, FactTaken, TooLate
from reviews.models import FactDecision, Reapplication, ReviewEntry
from reviews.services import facts
from tests.banks.conftest import line
from tests.conftest import People
from tests.reviews.curating import TEXT, drain, entry, extracted_anew, in_bank, look, no_pause, retire

__all__ = ["entry", "line", "no_pause"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_retired_fact_is_retired_again_with_its_reason_and_nobody_is_named_for_it(
    bank: Bank, entry: ReviewEntry, people: People
) -> None:
    retire(entry, people, "Ben reads it.")
    before = in_bank(bank, "invalidated")["Ben reads it."].id
    extracted_anew(entry)
    retired = in_bank(bank, "invalidated")
    assert list(retired) == ["Ben reads it."]
    assert retired["Ben reads it."].id != before
    assert retired["Ben reads it."].invalidation_reason == "left the company"
    row = Write.objects.get(via=Write.Via.REAPPLY)
    assert (row.kind, row.actor) == ("retire", None)
    decision = FactDecision.objects.get()
    assert (decision.verdict, decision.user, decision.fact_id) == (
        "retired", people.reviewer, retired["Ben reads it."].id
    )  # fmt: skip


def test_it_stands_after_every_extraction_and_is_sent_once_for_each(
    bank: Bank, entry: ReviewEntry, people: People
) -> None:
    retire(entry, people, "Ben reads it.")
    for number in range(3):
        extracted_anew(entry, TEXT + f" It rained {number} times.")
        look(entry)
        assert list(in_bank(bank, "invalidated")) == ["Ben reads it."]
    assert Write.objects.filter(via=Write.Via.REAPPLY).count() == 3
    assert Reapplication.objects.filter(state="done").count() == 3


def test_an_edited_fact_gets_its_text_again(bank: Bank, entry: ReviewEntry, people: People) -> None:
    fact = in_bank(bank)["Ben reads it."]
    facts.edit(
        user=people.reviewer,
        entry_id=entry.pk,
        fact_id=fact.id,
        text_hash=seen_hash(fact.text),
        new_text="Ben audits it.",
    )
    drain(entry)
    assert "Ben audits it." in in_bank(bank)
    extracted_anew(entry)
    assert "Ben audits it." in in_bank(bank)
    assert "Ben reads it." not in in_bank(bank)
    assert FactDecision.objects.get().extracted.text == "Ben reads it."


def test_what_was_edited_and_then_retired_is_both_again(bank: Bank, entry: ReviewEntry, people: People) -> None:
    fact = in_bank(bank)["Ben reads it."]
    facts.edit(
        user=people.reviewer, entry_id=entry.pk, fact_id=fact.id, text_hash=seen_hash(fact.text), new_text="Ben audits."
    )
    drain(entry)
    retire(entry, people, "Ben audits.")
    extracted_anew(entry)
    assert list(in_bank(bank, "invalidated")) == ["Ben audits."]


def test_what_a_person_restored_stays_restored(bank: Bank, entry: ReviewEntry, people: People) -> None:
    row = retire(entry, people, "Ben reads it.")
    facts.restore_row(user=people.owner, write_id=row.pk)
    drain(entry)
    assert "Ben reads it." in in_bank(bank)
    extracted_anew(entry)
    assert "Ben reads it." in in_bank(bank)
    assert not Write.objects.filter(via=Write.Via.REAPPLY).exists()


def test_a_row_restores_its_facts_under_the_ids_they_have_now(bank: Bank, entry: ReviewEntry, people: People) -> None:
    row = retire(entry, people, "Ben reads it.")
    extracted_anew(entry)
    extracted_anew(entry, TEXT + " It snowed.")
    (write,) = facts.restore_row(user=people.owner, write_id=row.pk)
    drain(entry)
    write.refresh_from_db()
    assert write.outcome["restored"] == [in_bank(bank)["Ben reads it."].id]
    assert write.undo_of == row
    extracted_anew(entry, TEXT + " It hailed.")
    assert "Ben reads it." in in_bank(bank)


def test_a_retirement_made_elsewhere_survives_too(bank: Bank, entry: ReviewEntry, people: People) -> None:
    with connections.client_for(bank.server) as client:
        client.patch_fact(bank.bank_id, in_bank(bank)["Cara pays for it."].id, state="invalidated", reason="free now")
    look(entry)
    decision = FactDecision.objects.get()
    assert (decision.origin, decision.user, decision.reason) == ("observed", None, "free now")
    extracted_anew(entry)
    assert in_bank(bank, "invalidated")["Cara pays for it."].invalidation_reason == "free now"


def test_what_was_restored_elsewhere_is_not_retired_again(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, "Ben reads it.")
    with connections.client_for(bank.server) as client:
        client.patch_fact(bank.bank_id, in_bank(bank, "invalidated")["Ben reads it."].id, state="valid")
    look(entry)
    extracted_anew(entry)
    assert "Ben reads it." in in_bank(bank)


@pytest.mark.parametrize(("policy", "asked"), [("ask", 1), ("off", 0)])
def test_a_bank_may_ask_or_let_it_go(policy: str, asked: int, bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, "Ben reads it.")
    Bank.objects.filter(pk=bank.pk).update(reapply=policy)
    extracted_anew(entry)
    assert "Ben reads it." in in_bank(bank)
    assert Reapplication.objects.filter(state="asked").count() == asked


def test_a_close_text_asks_and_another_number_does_not_even_ask(bank: Bank, entry: ReviewEntry, people: People) -> None:
    extracted_anew(entry, "Ann waits for 30 seconds at most. Ben reads the whole ledger.")
    retire(entry, people, "Ann waits for 30 seconds at most.")
    retire(entry, people, "Ben reads the whole ledger.")
    extracted_anew(entry, "Ann waits for 60 seconds at most. Ben reads the whole ledger!")
    pair = Reapplication.objects.get()
    assert (pair.state, pair.exact, pair.text.text) == ("asked", False, "Ben reads the whole ledger!")
    reapply.answer(user=people.reviewer, reapplication_id=pair.pk, apply=True)
    drain(entry)
    assert list(in_bank(bank, "invalidated")) == ["Ben reads the whole ledger!"]
    with pytest.raises(TooLate):
        reapply.answer(user=people.owner, reapplication_id=pair.pk, apply=False)


def test_a_persons_edit_that_says_it_again_asks(bank: Bank, entry: ReviewEntry, people: People) -> None:
    from reviews.services import decide

    retire(entry, people, "Ben reads it.")
    shown = lambda: {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}  # noqa: E731
    decide.edit(user=people.reviewer, new_text="Ann keeps the ledger. Cara pays for it.", **shown())  # type: ignore[arg-type]
    drain(entry)
    assert not Reapplication.objects.exists()
    decide.edit(user=people.reviewer, new_text=TEXT, **shown())  # type: ignore[arg-type]
    drain(entry)
    assert Reapplication.objects.get().why == reapply.SAID_AGAIN
    assert "Ben reads it." in in_bank(bank)


def test_what_is_at_stake_is_told_beforehand(bank: Bank, entry: ReviewEntry, people: People) -> None:
    retire(entry, people, "Ben reads it.")
    assert at_stake(bank=bank, document_id="notes/a.md") == {"retired": 1}


def test_refusals_send_nothing(bank: Bank, entry: ReviewEntry, people: People) -> None:
    fact = in_bank(bank)["Ben reads it."]
    seen = {fact.id: seen_hash(fact.text)}
    with pytest.raises(FactRefused, match="Say why"):
        facts.retire(user=people.reviewer, entry_id=entry.pk, seen=seen, reason=" \u200b")
    with pytest.raises(FactRefused, match="not retired"):
        facts.restore(user=people.reviewer, entry_id=entry.pk, seen=seen)
    with pytest.raises(FactRefused, match="not here any more"):
        facts.retire(user=people.reviewer, entry_id=entry.pk, seen={"nowhere": ""}, reason="x")
    unchanged = facts.edit(
        user=people.reviewer, entry_id=entry.pk, fact_id=fact.id, text_hash=seen[fact.id], new_text=fact.text
    )
    assert unchanged is None
    assert not Write.objects.exists()


def test_two_facts_with_one_text_are_two_decisions(bank: Bank, entry: ReviewEntry, people: People) -> None:
    text = "Ben reads it. Ann waits. Ben reads it."
    extracted_anew(entry, text)
    with connections.client_for(bank.server) as client:
        same = [
            fact for fact in client.list_facts(bank.bank_id).items if fact.text == "Ben reads it." and fact.document_id
        ]
    assert len(same) == 2
    for fact in same:
        facts.retire(user=people.reviewer, entry_id=entry.pk, seen={fact.id: seen_hash(fact.text)}, reason="left")
        drain(entry)
    assert sorted(FactDecision.objects.values_list("occurrence", flat=True)) == [0, 1]
    extracted_anew(entry, text + " It rained.")
    with connections.client_for(bank.server) as client:
        assert client.count_facts(bank.bank_id, state="invalidated") == 2


def close_question(entry: ReviewEntry, people: People) -> Reapplication:
    extracted_anew(entry, "Ann waits. Ben reads the whole ledger.")
    retire(entry, people, "Ben reads the whole ledger.")
    extracted_anew(entry, "Ann waits. Ben reads the whole ledger!")
    return Reapplication.objects.get(state="asked")


def test_a_close_text_that_was_answered_is_known_from_then_on(bank: Bank, entry: ReviewEntry, people: People) -> None:
    reapply.answer(user=people.reviewer, reapplication_id=close_question(entry, people).pk, apply=True)
    drain(entry)
    extracted_anew(entry, "Ann waits long. Ben reads the whole ledger!")
    assert not Reapplication.objects.filter(state="asked").exists()
    assert list(in_bank(bank, "invalidated")) == ["Ben reads the whole ledger!"]


def test_what_a_person_let_go_is_not_asked_again(bank: Bank, entry: ReviewEntry, people: People) -> None:
    reapply.answer(user=people.reviewer, reapplication_id=close_question(entry, people).pk, apply=False)
    extracted_anew(entry, "Ann waits long. Ben reads the whole ledger!")
    assert not Reapplication.objects.filter(state="asked").exists()
    assert in_bank(bank, "invalidated") == {}


def test_a_question_about_a_fact_that_is_gone_is_withdrawn(entry: ReviewEntry, people: People) -> None:
    question = close_question(entry, people)
    extracted_anew(entry, "Ann waits.")
    question.refresh_from_db()
    assert question.state == "failed"


def test_somebody_is_faster_at_one_fact(bank: Bank, entry: ReviewEntry, people: People) -> None:
    fact = in_bank(bank)["Ben reads it."]
    seen = {fact.id: seen_hash(fact.text)}
    facts.retire(user=people.owner, entry_id=entry.pk, seen=seen, reason="left")
    with pytest.raises(FactTaken, match="Ann Weber was faster"):
        facts.edit(user=people.reviewer, entry_id=entry.pk, fact_id=fact.id, text_hash=seen[fact.id], new_text="X.")
    drain(entry)
    row = Write.objects.get()
    facts.restore_row(user=people.owner, write_id=row.pk)
    with pytest.raises(TooLate, match="being restored"):
        facts.restore_row(user=people.owner, write_id=row.pk)
