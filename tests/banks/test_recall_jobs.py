"""Recall and reflect as jobs: what is kept of an answer, and that nothing makes a bank."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone

from banks import connections, jobs
from banks.models import Bank, Job, Membership, Write
from banks.recall import opening, recalling, reflecting, works
from banks.recall.asked import Asked
from tests.banks.conftest import LyingTransport, store
from tests.banks.recalling import ANN, QUESTION, recall
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = Asked(QUESTION)


def reflect(people: People, bank: Bank) -> Job:
    job = reflecting.start(user=people.reviewer, bank=bank, asked=ASKED)
    jobs.run(job.pk)
    job.refresh_from_db()
    return job


def test_what_came_is_kept_with_scores_places_and_the_block(bank: Bank, people: People, line: LyingTransport) -> None:
    job = recall(people.reviewer, bank)
    told: Any = works.result_of(job)
    (hit,) = told["hits"]
    assert (hit["text"], hit["type"], hit["document_id"]) == (ANN, "world", "notes/a.md")
    assert (hit["scores"]["final"], hit["ranks"], hit["fate"]) == (1.0, {"bm25": 1}, ["injected", 1])
    assert told["block"].endswith(f"\n- {ANN}\n--- end of recalled memory ---")
    assert (told["sent"], told["omitted"], told["trace"]["left_out"]) == (True, 0, [])
    assert not Write.objects.exists()


def test_what_the_server_left_out_is_told(bank: Bank, people: People, line: LyingTransport) -> None:
    store(bank, "more", "Zoe keeps another ledger, the one with the numbers of the last years.")
    told: Any = works.result_of(recall(people.reviewer, bank, max_tokens=8))
    assert [hit["text"] for hit in told["hits"]] == [ANN]
    (left,) = told["trace"]["left_out"]
    assert (left["text"][:24], left["place"], left["instead"]) == ("Zoe keeps another ledger", 1, 0)
    assert (told["trace"]["left_out_count"], told["trace"]["replaced_count"]) == (1, 0)


def test_a_fact_that_an_observation_stands_for_names_it(bank: Bank, people: People, line: LyingTransport) -> None:
    store(bank, "more", "Ann keeps the keys of the ledger.")
    told: Any = works.result_of(recall(people.reviewer, bank, prefer=True))
    (number,) = [number for number, hit in enumerate(told["hits"], 1) if hit["type"] == "observation"]
    replaced = {each["text"]: each["instead"] for each in told["trace"]["left_out"]}
    assert replaced == {ANN: number, "Ann keeps the keys of the ledger.": number}
    assert told["trace"]["replaced_count"] == 2


def test_a_fact_of_several_lines_stands_on_one_and_that_is_told(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    with connections.client_for(bank.server) as client:
        (fact,) = [each for each in client.list_facts(bank.bank_id).items if each.text == ANN]
        client.patch_fact(bank.bank_id, fact.id, text="Ann keeps:\n- the ledger\n- the keys")
    told: Any = works.result_of(recall(people.reviewer, bank))
    assert "\n- Ann keeps: - the ledger - the keys\n---" in told["block"]
    assert told["joined"] == 1


def test_a_query_without_a_word_is_not_sent(bank: Bank, people: People, line: LyingTransport) -> None:
    told: Any = works.result_of(recall(people.reviewer, bank, "?!"))
    assert told["block"] == f"🧠 recall\n- Bank query: not sent\n- Reason: {recalling.NO_WORD}"
    assert (told["sent"], line.calls) == (False, [])


def test_the_same_question_is_asked_once_while_it_is_under_way(bank: Bank, people: People) -> None:
    one, again = (recalling.start(user=people.reviewer, bank=bank, asked=ASKED) for _ in range(2))
    other = recalling.start(user=people.reviewer, bank=bank, asked=Asked("What else?"))
    assert one.pk == again.pk != other.pk


@pytest.mark.parametrize("kind", [recalling, reflecting])
def test_a_bank_that_is_not_there_is_not_asked_and_not_made(
    bank: Bank, people: People, line: LyingTransport, kind: Any
) -> None:
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
        line.calls.clear()
        job = kind.start(user=people.reviewer, bank=bank, asked=ASKED)
        assert jobs.run(job.pk) == "failed"
        assert line.sent("POST") == 0
        assert not client.has_bank(bank.bank_id)
    job.refresh_from_db()
    bank.refresh_from_db()
    assert (job.error, bank.gone_since is not None) == (opening.NO_BANK, True)


@pytest.mark.parametrize("kind", [recalling, reflecting])
def test_who_may_not_decide_asks_nothing(bank: Bank, people: People, line: LyingTransport, kind: Any) -> None:
    for who, refused in ((people.viewer, PermissionDenied), (people.stranger, Http404)):
        with pytest.raises(refused):
            kind.start(user=who, bank=bank, asked=ASKED)
    job = kind.start(user=people.reviewer, bank=bank, asked=ASKED)
    Membership.objects.filter(user=people.reviewer).delete()  # meanwhile
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert (job.error, line.calls) == (opening.NO_RIGHT, [])


def test_an_answer_is_kept_with_its_sources(bank: Bank, people: People, line: LyingTransport) -> None:
    told: Any = works.result_of(reflect(people, bank))
    assert told["text"] == f"## Answer\n\n- {ANN}"
    assert [(each["kind"], each["text"], each["document"]) for each in told["sources"]] == [("fact", ANN, "notes/a.md")]
    assert (told["tokens"], told["asked"]) == (120, [["recall", QUESTION]])


def test_an_answer_that_was_lost_is_not_paid_for_twice(bank: Bank, people: People, line: LyingTransport) -> None:
    job = reflecting.start(user=people.reviewer, bank=bank, asked=ASKED)
    Job.objects.filter(pk=job.pk).update(cursor={"asked": True})  # its worker was killed while the server answered
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert (job.error, line.calls) == (reflecting.INTERRUPTED, [])


def test_a_server_that_takes_too_long_is_said_in_words(bank: Bank, people: People, line: LyingTransport) -> None:
    line.cut_after = ["POST"]
    job = reflect(people, bank)
    assert (job.state, job.error) == ("failed", opening.TOO_LONG.format(reflecting.READ_TIMEOUT))


def test_answers_are_forgotten_after_a_day(bank: Bank, people: People, line: LyingTransport) -> None:
    old, running, fresh = (
        recall(people.reviewer, bank),
        recalling.start(user=people.reviewer, bank=bank, asked=Asked("Running?")),
        recall(people.reviewer, bank, "Fresh?"),
    )
    Job.objects.filter(pk__in=[old.pk, running.pk]).update(created=timezone.now() - works.KEPT - timedelta(minutes=1))
    works.forget()
    assert set(Job.objects.values_list("pk", flat=True)) == {running.pk, fresh.pk}
