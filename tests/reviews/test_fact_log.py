"""Rows about facts on the write log, and restoring from there."""

import json
import re

import pytest

from banks.models import Bank, Blob, Write
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

FACTS = [{"id": f"f{n}", "text": f"Fact number {n}."} for n in (1, 2, 3)]


@pytest.fixture
def row(bank: Bank, people: People) -> Write:
    return retired(bank, people)


def retired(bank: Bank, people: People, **values: object) -> Write:
    values = {
        "fact_ids": ["f1", "f2", "f3"],
        "outcome": {"retired": ["f1", "f2"], "refused": {"f3": "It is no longer in the bank."}, "not_called": []},
        "state": "attention",
        **values,
    }
    return Write.objects.create(
        kind="retire", bank=bank, via="web", actor=people.owner, actor_name="Ann Weber", document_id="notes/a.md",
        document_hash=Write.hash_of("notes/a.md"), slot="s", params={"reason": "It died."},
        facts_before=Blob.objects.store(json.dumps(FACTS)), **values,
    )  # fmt: skip


def test_the_row_says_what_became_of_each_fact(row: Write, people: People, as_user) -> None:
    page = text_of(as_user(people.viewer).get(f"/log/{row.pk}/"))
    for words in ("Fact number 1.", "Fact number 3.", "“It died.”", "refused: It is no longer in the bank."):
        assert words in page
    assert "/restore/" not in page  # a viewer


def test_a_row_restores_its_facts_once(row: Write, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    assert f"/log/{row.pk}/restore/" in text_of(client.get("/log/"))
    answer = client.post(f"/log/{row.pk}/restore/", {"next": "/log/?kind=retire"})
    assert (answer.status_code, answer["Location"]) == (303, "/log/?kind=retire")
    write = Write.objects.get(kind="restore")
    assert (write.fact_ids, write.undo_of, write.actor) == (["f1", "f2"], row, people.reviewer)
    page = text_of(client.get("/log/"))
    assert f"/log/{row.pk}/restore/" not in page
    Write.objects.filter(pk=write.pk).update(state="done", outcome={"restored": ["f1", "f2"], "not_called": []})
    answer = client.post(f"/log/{row.pk}/restore/", {"next": "//evil.example/"})
    assert answer["Location"] == f"/log/{row.pk}/"
    assert f"was restored already, by row {write.pk}" in text_of(client.get(answer["Location"]))
    assert Write.objects.filter(kind="restore").count() == 1
    assert "restored 2 of 2" in text_of(client.get("/log/"))


def test_a_restore_that_failed_may_be_tried_again(row: Write, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    client.post(f"/log/{row.pk}/restore/")
    Write.objects.filter(kind="restore").update(state="cancelled")
    assert client.post(f"/log/{row.pk}/restore/").status_code == 303
    assert Write.objects.filter(kind="restore").count() == 2


def test_who_may_not_and_what_cannot(row: Write, bank: Bank, people: People, as_user) -> None:
    path = f"/log/{row.pk}/restore/"
    assert as_user(people.stranger).post(path).status_code == 404
    assert as_user(people.viewer).post(path).status_code == 403
    assert as_user(people.reviewer).get(path).status_code == 405
    client = as_user(people.reviewer)
    assert client.post("/log/99999/restore/").status_code == 404
    waiting = retired(bank, people, state="queued", outcome={})
    none = retired(bank, people, state="done", outcome={"retired": []})
    for each, words in ((waiting, "not retired yet"), (none, "Nothing was retired")):
        answer = client.post(f"/log/{each.pk}/restore/", follow=True)
        assert words in text_of(answer)
    assert not Write.objects.filter(kind="restore").exists()


def test_an_edited_fact_shows_both_texts(bank: Bank, people: People, as_user) -> None:
    write = Write.objects.create(
        kind="edit-fact", bank=bank, via="web", slot="t", state="done", fact_ids=["f1"], outcome={"edited": ["f1"]},
        before=Blob.objects.store("Ann pays."), request=Blob.objects.store("Ann never pays."),
    )  # fmt: skip
    page = text_of(as_user(people.viewer).get(f"/log/{write.pk}/"))
    assert re.search("<ins>[^<]*never", page)
    assert '<code class="id">f1</code></a>: edited' in page


def test_a_long_log_asks_no_more(bank: Bank, people: People, as_user, django_assert_max_num_queries) -> None:
    for _ in range(30):
        retired(bank, people)
    client = as_user(people.reviewer)
    with django_assert_max_num_queries(20):
        client.get("/log/")


def test_hostile_facts_stay_text(bank: Bank, people: People, as_user) -> None:
    row = retired(
        bank, people, fact_ids=[XSS[:60]], error_text=XSS, outcome={"retired": [], "refused": {XSS[:60]: XSS}}
    )
    facts = Blob.objects.store(json.dumps([{"id": XSS[:60], "text": XSS}, 7]))
    Write.objects.filter(pk=row.pk).update(facts_before=facts, params={"reason": XSS})
    page = text_of(as_user(people.reviewer).get(f"/log/{row.pk}/"))
    assert_harmless(page)
    assert "&lt;script&gt;" in page
