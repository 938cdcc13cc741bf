"""Retaining by hand: the form takes everything, says what it becomes, and loses nothing that was typed."""

import json
import uuid
from typing import Any

import pytest

from banks.models import Bank, RetainItem, Role, Write
from tests import factories
from tests.banks.admin_pages import SignIn
from tests.banks.conftest import LyingTransport
from tests.banks.retain_form import NEW, SEND, filled, preview, typed
from tests.banks.retaining import drain
from tests.banks.retaining import text_of as text_in_bank
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)

EVERYTHING = {
    "content": "Ann moved to Lyon.\r\nShe likes it.",
    "document_id": "notes/ann.md",
    "update_mode": "append",
    "context": "a talk",
    "tags": "user:ann\r\n\r\n topic:home ",
    "timestamp": "2026-03-16T10:00:00+01:00",
    "metadata": "source: a talk: with Ann\r\nnothing\r\nempty:",
    "entities": "Ann Weber | PERSON\r\nLyon",
    "resolve_entities": "false",
    "observation_scopes": "custom",
    "custom_scopes": '[["user:ann"], []]',
    "strategy": "careful",
}


def test_everything_that_is_typed_is_stored(bank: Bank, people: People, as_user: SignIn) -> None:
    operation = str(uuid.uuid4())
    more = {"session_id": "s-1", "document_tags": "all", "operation_id": operation, "mode": "per-project-tagged"}
    asked = filled(bank, EVERYTHING, **more, project="/home/ann/API")
    answer = as_user(people.reviewer).post(SEND, asked)
    assert answer.status_code == 303
    row = RetainItem.objects.get()
    assert row.content.text == "Ann moved to Lyon.\nShe likes it."
    assert (row.document_id, row.named, row.update_mode) == ("notes/ann.md", True, "append")
    assert (row.context, row.strategy) == ("a talk", "careful")
    assert row.tags == ["user:ann", "topic:home", "project:api"]
    assert row.timestamp == "2026-03-16T10:00:00+01:00"
    assert row.metadata == {"source": "a talk: with Ann", "empty": "", "session_id": "s-1"}
    assert row.entities == [{"text": "Ann Weber", "type": "PERSON"}, {"text": "Lyon"}]
    assert (row.resolve_entities, row.observation_scopes) == (False, [["user:ann"], []])
    assert (row.document_tags, str(row.operation_id), row.via) == (["all"], operation, Write.Via.WEB)


def test_what_is_empty_is_not_sent(bank: Bank, people: People, as_user: SignIn) -> None:
    bank.retain_context = "pair programming"
    bank.save()
    asked = filled(bank, "Ann came.", {"content": "Ben came.", "no_context": "on"})
    as_user(people.reviewer).post(SEND, asked)
    first, second = RetainItem.objects.order_by("pk")
    assert (first.context, second.context) == ("pair programming", "")
    assert (first.metadata, first.entities, first.tags, first.observation_scopes) == ({}, None, [], None)
    assert (first.operation_id, first.named, first.timestamp) == (None, False, first.queued_at.isoformat())


def test_json_is_taken_where_lines_cannot_say_it(bank: Bank, people: People, as_user: SignIn) -> None:
    metadata = {"a:b": "1", "lines": "one\ntwo", "gone": None}
    entities = [{"text": "A | B", "type": None}]
    given = {"content": "x", "metadata": json.dumps(metadata), "entities": json.dumps(entities)}
    as_user(people.reviewer).post(SEND, filled(bank, given))
    row = RetainItem.objects.get()
    assert row.metadata == {"a:b": "1", "lines": "one\ntwo"}
    assert row.entities == [{"text": "A | B"}]


@pytest.mark.parametrize(
    ("wrong", "where", "said"),
    [
        ({"content": " "}, "Memory 2, Content", "It is empty"),
        ({"update_mode": "append"}, "Memory 2, Update", "document_id of what is appended to"),
        ({"timestamp": "yesterday"}, "Memory 2, When", "Not a time"),
        ({"metadata": "{"}, "Memory 2, Metadata", "This is no JSON at line 1, character 2"),
        ({"metadata": "a: 1\na: 2"}, "Memory 2, Metadata", "a is there twice"),
        ({"metadata": '{"a": 1}'}, "Memory 2, Metadata", "metadata.a: A text of at most"),
        ({"tags": "x" * 1_001}, "Memory 2, Tags", "tags[0]: A text of 1 to 1,000"),
        ({"entities": '[{"name": "Ann"}]'}, "Memory 2, Entities", "entities[0]"),
        ({"observation_scopes": "custom"}, "Memory 2, Custom scopes", "Write the sets of tags"),
        (
            {"observation_scopes": "custom", "custom_scopes": '["a"]'},
            "Memory 2, Custom scopes",
            "observation_scopes[0]: A list of at most",
        ),
    ],
)
def test_an_error_names_the_memory_and_the_field_and_loses_nothing(
    bank: Bank, people: People, as_user: SignIn, wrong: dict[str, str], where: str, said: str
) -> None:
    asked = filled(bank, "Ann came.", {"content": "Ben came.", "document_id": "", "strategy": "kept", **wrong})
    answer = as_user(people.reviewer).post(SEND, asked)
    assert answer.status_code == 422
    page = text_of(answer)
    assert f"{where}</a>: " in page
    assert said.replace('"', "&quot;") in page
    assert "Ann came.</textarea>" in page
    assert typed(page)["m1-strategy"] == "kept"
    for name, value in wrong.items():
        if name in typed(page):
            assert typed(page)[name] == value
    assert not RetainItem.objects.exists()


