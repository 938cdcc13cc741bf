"""Pages of log imports: choosing the bank, the report, the rows. Everything works without a script."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from banks import jobs
from banks.models import Bank, Job
from tests import factories
from tests.conftest import People
from tests.reviews.log_files import (
    CUT,
    KILL_A,
    KILL_B,
    as_bytes,
    entry,
    import_log,
    recall,
    restore,
    retained,
    retire,
    rows,
)
from tests.reviews.pages import HTMX, text_of

SignIn = Callable[..., Client]


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def upload(client: Client, bank: object, lines: list[str] | bytes) -> Any:
    return client.post("/imports/log/", {"bank": bank, "file": SimpleUploadedFile("log.jsonl", as_bytes(lines))})


def test_a_log_is_uploaded_imported_and_reported(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.reviewer)
    for address in ("/imports/", "/imports/new/"):
        assert 'href="/imports/log/"' in text_of(client.get(address))
    form = text_of(client.get("/imports/log/", {"bank": bank.pk}))
    assert f'<option value="{bank.pk}" selected>' in form
    answer = upload(client, bank.pk, [recall(), retained(CUT), "torn", entry("error", ts=None), recall("again")])
    job = Job.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/imports/{job.pk}/")
    assert "hx-trigger" in text_of(client.get(f"/imports/{job.pk}/", headers=HTMX))
    jobs.run(job.pk)
    page = text_of(client.get(f"/imports/{job.pk}/"))
    for words in (
        "<b>5 lines read.</b> It brought 4 new rows",
        "<b>1 line holds a text that the agent’s tool has cut.</b>",
        "<b>1 line has no time that counts.</b>",
        "not JSON",
        f'href="/log/?kind=recall&amp;group={job.params["group"]}">Recall</a>',
    ):
        assert words in page
    assert "Log of an agent in" in text_of(client.get("/imports/"))
    found = text_of(client.get("/log/", {"group": job.params["group"]}))
    assert all(f"/log/{row.pk}/" in found for row in rows())


def test_what_is_known_brings_nothing_new(bank: Bank, people: People, as_user: SignIn) -> None:
    import_log([recall()], people.reviewer, bank)
    job = import_log([recall()], people.reviewer, bank)
    page = text_of(as_user(people.reviewer).get(f"/imports/{job.pk}/"))
    assert "It brought nothing new." in page
    assert "Show them in the log" not in page


@pytest.mark.parametrize(("who", "status"), [("stranger", 404), ("viewer", 403)])
def test_who_may_not_review_the_bank(bank: Bank, people: People, as_user: SignIn, who: str, status: int) -> None:
    client = as_user(getattr(people, who))
    assert upload(client, bank.pk, [recall()]).status_code == status
    assert bank.bank_id not in text_of(client.get("/imports/log/"))
    assert not Job.objects.exists()


@pytest.mark.parametrize("chosen", ["", "x", "9" * 40, "99999"])
def test_a_bank_must_be_said(bank: Bank, people: People, as_user: SignIn, chosen: str) -> None:
    answer = upload(as_user(people.reviewer), chosen, [recall()])
    assert answer.status_code == (404 if chosen == "99999" else 422)
    assert not Job.objects.exists()


def test_no_file_and_too_large_a_one_get_a_sentence(
    bank: Bank, people: People, as_user: SignIn, settings: LazySettings, uploads: Path
) -> None:
    settings.IMPORT_MAX_BYTES = 1000
    client = as_user(people.reviewer)
    assert "Choose a file." in text_of(client.post("/imports/log/", {"bank": bank.pk}))
    answer = upload(client, bank.pk, b"x" * 1001)
    assert answer.status_code in {413, 422}
    assert "Nothing was imported." in text_of(answer)
    assert list(uploads.iterdir()) == []


def test_a_report_is_its_owners_alone(bank: Bank, people: People, as_user: SignIn) -> None:
    job = import_log([recall(), "torn with a prompt in it"], people.reviewer, bank)
    for person in (people.stranger, people.viewer, people.owner):
        for address in (f"/imports/{job.pk}/", f"/imports/{job.pk}/skipped/"):
            assert as_user(person).get(address).status_code == 404


def test_the_list_says_what_each_row_says(bank: Bank, people: People, as_user: SignIn) -> None:
    import_log(
        [recall(), recall("other"), retained(), retire(KILL_A, KILL_B), entry("new", message="hm")],
        people.reviewer,
        bank,
    )
    page = text_of(as_user(people.viewer).get("/log/"))
    for words in (
        "3/12 run migrations",
        "3/12 other",
        "1 doc · 9 lines inline",
        "2 facts The exporter",
        "new hm",
        "a file says so",
    ):
        assert words in page


def test_a_recall_shows_its_query_numbers_text_and_hits(bank: Bank, people: People, as_user: SignIn) -> None:
    import_log([recall(rawHits=["hit one", *["hit"] * 150])], people.reviewer, bank)
    page = text_of(as_user(people.viewer).get(f"/log/{rows()[0].pk}/"))
    for words in (
        "run migrations",
        "bank recalled facts",
        "Injected text or answer",
        "- The exporter writes",
        "hit one",
        "51 items",
    ):
        assert words in page
    assert "Mira Kovač" in page
    assert "line 1 of the file" in page


def test_a_retain_shows_its_text_and_its_document(bank: Bank, people: People, as_user: SignIn) -> None:
    entry_ = factories.make_entry(bank, "notes/a.md", text="- Ann pays.")
    import_log([retained(), retained(CUT)], people.reviewer, bank)
    client = as_user(people.viewer)
    page = text_of(client.get(f"/log/{rows()[0].pk}/"))
    assert "- Ann pays." in page
    assert f'href="/reviews/{entry_.pk}/"' in page
    assert "<b>Clipped:</b>" in text_of(client.get(f"/log/{rows()[1].pk}/"))


def test_a_retire_row_shows_quotes_and_what_still_stands(bank: Bank, people: People, as_user: SignIn) -> None:
    import_log([retire(KILL_A, {"id": "..", "text": "t"}, KILL_B), restore(KILL_B)], people.reviewer, bank)
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/log/{rows()[0].pk}/"))
    for words in (KILL_A["quote"], KILL_A["text"], "restored since", "no server can address this id", "Restore"):
        assert words in page
    assert f"/log/{rows()[1].pk}/restore/" not in text_of(client.get(f"/log/{rows()[1].pk}/"))


def test_a_long_log_asks_no_more(
    bank: Bank, people: People, as_user: SignIn, django_assert_max_num_queries: Any
) -> None:
    lines = [line for number in range(12) for line in (retire({**KILL_A, "id": f"f{number}"}), recall(), retained())]
    import_log([*lines, *(restore({**KILL_A, "id": f"f{number}"}) for number in range(6))], people.reviewer, bank)
    client = as_user(people.reviewer)
    with django_assert_max_num_queries(24):
        page = text_of(client.get("/log/"))
    assert page.count("/restore/") == 6
