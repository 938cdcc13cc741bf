"""A bank that becomes a person's while something for a project still waits, was dropped or failed: it never gets there.

`person.mark` refuses what it sees under way; these rows it does not see, or they were stored at the same moment.
"""

import pytest
from django.db import transaction

from banks import retain, writes
from banks.models import Bank, RetainItem, Write
from banks.retain import missions
from banks.services import person
from banks.writes import record, worker
from reviews.errors import TooLate
from reviews.services import decide
from tests.banks.conftest import LyingTransport, line
from tests.banks.filing import send
from tests.banks.retaining import drain, gives_up, in_bank, put, states
from tests.conftest import People
from tests.reviews.holding import act, held, hold

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)


def becomes_a_persons(bank: Bank, people: People) -> None:
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.reviewer)
    bank.refresh_from_db()


def test_what_failed_before_is_not_sent_again(bank: Bank, people: People, line: LyingTransport) -> None:
    put(people.reviewer, bank, "The build takes an hour.")
    write, before = gives_up(bank), set(in_bank(bank))
    assert person.mark(actor=people.owner, bank=bank, person=people.reviewer)
    assert writes.get("retain").again(write=write, actor=people.owner)
    drain(bank)
    last = Write.objects.filter(kind="retain").latest("pk")
    assert (last.state, states(bank), set(in_bank(bank))) == ("attention", ["attention"], before)
    assert "came for a project" in last.error_text


def test_what_was_stored_at_the_same_moment_keeps_nothing_of_the_person_back(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    put(people.reviewer, bank, "The build takes an hour.")
    becomes_a_persons(bank, people)
    put(people.reviewer, bank, "Ann wants short answers.", user_bank=True)
    drain(bank)
    assert states(bank) == ["attention", "done"]
    mine = RetainItem.objects.get(user_bank=True)
    assert {name for name in in_bank(bank) if name.startswith("memadmin-")} == {mine.document_id}


def test_what_was_rejected_while_it_was_a_projects_is_not_approved_later(bank: Bank, people: People) -> None:
    (entry,) = held(people.reviewer, bank, "The build takes an hour.")
    act("delete", people.owner, entry)
    assert person.mark(actor=people.owner, bank=bank, person=people.reviewer)
    decide.undo(user=people.owner, entry_id=entry.pk)
    with pytest.raises(TooLate, match="came for a project"):
        act("approve", people.owner, entry)
    assert states(bank) == ["held"]


def test_what_names_the_person_is_held_and_approved_as_ever(bank: Bank, people: People, line: LyingTransport) -> None:
    becomes_a_persons(bank, people)
    hold(bank)
    (entry,) = held(people.reviewer, bank, "Ann wants short answers.", user_bank=True)
    act("approve", people.reviewer, entry)
    drain(bank)
    assert states(bank) == ["done"]


def test_a_file_that_failed_before_is_not_sent(bank: Bank, people: People, line: LyingTransport) -> None:
    (write,) = send(people.reviewer, bank)
    becomes_a_persons(bank, people)
    worker.run(write.pk)
    write.refresh_from_db()
    assert (write.state, write.outcome["refused"]) == ("attention", "person")
    assert write.document_id not in in_bank(bank)


def test_a_mission_that_was_recorded_before_is_not_set(bank: Bank, people: People, line: LyingTransport) -> None:
    with transaction.atomic():
        write = record(
            kind="mission", bank=bank, via=Write.Via.HOUSEKEEPING, params={missions.FIELDS[0]: "Look for decisions."}
        )
    becomes_a_persons(bank, people)
    worker.run(write.pk)
    write.refresh_from_db()
    assert (write.state, write.outcome.get("set")) == ("done", None)


@pytest.mark.parametrize(
    ("field", "item", "more"),
    [
        ("document_tags", {}, {"document_tags": ["style", "project:api"]}),
        ("observation_scopes", {"observation_scopes": [["style"], ["project:*"]]}, {}),
    ],
)
def test_no_other_field_carries_a_projects_tag(
    bank: Bank, people: People, field: str, item: dict[str, object], more: dict[str, object]
) -> None:
    becomes_a_persons(bank, people)
    with pytest.raises(retain.Refused) as found:
        put(people.reviewer, bank, {"content": "x", **item}, user_bank=True, **more)
    assert [problem.field for problem in found.value.problems] == [field]
    assert not RetainItem.objects.exists()
