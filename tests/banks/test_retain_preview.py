"""The preview of a request is what is then sent: by the same functions, compared with what arrives at a server."""

import json
import re
from html import unescape
from typing import Any

import pytest

from banks import connections
from banks.demo import DemoTransport
from banks.models import Bank, Job, RetainItem, RetainLabel
from banks.retain import flush, observations
from banks.retain.preview import MADE_ID, QUEUED_TIME
from tests.banks.admin_pages import SignIn
from tests.banks.conftest import LyingTransport
from tests.banks.retain_form import SEND, filled, preview
from tests.banks.retaining import Keeping, drain, put
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


def shown(page: str) -> list[dict[str, Any]]:
    """The requests of a preview."""
    return [json.loads(unescape(body)) for body in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)]


def comparable(body: dict[str, Any]) -> dict[str, Any]:
    """Without what is made only when it is queued or sent."""
    items = [item if item["timestamp"] == "unset" else item | {"timestamp": ""} for item in body["items"]]
    return body | {"items": items, "operation_id": ""}


@pytest.fixture
def keeping(bank: Bank, line: LyingTransport) -> Keeping:
    found = Keeping(DemoTransport(line.server))
    connections.TRANSPORTS[bank.server.base_url] = found
    return found


def test_what_is_shown_is_what_is_sent(bank: Bank, people: People, as_user: SignIn, keeping: Keeping) -> None:
    client = as_user(people.reviewer)
    asked = filled(
        bank,
        {"content": "Ann came.", "tags": "a\nb", "metadata": "k: v", "observation_scopes": "per_tag"},
        {"content": "Ben came.", "strategy": "careful"},
        {"content": "Carl came.", "document_id": "d", "timestamp": "unset"},
        {"content": "Carl went.", "document_id": "d"},
        {"content": "More.", "document_id": "e", "update_mode": "append"},
        "Dora came.",
        document_tags="all",
        session_id="s-1",
    )
    told = shown(preview(client, asked))
    assert not RetainItem.objects.exists()
    assert [[item["content"] for item in body["items"]] for body in told] == [
        ["Ann came.", "Carl came.", "Dora came."],
        ["Ben came."],
        ["More."],
        ["Carl went."],
    ]
    client.post(SEND, asked)
    drain(bank)
    assert [comparable(body) for body in keeping.bodies] == [comparable(body) for body in told]


def test_what_is_made_later_is_not_invented(bank: Bank, people: People, as_user: SignIn) -> None:
    (body,) = shown(preview(as_user(people.reviewer), filled(bank, "Ann came.")))
    assert (body["operation_id"], body["items"][0]["timestamp"]) == (MADE_ID, QUEUED_TIME)


def test_a_long_text_is_shown_by_its_beginning(bank: Bank, people: People, as_user: SignIn) -> None:
    page = preview(as_user(people.reviewer), filled(bank, "Ann came. " * 1_000))
    assert "1 text is shown by the beginning alone, and sent whole." in page
    assert "1 memory, 10,000 bytes" in page
    assert len(shown(page)[0]["items"][0]["content"]) < 700


def test_large_texts_are_split_as_the_flush_does(
    bank: Bank, people: People, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush, "MOST_BYTES", 20)
    assert len(shown(preview(as_user(people.reviewer), filled(bank, "x" * 12, "y" * 12, "z" * 8)))) == 2


def test_what_is_wrong_is_said_while_it_is_typed(bank: Bank, people: People, as_user: SignIn) -> None:
    page = preview(as_user(people.reviewer), filled(bank, "Ann came.", ""))
    assert "Not ready yet." in page
    assert "Memory 2, Content: It is empty" in page


def test_it_says_who_else_has_the_label_and_remembers_nothing(bank: Bank, people: People, as_user: SignIn) -> None:
    more = {"mode": "per-project-tagged"}
    put(people.reviewer, bank, "x", project="/home/ann/api", **more)
    page = preview(as_user(people.reviewer), filled(bank, "Ann came.", project="/home/ben/api", **more))
    assert "is also the label of /home/ann/api" in page
    assert "1 memory waits for this bank already" in page
    assert (RetainLabel.objects.count(), Job.objects.count()) == (1, 0)


TAGS = ["student:alice", "teacher:bob", "session-id:s1"]


@pytest.mark.parametrize(
    ("value", "tags", "scopes"),
    [
        (None, TAGS, [TAGS]),
        ("combined", TAGS, [TAGS]),
        ("combined", [], [[]]),
        ("shared", TAGS, [[]]),
        ("per_tag", TAGS, [[tag] for tag in TAGS]),
        ("per_tag", [], [[]]),
        ("all_combinations", ["a", "b"], [["a"], ["b"], ["a", "b"]]),
        ([], TAGS, [TAGS]),
        ([[]], TAGS, [[]]),
        ([["a"], ["b", "c"]], TAGS, [["a"], ["b", "c"]]),
        ([["student:*", "x"], ["room:*"]], TAGS, [["student:alice", "x"]]),
        ([["room:*"]], TAGS, [TAGS]),
    ],
)
def test_the_scopes_that_will_be_built(value: Any, tags: list[str], scopes: list[list[str]]) -> None:
    assert observations.built(value, tags).scopes == scopes


def test_many_combinations_are_counted_and_not_listed() -> None:
    found = observations.built("all_combinations", [str(number) for number in range(128)])
    assert (found.count, len(found.scopes)) == (2**128 - 1, observations.SHOWN)


def test_a_page_does_not_wait_for_thousands_of_patterns(bank: Bank, people: People, as_user: SignIn) -> None:
    many = [[f"*{number}*{place}*" for number in range(64)] for place in range(64)]
    memory = {"content": "Ann came.", "tags": "a", "observation_scopes": "custom", "custom_scopes": json.dumps(many)}
    page = preview(as_user(people.reviewer), filled(bank, memory))
    assert observations.TOO_MANY in unescape(page)
    assert "is worked into" not in page


@pytest.mark.parametrize(
    ("value", "said"), [("[]", observations.EMPTY_LIST), ("[[]]", observations.ONE_EMPTY)], ids=["none", "empty"]
)
def test_the_two_empty_lists_are_told_apart(bank: Bank, people: People, as_user: SignIn, value: str, said: str) -> None:
    given = {"content": "x", "tags": "a", "observation_scopes": "custom", "custom_scopes": value}
    page = preview(as_user(people.reviewer), filled(bank, given))
    assert said in page
    assert shown(page)[0]["items"][0]["observation_scopes"] == json.loads(value)
