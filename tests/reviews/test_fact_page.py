"""Acting on single facts from the card."""

import json

import pytest
from django.test import Client
from django.utils import timezone

from banks.fact_kinds import seen_hash
from banks.models import Bank, Blob, Write
from reviews.models import FactDecision, Reapplication, ReviewEntry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

FACTS = [
    {"id": "f1", "text": "Ann keeps the ledger.", "type": "world", "state": "valid"},
    {"id": "f2", "text": "Ben reads it.", "type": "world", "state": "invalidated", "invalidation_reason": "he left"},
    {"id": "o1", "text": "They audit.", "type": "observation", "state": "valid", "source_fact_ids": ["f1", "f2"]},
]


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    facts = Blob.objects.store(json.dumps(FACTS))
    return factories.make_entry(bank, "notes/a.md", facts=facts, fact_count=2, retired_count=1)


def send(client: Client, entry: ReviewEntry, act: str, number: int = 0, *, htmx: bool = False, **more: str):
    data = {"fact": FACTS[number]["id"], "seen": seen_hash(str(FACTS[number]["text"])), **more}
    return client.post(f"/reviews/{entry.pk}/facts/{act}/", data, headers=HTMX if htmx else None)


def decide(entry: ReviewEntry, fact: int, **values: object) -> FactDecision:
    text = str(FACTS[fact]["text"])
    return FactDecision.objects.create(
        **{
            "bank": entry.bank, "document_id": entry.document_id, "document_hash": entry.document_hash,
            "fact_id": FACTS[fact]["id"], "extracted": Blob.objects.store(text), "preview": text,
            "verdict": "retired", "reason": "he left", "user_name": "Ann Weber", **values,
        }
    )  # fmt: skip


def test_retiring_stores_one_row_with_the_reason_and_comes_back_to_the_card(
    entry: ReviewEntry, people: People, as_user
) -> None:
    answer = send(as_user(people.reviewer), entry, "retire", reason=" It  died. ")
    assert (answer.status_code, answer["Location"]) == (303, f"/reviews/{entry.pk}/#facts")
    write = Write.objects.get()
    assert (write.kind, write.actor, write.fact_ids) == ("retire", people.reviewer, ["f1"])
    assert write.params == {"reason": "It died.", "seen": {"f1": seen_hash("Ann keeps the ledger.")}}
    assert write.facts_before == entry.facts


