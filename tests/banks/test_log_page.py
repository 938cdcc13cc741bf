from datetime import timedelta

import pytest
from django.utils import timezone

from banks import log_index
from banks.models import Bank, Blob, Write
from tests.conftest import People
from tests.reviews.pages import NASTY_IDS, XSS, assert_harmless, links, text_of


def make_write(bank: Bank, **values: object) -> Write:
    document_id = str(values.get("document_id", "notes/a.md"))
    return Write.objects.create(
        **{
            "kind": "edit",
            "bank": bank,
            "via": "web",
            "state": "done",
            "actor_name": "Mira Kovač",
            "document_id": document_id,
            "document_hash": Write.hash_of(document_id),
            **values,
        }
    )


def test_who_what_when_and_how_it_ended(bank: Bank, people: People, as_user) -> None:
    make_write(bank, kind="delete", outcome={"units_deleted": 7}, slot="s")
    make_write(bank, kind="approve", via="expiry", actor_name="")
    make_write(bank, state="unknown", slot="u")
    make_write(bank, kind="something-new", state="attention", error_text="the server said no")
    page = text_of(as_user(people.reviewer).get("/log/"))
    for words in ("done, 7 facts gone", "by time", "reading back", "Something-new", "the server said no", "recorded"):
        assert words in page


def test_filters(bank: Bank, people: People, as_user) -> None:
    make_write(bank, document_id="attention.md", state="attention")
    make_write(bank, document_id="changed.md", state="changed", kind="delete")
    make_write(bank, document_id="queued.md", state="queued")
    make_write(bank, document_id="mine.md", actor=people.reviewer, error_text="no space")
    log_index.note([(row.pk, ()) for row in Write.objects.all()])
    log_index.sweep()
    client = as_user(people.reviewer)
    for query, expected in {
        "": {"attention", "changed", "queued", "mine"},
        "state=attention": {"attention", "changed"},
        "state=flight": {"queued"},
        "who=me": {"mine"},
        "kind=delete": {"changed"},
        "q=QUEUED": {"queued"},
        "q=space": {"mine"},
        f"bank={bank.pk}&state=done": {"mine"},
        "bank=x&state=nonsense&who=them": {"attention", "changed", "queued", "mine"},
    }.items():
        page = text_of(client.get(f"/log/?{query}"))
        found = {name for name in ("attention", "changed", "queued", "mine") if f'title="{name}.md"' in page}
        assert found == expected, query
        assert f"{len(expected)} of {len(expected)} rows" in page, query


def test_pages_meet_every_row_once(bank: Bank, people: People, as_user) -> None:
    moment = timezone.now()
    for number in range(120):
        make_write(bank, document_id=f"doc-{number:03}", occurred_at=moment - timedelta(days=number // 50))
    client, url, met = as_user(people.reviewer), "/log/?kind=edit", []
    while url:
        page = text_of(client.get(url))
        met += [title for n in range(120) if f'title="{(title := f"doc-{n:03}")}"' in page]
        url = next((f"/log/{link}" for link in links(page) if "page=a" in link), "")
    assert len(met) == len(set(met)) == 120


def test_a_row_shows_before_and_after(bank: Bank, people: People, as_user) -> None:
    write = make_write(
        bank,
        before=Blob.objects.store("up to 5 times"),
        request=Blob.objects.store("up to 8 times"),
        state="attention",
        error_class="ServerFault",
        error_status=500,
        error_text="no space left",
        outcome={"operation": "op-1"},
    )
    page = text_of(as_user(people.viewer).get(f"/log/{write.pk}/"))
    for words in ("<del>5</del>", "<ins>8</ins>", "no space left", "status 500", "op-1"):
        assert words in page
    assert "/retry/" not in page
    assert "/retry/" in text_of(as_user(people.reviewer).get(f"/log/{write.pk}/"))


def test_an_erased_text_is_gone_and_says_so(bank: Bank, people: People, as_user) -> None:
    blob = Blob.objects.store("secret text")
    write = make_write(bank, kind="delete", before=blob)
    Blob.objects.update(data=b"", erased=timezone.now())
    page = text_of(as_user(people.reviewer).get(f"/log/{write.pk}/"))
    assert "Erased." in page
    assert blob.sha256 in page
    assert "/put-back/" not in page


@pytest.mark.parametrize(("act", "state"), [("retry", "retrying"), ("discard", "cancelled")])
def test_what_needs_a_person_gets_one(act: str, state: str, bank: Bank, people: People, as_user) -> None:
    write = make_write(bank, state="attention")
    url = f"/log/{write.pk}/{act}/"
    assert as_user(people.stranger).post(url).status_code == 404
    assert as_user(people.viewer).post(url).status_code == 403
    assert as_user(people.reviewer).get(url).status_code == 405
    write.refresh_from_db()
    assert write.state == "attention"
    answer = as_user(people.reviewer).post(url, {"next": "/log/?state=attention"})
    assert (answer.status_code, answer["Location"]) == (303, "/log/?state=attention")
    write.refresh_from_db()
    assert write.state == state
    again = as_user(people.reviewer).post(url, follow=True)
    assert "Nothing was changed." in text_of(again)


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "", "\\\\evil"])
def test_nobody_is_sent_elsewhere(back: str, bank: Bank, people: People, as_user) -> None:
    write = make_write(bank, state="attention")
    answer = as_user(people.reviewer).post(f"/log/{write.pk}/discard/", {"next": back})
    assert answer["Location"] == f"/log/{write.pk}/"


