"""Texts, numbers and seeds that somebody made to break what reads them."""

import json

import pytest

from banks import connections, jobs
from banks.blocks.lengths import within
from banks.hindsight import Hit
from banks.hindsight.recall import Trace
from banks.markdown import blocks_of
from banks.mental import trials
from banks.models import Bank, Job, Server, Write
from banks.reading import Unread, reading
from banks.recall import opening
from banks.secrets import find
from banks.seeds import NotASeed, checked, library
from banks.seeds import job as seeding
from banks.seeds.job import Asked
from tests.banks.admin_pages import SignIn, url
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.reviews.pages import text_of

MANY = 50_000  # whoever tries each division of so many blanks is at it for hours
GOOD = {"id": "glossary", "name": "Glossary", "source_query": "Which words?", "scopes": ["global"]}
HALF = "\ud800"


def test_blanks_behind_a_sign_cost_no_more_than_other_text() -> None:
    text = f"a <{' ' * MANY}b </{' ' * MANY}block>"
    assert within("block", text) == f"a <{' ' * MANY}b &lt;/{' ' * MANY}block>"
    assert within("block", "<block> < / BLOCK> <blocks> <//block>") == "&lt;block> &lt; / BLOCK> <blocks> <//block>"


def test_blanks_in_a_heading_cost_no_more_than_other_text() -> None:
    (block,) = blocks_of(f"## a{' ' * MANY}b{' #' * 3} ##")
    assert (block.kind, block.level) == ("heading", 2)
    assert block.lines[0][0].segments[0].text == f"a{' ' * MANY}b # # #"


def test_a_long_word_costs_no_more_to_look_through_for_secrets_than_other_text() -> None:
    assert find("a_" * MANY) == []
    assert find("a" * MANY) == []


def test_secrets_are_masked_in_a_text_with_headings_and_lists() -> None:
    page = blocks_of("# Ways in\n\n- DB_PASSWORD=kestrel-wobbly-31\n")
    said = "".join(piece.text for block in page for line in block.lines for span in line for piece in span.segments)
    assert "DB_PASSWORD=" in said
    assert "kestrel" not in said


@pytest.mark.parametrize("value", [10**400, -(10**400), True, "1", None])
def test_what_is_no_number_for_us_is_no_score_and_no_time(value: object) -> None:
    hit = Hit.parse({"id": "1", "text": "Ann", "type": "world", "scores": {"final": value, "semantic": 0.5}})
    assert hit.scores == {"semantic": 0.5}
    trace = Trace.parse({"trace": {"summary": {"total_duration_seconds": value}}})
    assert trace is not None
    assert trace.seconds == 0.0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": f"Words{HALF}"}, "name"),
        ({"source_query": f"Which{HALF}?"}, "source_query"),
        ({"source_query": "\u200b\u202e"}, "source_query"),
        ({"extra_tags": [f"a{HALF}"]}, "extra_tags"),
        ({"extra_tags": ["a\nb"]}, "extra_tags"),
        ({"extra_tags": ["a\u2028b"]}, "extra_tags"),
        ({"extra_tags": ["evil\u202eeman"]}, "extra_tags"),
        ({"trigger": {HALF: 1}}, "trigger"),
        ({HALF: 1}, "\ufffd"),
        ({"x" * 100_000: 1}, "x" * 60),
    ],
)
def test_what_nobody_sees_or_stores_is_in_no_seed(change: dict[str, object], field: str) -> None:
    with pytest.raises(NotASeed) as caught:
        checked({**GOOD, **change})
    assert list(caught.value.problems) == [field]
    assert len(str(caught.value).encode()) < 1_000
    with pytest.raises(library.NotAFile):
        library.read(json.dumps([{**GOOD, **change}]).encode())


@pytest.mark.django_db
@pytest.mark.parametrize("model_id", ["", ".", "..", "a/b", "x\0y", "x" * 2_001])
def test_no_row_of_the_log_is_about_a_model_that_no_call_can_name(
    bank: Bank, people: People, as_user: SignIn, model_id: str
) -> None:
    answer = as_user(people.reviewer).post(url("bank-model-refresh", bank.pk), {"model": model_id})
    assert (answer.status_code, "No call can name this model." in text_of(answer)) == (422, True)
    assert not Write.objects.exists()


@pytest.mark.django_db
def test_a_path_that_is_no_text_is_a_project_all_the_same(bank: Bank, people: People) -> None:
    asked = Asked([bank.pk], "per-project-tagged", "/srv/shop\0\udcff")
    job = seeding.preview(user=people.owner, asked=asked)
    assert Job.objects.get(pk=job.pk).params["project"] == "/srv/shop?"


@pytest.mark.django_db
def test_a_key_that_nobody_opens_any_more_is_said(bank: Bank) -> None:
    Server.objects.filter(pk=bank.server_id).update(api_key_encrypted="stored long ago")
    bank = Bank.objects.select_related("server").get(pk=bank.pk)
    with pytest.raises(Unread) as caught, reading(bank):
        pass
    assert "The stored key cannot be read" in caught.value.sentence


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("change", "said"),
    [({"health": Server.Health.REFUSED}, opening.NOT_ASKED), ({}, opening.NO_BANK)],
    ids=["a paused server", "a bank that is gone"],
)
def test_a_dry_run_looks_first_whether_it_may_ask(
    bank: Bank, line: LyingTransport, people: People, change: dict[str, str], said: str
) -> None:
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    line.calls.clear()
    Server.objects.filter(pk=bank.server_id).update(**change)
    job = trials.start(user=people.reviewer, bank=bank, model_id="m1")
    assert jobs.run(job.pk) == "failed"
    assert Job.objects.get(pk=job.pk).error == said
    assert not any("dry-run" in str(call) for call in line.calls)
