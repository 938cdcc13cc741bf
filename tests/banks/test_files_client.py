"""Files on the wire, and what the demo server makes of them as a server with a converter does."""

import io
import json
from collections.abc import Iterator
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.demo import DemoServer, DemoTransport, Pace
from banks.hindsight import BadAnswer, HindsightClient, NotFound, Operation, RetainFile, safe_name
from banks.hindsight.files import LONGEST_NAME
from tests.banks.recorded import client_of


@pytest.fixture
def client() -> Iterator[HindsightClient]:
    with HindsightClient("http://demo", transport=DemoTransport(DemoServer(pace=Pace.instant()))) as client:
        client.put_bank("b")
        yield client


def file(document_id: str, content: bytes = b"Alice works at Acme.", **more: Any) -> RetainFile:
    return RetainFile(more.pop("name", f"{document_id}.txt"), io.BytesIO(content), document_id, **more)


def operations(client: HindsightClient, document_id: str) -> dict[str, Operation]:
    """By type; found again as after a lost answer, by the document alone."""
    found = client.list_operations("b").items
    return {operation.type: operation for operation in found if operation.document_id == document_id}


def test_files_and_what_is_said_about_them_are_sent_in_their_order() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"operation_ids": ["one", "two"]})

    first = file("a", tags=["t"], context="c", metadata={"k": "v"}, timestamp="unset", parsers=["x", "y"])
    assert client_of(answer).retain_files("b", [first, file("b", b"\0\xff", name="../\u202eb\n.pdf")]) == ["one", "two"]
    (request,) = seen
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    parts = list(BytesParser(policy=HTTP).parsebytes(head + request.content).iter_parts())
    asked = json.loads(parts[0].get_payload(decode=True))
    assert asked == {
        "files_metadata": [
            {
                "document_id": "a",
                "context": "c",
                "metadata": {"k": "v"},
                "tags": ["t"],
                "timestamp": "unset",
                "parser": ["x", "y"],
            },
            {"document_id": "b"},
        ]
    }
    assert [part.get_filename() for part in parts[1:]] == ["a.txt", "b.pdf"]
    assert parts[2].get_payload(decode=True) == b"\0\xff"


def test_a_file_is_read_in_pieces() -> None:
    class Counting(io.BytesIO):
        largest = 0

        def read(self, size: int | None = -1) -> bytes:
            assert size is not None
            assert size > 0
            self.largest = max(self.largest, size)
            return super().read(size)

    stream = Counting(b"x" * 3_000_000)
    answer = httpx.Response(200, json={"operation_ids": ["one"]})
    client_of(lambda request: answer).retain_files("b", [RetainFile("a.txt", stream, "a")])
    assert 0 < stream.largest <= 1024 * 1024


@pytest.mark.parametrize("given_", [None, [], ["one", "two"], [1], "one"])
def test_an_answer_without_an_operation_for_each_file_is_none(given_: Any) -> None:
    with pytest.raises(BadAnswer) as caught:
        client_of(lambda request: httpx.Response(200, json={"operation_ids": given_})).retain_files("b", [file("a")])
    assert caught.value.outcome_unknown


@pytest.mark.parametrize("names", [[], ["a", "a"], [str(number) for number in range(11)]])
def test_too_many_files_and_two_of_one_document_are_not_sent(names: list[str]) -> None:
    with pytest.raises(ValueError, match="each document once"):
        client_of(lambda request: pytest.fail("sent")).retain_files("b", [file(name) for name in names])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\notes.md", "notes.md"),
        ("\u202efdp.exe", "fdp.exe"),
        ("a\r\nb\0.txt", "ab.txt"),
        ("отчёт.docx", "отчёт.docx"),
        ("", "file"),
        ("..", "file"),
        ("dir/", "file"),
        ("x" * 300 + ".pdf", "x" * 196 + ".pdf"),
    ],
)
def test_a_name_is_what_can_be_seen_of_its_last_part(name: str, shown: str) -> None:
    assert safe_name(name) == shown


@given(st.text())
def test_no_name_is_a_path_or_hides(name: str) -> None:
    shown = safe_name(name)
    assert shown
    assert len(shown) <= LONGEST_NAME
    assert not set(shown) & set("/\\\r\n\0\u202e\u200b")


def test_a_file_is_converted_and_then_retained(client: HindsightClient) -> None:
    (operation_id,) = client.retain_files("b", [file("d", tags=["t"], metadata={"k": "v"}, context="c")])
    assert client.get_operation("b", operation_id).status == "completed"
    found = operations(client, "d")
    assert (found["file_convert_retain"].id, found["retain"].status) == (operation_id, "completed")
    document = client.get_document("b", "d")
    assert (document.text, document.tags, document.metadata) == ("Alice works at Acme.", ["t"], {"k": "v"})


def test_a_file_that_cannot_be_converted_fails_alone_and_at_once(client: HindsightClient) -> None:
    client.retain_files("b", [file("good"), file("picture", b"\x89PNG\xff", name="p.png"), file("empty", b"")])
    failed = operations(client, "picture")["file_convert_retain"]
    assert (failed.status, failed.retry_count) == ("failed", 0)
    assert "Failed to parse file 'p.png'" in failed.error
    assert "No content extracted" in operations(client, "empty")["file_convert_retain"].error
    assert [row.id for row in client.list_documents("b").items] == ["good"]


def test_files_create_no_bank(client: HindsightClient) -> None:
    with pytest.raises(NotFound):
        client.retain_files("missing", [file("d")])
    assert not client.has_bank("missing")