def test_a_fragment_is_the_list_with_what_is_under_way(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    page = text_of(send(client, entry, "retire", reason="It died.", htmx=True))
    assert "<html" not in page
    assert "Retiring “Ann keeps the ledger.”." in page
    assert "retiring, <bdi>Mira Kovač</bdi>" in page
    assert "every 2s" in page
    mark = page.split("&quot;mark&quot;: &quot;")[1].split("&quot;")[0]
    assert client.get(f"/reviews/{entry.pk}/facts/?mark={mark}", headers=HTMX).status_code == 204
    Write.objects.update(state="attention", error_text="The server refused.")
    page = text_of(client.get(f"/reviews/{entry.pk}/facts/?mark={mark}", headers=HTMX))
    assert "retiring did not work" in page
    assert "The server refused." in page
    assert "every 2s" not in page
    assert client.get(f"/reviews/{entry.pk}/facts/")["Location"] == f"/reviews/{entry.pk}/"


def test_restoring(entry: ReviewEntry, people: People, as_user) -> None:
    assert send(as_user(people.reviewer), entry, "restore", 1).status_code == 303
    assert Write.objects.get().kind == "restore"


def test_the_card_says_who_did_it_and_when_and_offers_what_can_be_done(
    entry: ReviewEntry, people: People, as_user
) -> None:
    decide(entry, 1)
    decide(entry, 0, verdict="edited", current=Blob.objects.store("Ann keeps the ledger."), user_name="Ben")
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert "retired by <bdi>Ann Weber</bdi>, just now" in page
    assert "edited by <bdi>Ben</bdi>, just now" in page
    assert page.count("Retire this fact") == page.count("/facts/edit/?fact=f1") / 2 == 1
    assert page.count('<button class="button" type="submit" data-tone="retired" data-key="R"') == 1
    assert "retire or change those" in page
    assert '<li dir="auto">Ben reads it.</li>' in page  # what the observation is made from
    viewer = text_of(as_user(people.viewer).get(f"/reviews/{entry.pk}/"))
    assert 'type="radio"' not in viewer
    assert "Retire this fact" not in viewer


@pytest.mark.parametrize("act", ["retire", "restore", "edit"])
def test_who_may_not(act: str, entry: ReviewEntry, people: People, as_user) -> None:
    for person, status in ((people.stranger, 404), (people.viewer, 403)):
        assert send(as_user(person), entry, act, reason="x", text="new").status_code == status
    assert as_user(people.stranger).get(f"/reviews/{entry.pk}/facts/", headers=HTMX).status_code == 404
    if act != "edit":
        assert as_user(people.reviewer).get(f"/reviews/{entry.pk}/facts/{act}/").status_code == 405
    assert not Write.objects.exists()


@pytest.mark.parametrize(
    ("act", "fact", "more", "status", "words"),
    [
        ("retire", 0, {"reason": " "}, 422, "Say why"),
        ("retire", 0, {"reason": "x" * 1_001}, 422, "at most 1,000"),
        ("retire", 1, {"reason": "x"}, 422, "retired already"),
        ("retire", 2, {"reason": "x"}, 422, "made from facts"),
        ("restore", 0, {}, 422, "not retired"),
        ("retire", 0, {"reason": "x", "fact": "gone"}, 409, "not here any more"),
        ("retire", 0, {"reason": "x", "seen": "0" * 64}, 409, "something else"),
    ],
)
def test_refusals_say_why(
    act: str, fact: int, more: dict[str, str], status: int, words: str, entry: ReviewEntry, people: People, as_user
) -> None:
    for htmx in (False, True):
        answer = send(as_user(people.reviewer), entry, act, fact, htmx=htmx, **more)
        assert answer.status_code == status
        assert words in text_of(answer)
    assert not Write.objects.exists()


def test_who_is_slower_is_told_who_was_faster(entry: ReviewEntry, people: People, as_user) -> None:
    send(as_user(people.owner), entry, "retire", reason="It died.")
    answer = send(as_user(people.reviewer), entry, "retire", reason="It died.")
    assert answer.status_code == 409
    assert "Ann Weber was faster" in text_of(answer)
    assert Write.objects.count() == 1


def test_editing_a_fact_keeps_its_old_text_in_the_row(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    assert "Ann keeps the ledger.</textarea>" in text_of(client.get(f"/reviews/{entry.pk}/facts/edit/?fact=f1"))
    answer = send(client, entry, "edit", text="Ann keeps the books.")
    assert answer.status_code == 303
    write = Write.objects.get()
    assert (write.kind, write.before.text, write.request.text) == (
        "edit-fact", "Ann keeps the ledger.", "Ann keeps the books."
    )  # fmt: skip
    assert send(client, entry, "edit", text="Ann audits.").status_code == 409
    assert "Ann audits." in text_of(send(client, entry, "edit", text="Ann audits."))  # what was typed is kept


def test_an_edit_that_cannot_be(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    assert "so nothing was sent" in text_of(send(client, entry, "edit", text=FACTS[0]["text"], htmx=True))
    assert send(client, entry, "edit", text="  ").status_code == 422
    for fact, words in (("f2", "Restore it first"), ("o1", "change those"), ("nope", "not here any more")):
        answer = client.get(f"/reviews/{entry.pk}/facts/edit/?fact={fact}")
        assert (answer.status_code, words in text_of(answer)) == (409, True)
    assert not Write.objects.exists()


@pytest.fixture
def question(entry: ReviewEntry) -> Reapplication:
    return Reapplication.objects.create(
        decision=decide(entry, 1, fact_id="old"), fact_id="f1", replaces="old", text=Blob.objects.store("Ben reads."),
        exact=False, why="It says nearly the same.", state="asked",
    )  # fmt: skip


def test_a_question_is_on_the_card_and_on_the_first_page(
    question: Reapplication, entry: ReviewEntry, people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/{entry.pk}/"))
    for words in (
        "Retire it again?",
        "It says nearly the same.",
        "Ben reads.",
        "<bdi>Ann Weber</bdi> retired",
        "he left",
    ):
        assert words in page
    assert '/facts/retired/?tab=questions">Decisions about facts wait for an answer' in text_of(client.get("/"))
    assert "wait for an answer" not in text_of(as_user(people.viewer).get("/"))
    assert "Let it go" not in text_of(as_user(people.viewer).get(f"/reviews/{entry.pk}/"))
    client.post(f"/facts/questions/{question.pk}/let-go/")
    assert FactDecision.objects.get().verdict == "restored"
    assert [write.kind for write in Write.objects.all()] == ["let-go"]  # a row of the log, and no call
    assert "wait for an answer" not in text_of(client.get("/"))
    assert client.post(f"/facts/questions/{question.pk}/apply/").status_code == 409


def test_an_answer_applies_it_once(question: Reapplication, people: People, as_user) -> None:
    path = f"/facts/questions/{question.pk}/apply/"
    assert as_user(people.stranger).post(path).status_code == 404
    assert as_user(people.viewer).post(path).status_code == 403
    assert as_user(people.reviewer).get(path).status_code == 405
    assert as_user(people.reviewer).post(path).status_code == 303
    assert as_user(people.owner).post(path, headers=HTMX).status_code == 409
    write = Write.objects.get()
    assert (write.kind, write.via, write.fact_ids) == ("retire", "reapply", ["f1"])


def test_hostile_text_stays_text(bank: Bank, people: People, as_user) -> None:
    facts = [{"id": XSS[:60], "text": XSS, "type": "world", "state": "valid", "invalidation_reason": XSS}]
    entry = factories.make_entry(bank, facts=Blob.objects.store(json.dumps(facts)), loaded_at=timezone.now())
    client = as_user(people.reviewer)
    assert_harmless(text_of(client.get(f"/reviews/{entry.pk}/")))
    assert_harmless(text_of(client.get(f"/reviews/{entry.pk}/facts/edit/", {"fact": XSS[:60]})))
    assert client.post(
        f"/reviews/{entry.pk}/facts/retire/", {"fact": XSS[:60], "seen": seen_hash(XSS), "reason": XSS}
    ).status_code == 303  # fmt: skip
