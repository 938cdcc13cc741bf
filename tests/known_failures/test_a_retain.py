"""Retains: what was lost, doubled or cut elsewhere."""

import uuid

import httpx
import pytest

from banks import connections, writes
from banks.models import Bank, RetainItem, Write
from banks.replay import retain_item
from banks.writes import worker
from tests.banks.conftest import LyingTransport
from tests.banks.retaining import Keeping, drain, flush_now, in_bank, put, sent, states, text_of, work_off
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def wire(bank: Bank, line: LyingTransport) -> Keeping:
    keeping = connections.TRANSPORTS[bank.server.base_url] = Keeping(line)
    return keeping


def test_row_001_every_attempt_has_the_id_that_was_stored_before_the_first(
    bank: Bank, people: People, wire: Keeping, line: LyingTransport
) -> None:
    put(people.reviewer, bank, "Ann came.")
    flush_now(bank)
    (write,) = sent(bank)
    minted = str(write.operation_id)
    line.cut_before += ["POST", "POST"]
    work_off(bank)
    assert [body["operation_id"] for body in wire.bodies] == [minted] * 3
    assert (len(sent(bank)), states(bank)) == (1, ["done"])


def test_row_002_a_time_out_is_unknown_until_it_was_read_back(bank: Bank, people: People, line: LyingTransport) -> None:
    put(people.reviewer, bank, "Ann came.")
    flush_now(bank)
    line.cut_after.append("POST")
    (write,) = sent(bank)
    assert worker.run(write.pk) == "unknown"
    assert states(bank) == ["sent"]
    line.calls.clear()
    work_off(bank)
    assert (line.sent("POST"), states(bank)) == (0, ["done"])


def test_row_004_every_retain_is_in_the_background(bank: Bank, people: People, wire: Keeping) -> None:
    put(people.reviewer, bank, "[[SLOW:30]] Ann came.")
    flush_now(bank)
    (write,) = sent(bank)
    assert worker.run(write.pk) == "accepted"
    assert [body["async"] for body in wire.bodies] == [True]
    assert states(bank) == ["sent"]  # being worked on, not lost


def test_row_012_every_item_that_is_sent_names_its_document(bank: Bank, people: People, wire: Keeping) -> None:
    put(people.reviewer, bank, {"content": "Ann.", "document_id": "a"}, "Ben.", {"content": "Carl.", "document_id": ""})
    drain(bank)
    names = [item["document_id"] for body in wire.bodies for item in body["items"]]
    assert (len(set(names)), all(names)) == (3, True)
    assert set(names) <= set(in_bank(bank))


def test_row_013_what_the_server_refuses_is_not_tried_again(bank: Bank, people: People, line: LyingTransport) -> None:
    class Refusing(httpx.BaseTransport):
        posts = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.method != "POST":
                return line.handle_request(request)
            self.posts += 1
            return httpx.Response(409, json={"detail": "duplicate key"})

    refusing = connections.TRANSPORTS[bank.server.base_url] = Refusing()
    put(people.reviewer, bank, "Ann came.")
    work_off(bank)
    assert (refusing.posts, states(bank)) == (1, ["attention"])
    assert "duplicate key" in sent(bank)[0].error_text


def test_row_014_an_edit_sends_the_whole_text_and_replaces(bank: Bank) -> None:
    item = retain_item(document_id="d", text="All of it.", params={"update_mode": "append"})
    assert (item.as_json()["update_mode"], item.as_json()["content"]) == ("replace", "All of it.")


def test_row_017_a_long_text_is_stored_and_sent_whole(bank: Bank, people: People, wire: Keeping) -> None:
    text = "Ann keeps the ledger of the whole house, page by page. " * 15_000
    (item,) = put(people.reviewer, bank, text)
    assert item.size == len(text)
    drain(bank)
    assert (states(bank), text_of(bank, item.document_id) == text) == (["done"], True)


@pytest.mark.parametrize("odd", ["<|endoftext|> Ann came.", "half \ud83d Ann came.", "nul \0 Ann came."])
def test_row_018_an_odd_text_sinks_no_other(bank: Bank, people: People, wire: Keeping, odd: str) -> None:
    one, other = put(people.reviewer, bank, odd, "Ben came.")
    drain(bank)
    assert states(bank) == ["done", "done"]
    assert text_of(bank, one.document_id) == odd.replace("\ud83d", "\ufffd").replace("\0", "\ufffd")
    assert text_of(bank, other.document_id) == "Ben came."


def test_row_019_what_arrived_of_a_batch_is_not_sent_again(bank: Bank, people: People, wire: Keeping) -> None:
    key = uuid.uuid4().hex[:6]
    texts = [
        "Ayşe Lyon'a taşındı.",
        "Żaneta mieszka w Łodzi.",
        f"[[FAILN:4:{key}]] Анна живёт в Лионе.",
        "Señor Ñ vino.",
    ]
    put(people.reviewer, bank, *texts)
    work_off(bank)
    (first,) = sent(bank)
    arrived = set(in_bank(bank))
    assert writes.retry(write=first, actor=people.reviewer)
    work_off(bank)
    again = [item["document_id"] for item in wire.bodies[-1]["items"]]
    assert not set(again) & arrived
    assert states(bank) == ["done"] * 4
    assert Write.objects.filter(kind="retain", state="done").count() == 1
    assert RetainItem.objects.filter(write=first).count() == 2