def test_a_stranger_learns_nothing(bank: Bank, people: People, as_user) -> None:
    write = make_write(bank, document_id="secret.md")
    client = as_user(people.stranger)
    assert "secret.md" not in text_of(client.get("/log/"))
    assert client.get(f"/log/{write.pk}/").status_code == 404
    assert client.get("/log/999999999999999999999/").status_code == 404


def test_the_number_of_queries_does_not_grow_and_no_text_is_read(bank: Bank, people: People, as_user) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client, counts = as_user(people.reviewer), []
    for wanted in (3, 40):
        while Write.objects.count() < wanted:
            make_write(bank, state="attention", before=Blob.objects.store("text"))
        with CaptureQueriesContext(connection) as queries:
            client.get("/log/")
        counts.append(len(queries))
        assert not [q for q in queries if "banks_blob" in q["sql"]]
    assert counts[0] == counts[1] <= 17


@pytest.mark.parametrize("document_id", NASTY_IDS)
def test_foreign_values_stay_values(document_id: str, bank: Bank, people: People, as_user) -> None:
    write = make_write(
        bank,
        document_id=document_id,
        state="attention",
        kind=XSS[:30],
        actor_name=XSS,
        error_text=XSS,
        error_class=XSS[:50],
        outcome={XSS: XSS},
        params={XSS: [XSS]},
        before=Blob.objects.store(XSS),
        request=Blob.objects.store(XSS + "!"),
    )
    client = as_user(people.reviewer)
    for path in ("/log/?q=%3Cscript%3E&kind=%22%3E", "/log/", f"/log/{write.pk}/"):
        page = text_of(client.get(path))
        assert_harmless(page)
        assert all(link.startswith(("/", "#", "?")) and ".." not in link.partition("?")[0] for link in links(page))


def test_a_long_text_and_a_long_value_are_cut_and_say_so(bank, people, as_user) -> None:
    text = "A" * 12_000 + "m" * 50_000 + "Z" * 4_000
    write = Write.objects.create(
        kind="approve",
        bank=bank,
        via=Write.Via.WEB,
        state=Write.State.DONE,
        before=Blob.objects.store(text),
        outcome={"server_says": "x" * 900},
    )
    page = as_user(people.viewer).get(f"/log/{write.pk}/").content.decode()
    assert "50,000 bytes are not shown." in page
    assert "Show all 66,000 characters" in page
    assert "400 bytes are not shown. " in page.replace("</b>", "")
    assert "mmm" not in page
    whole = as_user(people.viewer).get(f"/log/{write.pk}/?full=1").content.decode()
    assert text in whole
