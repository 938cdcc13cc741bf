"""What a tool writes arrives in memadmin: once, and nothing about other banks."""

import json

import pytest

from banks.addresses import Address
from banks.models import Bank, Job, Write
from memadmin.syncing import queue, turn
from reviews.models import Parked, ReviewEntry, SourceEvent
from tests.conftest import People
from tests.reviews.log_files import recall, retained
from tests.reviews.queue_files import add, as_bytes, done
from tests.syncing.machine import Machine, approve

pytestmark = pytest.mark.django_db(transaction=True)
Capture = pytest.CaptureFixture[str]


def test_what_is_about_other_banks_stays_on_the_machine(bank: Bank, machine: Machine, capsys: Capture) -> None:
    private = machine.add("secret", bank="diary")
    machine.has(private, machine.add("doc"), done("secret"), "torn", machine.add("far", baseUrl="http://10.0.0.7:1"))
    assert machine.sync(capsys, "--strict", code=1)["queue"]["elsewhere"] == 1
    assert machine.here.sent == [as_bytes([machine.add("doc")])]
    assert not Parked.objects.exists()
    # Ids count, whatever the bank: a done means one of both, and memadmin must know that.
    machine.has(machine.add("secret"))
    machine.sync(capsys)
    assert machine.here.sent[-1] == as_bytes([private, done("secret"), machine.add("secret")])


def test_only_documents_with_new_lines_are_sent(bank: Bank, machine: Machine, capsys: Capture) -> None:
    machine.has(*(machine.add(f"doc-{number}") for number in range(50)))
    machine.sync(capsys)
    machine.has(done("doc-7"), machine.add("new"))
    machine.sync(capsys)
    assert machine.here.sent[-1] == as_bytes([machine.add("doc-7"), done("doc-7"), machine.add("new")])
    assert ReviewEntry.objects.get(document_id="doc-7").state == "approved"
    asked = len(machine.here.sent)
    machine.sync(capsys)
    assert len(machine.here.sent) == asked


def test_large_files_go_in_parts(machine: Machine, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn, "MOST_BYTES", 1_000)
    machine.has(*(machine.add(f"doc-{number}") for number in range(12)), *(done(f"doc-{n}") for n in range(0, 12, 2)))
    told = machine.sync(capsys)["queue"]
    assert (told["accepted"], told["sent"]) == (18, 18)
    assert [len(body) <= 1_000 for body in machine.here.sent] == [True] * 4
    assert ReviewEntry.objects.filter(state="pending").count() == 6


def test_a_shorter_file_starts_over_and_undoes_nothing(
    bank: Bank, people: People, machine: Machine, capsys: Capture
) -> None:
    machine.has(machine.add("a"), machine.add("b"), done("a"))
    machine.sync(capsys)
    approve(people.owner, bank, "b")
    machine.sync(capsys)
    # The tool has put a shorter file in its place, and our line was lost with it.
    fresh = machine.folder / "fresh"
    fresh.write_bytes(as_bytes([machine.add("b"), machine.add("c")]))
    fresh.replace(machine.queue)
    assert machine.sync(capsys)["taken_back"] == {"approved": 1}
    assert [(event["ev"], event["docId"]) for event in machine.events] == [("add", "b"), ("add", "c"), ("done", "b")]
    assert dict(ReviewEntry.objects.values_list("document_id", "state")) == {
        "a": "approved",
        "b": "approved",
        "c": "pending",
    }
    machine.queue.write_bytes(b"")
    machine.sync(capsys)
    machine.queue.unlink()
    machine.sync(capsys)
    machine.has(machine.add("b"))
    assert machine.sync(capsys)["taken_back"] == {"approved": 1}


def test_without_what_it_remembers_nothing_comes_twice(
    bank: Bank, people: People, machine: Machine, capsys: Capture
) -> None:
    machine.has(machine.add("doc"), machine.add("doc"))
    machine.log.write_bytes(as_bytes([retained()]))
    machine.sync(capsys, "--log", str(machine.log))
    approve(people.owner, bank, "doc")
    machine.sync(capsys, "--log", str(machine.log))
    before = machine.queue.read_bytes(), SourceEvent.objects.count(), Write.objects.count()
    for broken in (None, b"", b"{", b"[]", b'{"of": 1}'):
        machine.state.unlink()
        if broken is not None:
            machine.state.write_bytes(broken)
        machine.sync(capsys, "--log", str(machine.log))
    assert (machine.queue.read_bytes(), SourceEvent.objects.count(), Write.objects.count()) == before
    assert oct(machine.state.stat().st_mode)[-3:] == "600"


def test_of_a_log_only_what_is_new(bank: Bank, machine: Machine, capsys: Capture) -> None:
    machine.log.write_bytes(as_bytes([retained(), recall()]))
    asked = ("--log", str(machine.log), "--queue", "off")
    told = machine.sync(capsys, *asked)
    assert (told["log"]["accepted"], told["queue"]) == (2, {})
    with machine.log.open("ab") as file:
        file.write(as_bytes([recall(query="another"), retained()]))
    assert machine.sync(capsys, *asked)["log"]["accepted"] == 2
    # The same line again counts, so those like it go with it.
    assert machine.here.sent[-1] == as_bytes([retained(), recall(query="another"), retained()])
    assert Write.objects.filter(via="import").count() == 4


def test_an_import_that_failed_there_is_sent_again(
    bank: Bank, people: People, machine: Machine, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.has(machine.add("doc"))
    machine.here.before = lambda request: Job.objects.filter(state="queued").update(state="failed") and None
    problem = machine.sync(capsys, code=1)["problems"][0]
    assert "did not end well" in problem
    machine.here.before = lambda request: None
    assert machine.sync(capsys)["queue"]["accepted"] == 1
    assert json.loads(machine.state.read_text())["queue"]["attempt"] == 1


def test_lots_keep_what_belongs_together() -> None:
    data = b"aa\nb\naa\ncc\n"
    lines = [queue.Line("a", 0, 2, False), queue.Line("b", 3, 4, True), queue.Line("a", 5, 7, True)]
    lines.append(queue.Line("c", 8, 10, False))
    assert list(queue.lots(data, lines, 100)) == [b"aa\nb\naa\n"]
    assert list(queue.lots(data, lines, 3)) == [b"b\n", b"aa\naa\n"]
    assert list(queue.lots(data, lines[:1], 3)) == []


def test_which_adds_mean_our_bank() -> None:
    def has(ours: queue.Ours, url: str, namespace: str = "default") -> bool:
        line = add("doc", bank="b", baseUrl=url, namespace=namespace).encode()
        return bool(queue.read(line, 0, ours).lines)

    own = ["http://localhost:8888", "http://127.0.0.1:1/", "http://[::1]:8888"]
    foreign = ["http://localhost.example.net", "http://10.0.0.7:8888", "", "localhost:8888"]
    assert [has(queue.Ours("b"), url) for url in own + foreign] == [True] * 3 + [False] * 4
    named = queue.Ours("b", frozenset({Address.parse("http://10.0.0.7:8888")}), "team")
    assert has(named, "HTTP://10.0.0.7:8888/", "team")
    assert not has(named, "http://localhost:8888", "team")
    assert not has(named, "http://10.0.0.7:8888")
