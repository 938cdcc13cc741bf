"""Files through the door: stored before anything is sent, sent once, forgotten when it is known what they became."""

from datetime import timedelta
from pathlib import Path

import httpx
import pytest
import time_machine
from django.conf import LazySettings
from django.db import transaction
from django.utils import timezone

from banks import connections, kept_files, writes
from banks.demo import DemoServer, Pace
from banks.files import selectors
from banks.files.taking import FILE, forget_strays
from banks.hindsight import Operation
from banks.models import Bank, RetainFile, RetainItem, Write
from banks.retain import BankClosed, Refused
from reviews.models import ReviewEntry
from tests.banks.conftest import LyingTransport
from tests.banks.filing import TEXT, kept_of, send, upload
from tests.banks.retaining import drain, flush_now, in_bank, put, text_of
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


@pytest.fixture(autouse=True)
def folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "uploads"
    return tmp_path / "uploads"


def operations(bank: Bank) -> list[Operation]:
    with connections.client_for(bank.server) as client:
        return client.list_operations(bank.bank_id, type="file_convert_retain").items


def ended(write: Write) -> Write:
    drain(write.bank)
    write.refresh_from_db()
    return write


def word(write: Write) -> str:
    return selectors.state_of(write).word


def test_a_file_is_kept_sent_watched_and_forgotten(
    bank: Bank, people: People, line: LyingTransport, folder: Path
) -> None:
    about = [{"document_id": "notes", "tags": ["team"], "context": "a talk", "metadata": {"k": "v"}}]
    (write,) = send(people.reviewer, bank, about=about)
    assert (word(write), line.calls) == ("waiting", [])
    assert kept_files.opened(kept_of(write)).read() == TEXT
    ended(write)
    assert (write.state, write.outcome["facts"], word(write)) == ("done", 2, "in the bank")
    assert text_of(bank, "notes") == TEXT.decode()
    with connections.client_for(bank.server) as client:
        document = client.get_document(bank.bank_id, "notes")
    assert (document.tags, document.metadata) == (["team"], {"k": "v"})
    assert (list(folder.iterdir()), kept_of(write)) == ([], "")
    assert RetainFile.objects.get().sha256