def test_of_the_request_too(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.reviewer)
    asked = filled(bank, "Ann came.", operation_id="x", document_tags="y" * 1_001, mode="per-project", project="api")
    page = text_of(client.post(SEND, asked))
    assert "Operation id</a>: A UUID, or nothing." in page
    assert "Tags of all</a>: " in page
    answer = client.post(SEND, filled(bank, "Ann came.", mode="per-project", project="api"))
    assert answer.status_code == 422
    assert "Project</a>: There is no bank checkout-service-api on this server" in text_of(answer)
    assert "Ann came.</textarea>" in text_of(answer)


def test_what_is_too_large_is_413(bank: Bank, people: People, as_user: SignIn, settings: Any) -> None:
    settings.RETAIN_ITEM_BYTES = 5
    answer = as_user(people.reviewer).post(SEND, filled(bank, "Ann came."))
    assert answer.status_code == 413
    assert "Memory 1, Content</a>: 9 bytes; at most 5 in one item." in text_of(answer)


def test_a_closed_bank_refuses_and_the_text_stays(bank: Bank, people: People, as_user: SignIn) -> None:
    Bank.objects.filter(pk=bank.pk).update(bank_id="org/user")
    answer = as_user(people.reviewer).post(SEND, filled(bank, "Ann came."))
    assert answer.status_code == 409
    assert "No server can address this bank" in text_of(answer)
    assert "Ann came.</textarea>" in text_of(answer)


def test_memories_are_added_and_taken_out_and_nothing_is_lost(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.reviewer)
    asked = filled(bank, "Ann came.", {"content": "Ben came.", "strategy": "careful", "metadata": "{"})
    page = text_of(client.post(NEW, {**asked, "do": "add"}))
    assert page.count("<legend>") == 3
    assert "Nothing was stored" not in page  # it is not checked before it is meant to be sent
    page = text_of(client.post(NEW, {**asked, "do": "remove-0"}))
    assert page.count("<legend>") == 1
    assert "Ben came.</textarea>" in page
    assert typed(page)["m0-strategy"] == "careful"
    assert "Ann came." not in page
    many = filled(bank, *["x"] * 30)
    assert text_of(client.post(NEW, {**many, "do": "add"})).count("<legend>") == 30


@pytest.mark.parametrize(("who", "status"), [("viewer", 403), ("stranger", 404), ("operator", 303)])
def test_who_may_not_write_stores_nothing(bank: Bank, people: People, as_user: SignIn, who: str, status: int) -> None:
    assert as_user(getattr(people, who)).post(SEND, filled(bank, "x")).status_code == status
    assert RetainItem.objects.exists() is (status == 303)


def test_a_persons_bank_takes_what_names_it_and_nothing_of_a_project(
    bank: Bank, people: People, as_user: SignIn
) -> None:
    own = factories.make_bank("mira", server=bank.server, kind=Bank.Kind.PERSON, person=people.reviewer)
    factories.grant(people.reviewer, own, Role.REVIEWER)
    client = as_user(people.reviewer)
    page = text_of(client.post(SEND, filled(own, "I like tea.")))
    assert "This is a person&#x27;s bank. Only a request that says so" in page
    assert "I like tea.</textarea>" in page
    answer = client.post(SEND, filled(own, "I like tea.", user_bank="on", mode="per-project-tagged", project="api"))
    assert "Projects</a>: This is a person&#x27;s bank" in text_of(answer)
    answer = client.post(SEND, filled(own, {"content": "I like tea.", "tags": "project:api"}, user_bank="on"))
    assert "Memory 1, Tags</a>: " in text_of(answer)
    assert not RetainItem.objects.exists()
    assert client.post(SEND, filled(own, "I like tea.", user_bank="on")).status_code == 303


def test_a_bank_that_holds_says_so_before_and_after(bank: Bank, people: People, as_user: SignIn) -> None:
    Bank.objects.filter(pk=bank.pk).update(hold=True)
    client = as_user(people.reviewer)
    assert "This bank holds." in preview(client, filled(bank, "Ann came."))
    page = text_of(client.post(SEND, filled(bank, "Ann came.", wait="wait"), follow=True))
    assert "<b>1</b> held for review" in page
    assert "load delay:" not in page
    assert RetainItem.objects.get().state == "held"


def test_hostile_text_stays_text(bank: Bank, people: People, as_user: SignIn, line: LyingTransport) -> None:
    client = as_user(people.reviewer)
    given = dict.fromkeys(("content", "document_id", "tags", "context", "strategy", "entities"), XSS)
    asked = filled(bank, given, project=XSS, session_id=XSS, mode="per-project-tagged", document_tags=XSS)
    assert_harmless(text_of(client.post(NEW, {**asked, "do": "preview"})))
    sent = client.post(SEND, asked)
    assert_harmless(text_of(client.get(sent["Location"])))
    drain(bank)
    assert_harmless(text_of(client.get(sent["Location"])))
    assert text_in_bank(bank, XSS) == XSS
