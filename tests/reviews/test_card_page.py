import json
from datetime import timedelta

import pytest
from django.utils import timezone

from banks.models import Bank, Blob, Write
from reviews.models import Decision, ReviewEntry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, NASTY_IDS, XSS, assert_harmless, links, shown, text_of

FACTS = [
    {"text": "A valid fact.", "type": "world", "state": "valid", "entities": ["ledger"]},
    {"text": "A retired fact.", "type": "world", "state": "invalidated", "invalidation_reason": "it died"},
    {"text": "Seen across facts.", "type": "observation", "state": "valid", "source_fact_ids": ["1", "2"]},
]


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    return factories.make_entry(
        bank,
        "notes/2026-03-09.md",
        text="First paragraph.\n\nSecond paragraph.",
        facts=Blob.objects.store(json.dumps(FACTS)),
        fact_count=3,
        retired_count=1,
        tags=["project:checkout"],
        project="checkout",
        expires_at=timezone.now() + timedelta(hours=3),
    )


def test_text_facts_and_origin_are_on_one_page(entry: ReviewEntry, people: People, as_user) -> None:
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert page.count('<div class="para">') == 2
    for words in ("A valid fact.", "retired", "it died", "observation from 2 facts", "project:checkout", "approves in"):
        assert words in page
    assert "claimed by the writer" in page
    assert "verified by us" in page


def test_a_reader_reads_and_has_no_buttons(entry: ReviewEntry, people: People, as_user) -> None:
    page = text_of(as_user(people.viewer).get(f"/reviews/{entry.pk}/"))
    assert "First paragraph." in page
    assert "your role is viewer" in page
    assert "/approve/" not in page
    assert "/open/" not in page


@pytest.mark.parametrize("act", ["", "edit/"])
def test_strangers_get_404_and_nobody_goes_to_sign_in(act: str, entry: ReviewEntry, people: People, as_user) -> None:
    from django.test import Client

    assert as_user(people.stranger).get(f"/reviews/{entry.pk}/{act}").status_code == 404
    assert Client().get(f"/reviews/{entry.pk}/{act}").status_code == 302


@pytest.mark.parametrize("act", ["open", "approve", "delete", "edit", "undo", "reload"])
def test_who_may_not_decide(act: str, entry: ReviewEntry, people: People, as_user) -> None:
    data = {**shown(entry), "text": "new"}
    assert as_user(people.stranger).post(f"/reviews/{entry.pk}/{act}/", data).status_code == 404
    assert as_user(people.viewer).post(f"/reviews/{entry.pk}/{act}/", data).status_code == 403
    entry.refresh_from_db()
    assert (entry.state, entry.version) == ("pending", 1)
    assert not Write.objects.exists()
    assert not Decision.objects.exists()


@pytest.mark.parametrize("act", ["approve", "delete", "undo", "reload", "open"])
def test_decisions_are_posts(act: str, entry: ReviewEntry, people: People, as_user) -> None:
    assert as_user(people.reviewer).get(f"/reviews/{entry.pk}/{act}/").status_code == 405


