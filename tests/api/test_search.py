"""Search by a program: its own banks, words and their places, page by page."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from banks.models import Bank, Blob
from tests import factories
from tests.api.asking import Program, issue
from tests.banks.log_rows import make_row
from tests.conftest import People
from tests.reviews.retired import retired

pytestmark = pytest.mark.django_db


def test_the_part_with_the_words_and_where_they_stand(bank: Bank, program: Program) -> None:
    memory = factories.make_entry(bank, "notes/a.md", text="The harbour has moved.")
    retired(bank, 1, text="It is closed.", reason="no harbour there", document_id="notes/a.md")
    row = make_row(bank, after=Blob.objects.store("A harbour it was."))
    told = program.get("/search", q="HARB").json()
    assert told["found"] == {kind: {"number": 1, "more": False} for kind in ("memories", "facts", "log")}
    (hit,) = told["hits"]
    assert (hit["kind"], hit["id"], hit["review"], hit["state"]) == ("memories", memory.pk, memory.pk, "pending")
    assert (hit["text"], hit["marks"]) == ("The harbour has moved.", [[4, 11]])
    (hit,) = program.get("/search", q="harbour", kind="facts").json()["hits"]
    assert (hit["review"], hit["what"], hit["where"], hit["text"]) == (
        memory.pk,
        "retired",
        "reason",
        "no harbour there",
    )
    (hit,) = program.get("/search", q="harbour", kind="log").json()["hits"]
    assert (hit["id"], hit["what"], hit["where"], hit["bank"]) == (row.pk, "edit", "text after", bank.bank_id)


def test_only_the_tokens_banks_page_by_page(bank: Bank, people: People) -> None:
    other = factories.make_bank(server=bank.server)
    now = timezone.now()
    made = [
        factories.make_entry(bank, text="harbour", enqueued_at=now - timedelta(minutes=number)).pk
        for number in range(5)
    ]
    factories.make_entry(other, text="harbour")
    program = Program(issue(people.operator, banks=[bank]))
    found: list[int] = []
    cursor = ""
    while cursor is not None:
        page = program.get("/search", q="harbour", limit=2, cursor=cursor).json()
        found += [each["id"] for each in page["hits"]]
        cursor = page["next"]
    assert (found, page["found"]["memories"]["number"]) == (made, 5)
    assert len(program.get("/search", q="harbour", server=bank.server.name).json()["hits"]) == 5
    assert program.get("/search", q="harbour", bank=other.bank_id).status_code == 404


def test_what_is_asked_for_wrongly_is_refused(bank: Bank, program: Program) -> None:
    wrong: list[dict[str, Any]] = [{"kind": "banks"}, {"since": "x"}, {"until": "9999-12-31"}, {"cursor": "x"}]
    wrong += [{"q": "->"}, {"q": ""}, {"q": "a" * 201}, {"limit": 201}]
    for each in wrong:
        assert program.get("/search", **{"q": "harbour", **each}).status_code == 422, each
    assert program.get("/search").status_code == 422
    assert program.get("/search", q="harbour", bank="none").status_code == 404
    assert program.get("/search", q="harbour", server="none").status_code == 404