def test_files_of_a_request_go_one_by_one_under_names_of_their_own(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    rows = send(people.reviewer, bank, upload("a.md"), upload("b.md"))
    assert rows[0].group == rows[1].group
    drain(bank)
    assert {each.document_id for each in rows} < in_bank(bank).keys()
    assert line.sent("POST") == 2
    assert [operation.filename or operation.document_id for operation in operations(bank)]


def test_a_lost_answer_is_settled_by_looking_and_nothing_is_sent_twice(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    (write,) = send(people.reviewer, bank)
    line.cut_after.append("POST")
    assert writes.run(write.pk) == "unknown"
    write.refresh_from_db()
    assert word(write) == "unknown"
    ended(write)
    assert (write.state, line.sent("POST"), len(operations(bank))) == ("done", 1, 1)


def test_what_never_arrived_is_sent_again_but_not_before_it_would_have_arrived(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    (write,) = send(people.reviewer, bank)

    def vanish() -> None:
        raise httpx.ReadTimeout("no answer")

    with time_machine.travel(timezone.now(), tick=False) as clock:
        line.before_call["POST"] = vanish
        assert writes.run(write.pk) == "unknown"
        clock.shift(timedelta(seconds=10))
        assert writes.run(write.pk) == "accepted"
        write.refresh_from_db()
        assert word(write) == "unknown"
        clock.shift(timedelta(seconds=90))
        assert writes.run(write.pk) == "retrying"
    ended(write)
    assert (write.state, line.sent("POST"), len(operations(bank))) == ("done", 1, 1)


def test_a_server_without_converters_says_so_for_each_file_and_keeps_them_here(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    line.server = DemoServer(None, pace=Pace.instant(), parsers=())
    with connections.client_for(bank.server) as client:
        client.put_bank(bank.bank_id)
    rows = send(people.reviewer, bank, upload("a.md"), upload("b.md"))
    for write in rows:
        ended(write)
        assert (write.state, word(write)) == ("attention", "refused")
        assert "has no converter" in write.error_text
        assert kept_files.opened(kept_of(write)).read() == TEXT
    line.server = DemoServer(None, pace=Pace.instant())
    with connections.client_for(bank.server) as client:
        client.put_bank(bank.bank_id)
    assert writes.retry(write=rows[0], actor=people.reviewer)
    assert ended(rows[0]).state == "done"


def test_one_that_cannot_be_converted_waits_for_a_person_and_the_others_arrive(
    bank: Bank, people: People, line: LyingTransport, folder: Path
) -> None:
    picture, notes = send(people.reviewer, bank, upload("p.png", b"\x89PNG\xff"), upload("n.md"))
    ended(notes)
    picture.refresh_from_db()
    assert (notes.state, picture.state, word(picture)) == ("done", "attention", "refused")
    assert "Failed to parse file 'p.png'" in picture.error_text
    assert writes.retry(write=picture, actor=people.reviewer)
    assert (ended(picture).state, len(operations(bank))) == ("attention", 3)
    assert writes.discard(write=picture, actor=people.reviewer)
    assert list(folder.iterdir()) == []


def test_a_retry_sends_nothing_while_what_was_begun_may_run(bank: Bank, people: People, line: LyingTransport) -> None:
    line.server = DemoServer(None, pace=Pace(pickup=3600, work=1))
    with connections.client_for(bank.server) as client:
        client.put_bank(bank.bank_id)
    (write,) = send(people.reviewer, bank)
    assert writes.run(write.pk) == "accepted"
    Write.objects.filter(pk=write.pk).update(state=State.ATTENTION, claimed_until=None)
    write.refresh_from_db()
    assert writes.retry(write=write, actor=people.reviewer)
    assert writes.run(write.pk) == "waits"
    write.refresh_from_db()
    assert (write.outcome["stage"], line.sent("POST")) == ("converting", 1)


def test_a_worker_that_dies_while_it_sends_sends_nothing_twice(
    bank: Bank, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    (write,) = send(people.reviewer, bank)
    line.before_call["POST"] = lambda: Write.objects.update(claim=99)  # what it finds out it cannot store
    assert writes.run(write.pk) == "lost the claim"
    Write.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    ended(write)
    assert (write.state, line.sent("POST")) == ("done", 1)


def test_bytes_that_are_gone_are_said_to_be_gone(bank: Bank, people: People, line: LyingTransport) -> None:
    (write,) = send(people.reviewer, bank)
    kept_files.remove(kept_of(write))
    assert ended(write).state == "attention"
    assert ("not in this machine's data folder" in write.error_text, line.sent("POST")) == (True, 0)


def test_no_bank_is_created_by_a_file(bank: Bank, people: People, line: LyingTransport) -> None:
    (write,) = send(people.reviewer, bank)
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    assert (ended(write).state, line.sent("POST")) == ("attention", 0)
    with pytest.raises(BankClosed):
        send(people.reviewer, Bank.objects.get(pk=bank.pk))


def test_a_batch_of_the_queue_waits_for_a_file_of_the_same_document(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    send(people.reviewer, bank, about=[{"document_id": "same"}])
    put(people.reviewer, bank, {"content": "Later words.", "document_id": "same"})
    assert flush_now(bank) == "their documents are busy"
    drain(bank)
    assert (RetainItem.objects.get().state, text_of(bank, "same")) == ("done", "Later words.")


def test_two_files_of_one_document_are_refused_and_nothing_is_stored(bank: Bank, people: People) -> None:
    with pytest.raises(Refused, match=r"“b\.md”: document_id: “a\.md” has the same document id"):
        send(people.reviewer, bank, upload("a.md"), upload("b.md"), about=[{"document_id": "d"}] * 2)
    assert not Write.objects.exists()


def test_what_is_wrong_about_a_file_names_it(bank: Bank, people: People) -> None:
    about = [{}, {"timestamp": "monday"}]
    with pytest.raises(Refused, match=r"“b\.md”: timestamp: Not a time"):
        send(people.reviewer, bank, upload("a.md"), upload("b.md"), about=about)


def test_a_project_gives_its_tag(bank: Bank, people: People) -> None:
    (write,) = send(people.reviewer, bank, mode="per-project-tagged", project="/home/ann/Shop")
    assert write.params["tags"] == ["project:shop"]


def test_it_is_reviewed_once_it_is_there(bank: Bank, people: People, line: LyingTransport) -> None:
    (write,) = send(people.reviewer, bank, about=[{"tags": ["team"]}], project="/home/ann/api")
    assert not ReviewEntry.objects.exists()
    ended(write)
    entry = ReviewEntry.objects.get()
    assert (entry.document_id, entry.sources, entry.project) == (write.document_id, ["retain"], "/home/ann/api")


def test_bytes_without_a_row_go_after_an_hour_and_those_of_a_row_stay(bank: Bank, people: People, folder: Path) -> None:
    (write,) = send(people.reviewer, bank)
    stray = kept_files.keep([b"x"], kind=FILE, most=10)
    forget_strays()
    assert len(list(folder.iterdir())) == 2
    with time_machine.travel(timezone.now() + timedelta(hours=2), tick=False):
        forget_strays()
        assert [path.name for path in folder.iterdir()] == [kept_of(write)]
        with transaction.atomic():
            assert writes.cancel(write=write)
        forget_strays()
    assert (stray not in {path.name for path in folder.iterdir()}, list(folder.iterdir())) == (True, [])


@pytest.mark.parametrize("when", ["monday", "0001-01-01T00:00:00+14:00"])
def test_a_time_that_is_none_fails_its_file_alone(bank: Bank, people: People, line: LyingTransport, when: str) -> None:
    (write,) = send(people.reviewer, bank)
    Write.objects.filter(pk=write.pk).update(params={"timestamp": when})  # as an agent may send it past memadmin
    (other,) = send(people.reviewer, bank)
    drain(bank)
    write.refresh_from_db()
    other.refresh_from_db()
    assert (write.state, write.outcome["refused"], other.state) == (State.ATTENTION, "extraction", State.DONE)