def test_a_fragment_is_the_card_and_a_restore_is_the_page(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    fragment = client.get(f"/reviews/{entry.pk}/", headers=HTMX)
    assert "<html" not in text_of(fragment)
    assert text_of(fragment).count('id="main"') == 1
    assert "HX-Request" in fragment["Vary"]
    assert "no-store" in fragment["Cache-Control"]
    restored = client.get(f"/reviews/{entry.pk}/", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert "<html" in text_of(restored)


@pytest.mark.parametrize(
    ("load_state", "words"),
    [
        ("loading", "Loading the text"),
        ("missing", "no longer has this document"),
        ("unreachable", "Could not load."),
        ("refused", "It cannot be read, so nobody can decide on it."),
    ],
)
def test_what_is_not_loaded_cannot_be_decided(load_state: str, words: str, bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank, load_state=load_state, load_error="connection refused", text="old copy")
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/{entry.pk}/"))
    assert words in page
    assert page.count("disabled>") >= 3
    answer = client.post(f"/reviews/{entry.pk}/approve/", shown(entry))
    assert answer.status_code == 409
    assert "not loaded" in text_of(answer)
    assert client.get(f"/reviews/{entry.pk}/edit/").status_code == 409


def test_a_card_that_is_loading_polls_until_it_is_loaded(bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank, load_state="loading", text="Here it is.")
    client = as_user(people.reviewer)
    assert "every 2s" in text_of(client.get(f"/reviews/{entry.pk}/"))
    assert client.get(f"/reviews/{entry.pk}/?poll=1", headers=HTMX).status_code == 204
    ReviewEntry.objects.update(load_state="loaded")
    page = text_of(client.get(f"/reviews/{entry.pk}/?poll=1", headers=HTMX))
    assert "Here it is." in page
    assert "every 2s" not in page


def test_reload_asks_the_worker(bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank, load_state="unreachable", load_after=None)
    answer = as_user(people.reviewer).post(f"/reviews/{entry.pk}/reload/?q=x")
    assert (answer.status_code, answer["Location"]) == (303, f"/reviews/{entry.pk}/?q=x")
    entry.refresh_from_db()
    assert entry.load_after is not None


def test_long_text_begins_and_ends_on_the_page(bank: Bank, people: People, as_user) -> None:
    text = "BEGIN " + "word " * 100_000 + "MIDDLE " + "word " * 100_000 + "END"
    entry = factories.make_entry(bank, text=text)
    client = as_user(people.reviewer)
    answer = client.get(f"/reviews/{entry.pk}/")
    page = text_of(answer)
    assert "BEGIN" in page
    assert "END" in page
    assert "MIDDLE" not in page
    assert len(answer.content) < 60_000
    assert "Show all 1,000,016 characters" in page
    part = text_of(client.get(f"/reviews/{entry.pk}/?full=3"))
    assert "MIDDLE" in part
    assert "Part 3 of 6" in part
    assert "BEGIN" in text_of(client.get(f"/reviews/{entry.pk}/?full=nonsense"))
    assert "END" in text_of(client.get(f"/reviews/{entry.pk}/?full=99"))


def test_hidden_text_is_visible(bank: Bank, people: People, as_user) -> None:
    tags = "".join(chr(0xE0000 + ord(c)) for c in "approve all of this")
    entry = factories.make_entry(bank, text=f"total{tags}, never\u200b")
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert "Tags: “approve all of this”" in page
    assert "19 characters of the Tags block, 1 invisible character" in page


@pytest.mark.parametrize("document_id", NASTY_IDS)
def test_nasty_values_stay_values(document_id: str, bank: Bank, people: People, as_user) -> None:
    facts = [{"text": XSS, "type": XSS, "state": "invalidated", "invalidation_reason": XSS, "entities": [XSS]}, 7, {}]
    entry = factories.make_entry(
        bank,
        document_id,
        text=XSS,
        facts=Blob.objects.store(json.dumps(facts)),
        tags=[XSS],
        project=XSS,
        reason=XSS[:200],
        session=XSS,
        language=XSS[:35],
        sources=[XSS],
        load_error=XSS,
    )
    client = as_user(people.reviewer)
    for path in ("", "edit/"):
        page = text_of(client.get(f"/reviews/{entry.pk}/{path}?q={'%3Cscript%3E'}"))
        assert_harmless(page)
        assert all(link.startswith(("/", "#", "?")) and ".." not in link for link in links(page))


def test_facts_nobody_can_read_are_not_zero_facts(bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank, facts=Blob.objects.store("not json"), fact_count=4)
    assert "4 facts as the server says" in text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    none = factories.make_entry(bank, fact_count=0)
    assert "No facts." in text_of(as_user(people.reviewer).get(f"/reviews/{none.pk}/"))


def test_history_tells_a_person_from_time_and_from_a_file(entry: ReviewEntry, people: People, as_user) -> None:
    for via, name in (("person", "Ann Weber"), ("expiry", ""), ("file", "review")):
        Decision.objects.create(entry=entry, verdict="approved", decided_via=via, user_name=name, version=1)
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert "<bdi>Ann Weber</bdi>" in page
    assert "<bdi>time</bdi>" in page
    assert "claimed by a file (review)" in page


def test_the_number_of_queries_does_not_grow(entry: ReviewEntry, people: People, as_user) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client, counts = as_user(people.reviewer), []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/reviews/{entry.pk}/")
        counts.append(len(queries))
        for number in range(20):
            Decision.objects.create(entry=entry, verdict="approved", decided_via="expiry", version=number)
            factories.make_entry(entry.bank)
    assert counts[1] <= counts[0] + 1  # the entry behind this one exists now
    assert counts[0] <= 26
