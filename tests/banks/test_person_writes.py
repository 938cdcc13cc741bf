"""Writing into a person's bank needs the word: nothing of a project and nothing that runs by itself gets there."""

from io import BytesIO
from typing import Any

import pytest

from banks import retain
from banks.models import Bank, RetainItem, Write
from banks.retain import missions
from banks.services import person
from banks.services.refusal import Refusal
from banks.services.transcripts import PersonsBank, retain_transcript
from banks.transcripts import Plan
from tests import factories
from tests.banks.conftest import LyingTransport, line
from tests.banks.filing import send
from tests.banks.retaining import drain, flush_now, in_bank, put, states
from tests.conftest import People

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def own(bank: Bank, people: People) -> Bank:
    """The reviewer's."""
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.reviewer)
    bank.refresh_from_db()
    return bank


def refused(*args: Any, **more: Any) -> retain.Refused:
    with pytest.raises(retain.Refused) as found:
        put(*args, **more)
    assert found.value.status == 422
    assert not RetainItem.objects.exists()
    return found.value


def test_who_names_it_writes_there(own: Bank, people: People, line: LyingTransport) -> None:
    put(people.reviewer, own, {"content": "Ann wants short answers.", "tags": ["style"]}, user_bank=True)
    drain(own)
    (row,) = [row for row in in_bank(own).values() if row.id.startswith("memadmin-")]
    assert (row.tags, states(own)) == (["style"], ["done"])


def test_without_the_word_nobody_does(own: Bank, people: People) -> None:
    assert "user_bank" in str(refused(people.reviewer, own, "x"))
    assert "user_bank" in str(refused(people.owner, own, "x"))  # an admin neither


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"project": "/home/ann/api"}, "project"),
        ({"mode": "per-project", "project": "api"}, "scope"),
        ({"mode": "per-project-tagged", "project": "api"}, "scope"),
        ({"mode": "per-project"}, "scope"),
    ],
)
def test_nothing_of_a_project_goes_there(own: Bank, people: People, values: dict[str, str], field: str) -> None:
    for named in (True, False):
        error = refused(people.reviewer, own, "x", user_bank=named, **values)
        assert error.problems[0].field == (field if named or field == "scope" else "user_bank")


def test_a_projects_tag_is_refused_by_item(own: Bank, people: People) -> None:
    items = ["Ann wants short answers.", {"content": "x", "tags": ["a", "project:api"]}]
    (problem,) = refused(people.reviewer, own, *items, user_bank=True).problems
    assert (problem.item, problem.field) == (1, "tags")


def test_a_projects_bank_is_not_taken_for_a_persons(bank: Bank, people: People) -> None:
    assert "no person's bank" in str(refused(people.reviewer, bank, "x", user_bank=True))


def test_a_scope_does_not_lead_into_a_persons_bank(bank: Bank, people: People) -> None:
    own = factories.make_bank(f"{bank.bank_id}-api", server=bank.server, kind="person", person=people.reviewer)
    error = refused(people.reviewer, bank, "x", mode="per-project", project="api")
    assert "person's bank" in str(error)
    assert not RetainItem.objects.filter(bank=own).exists()


@pytest.mark.parametrize("via", [via for via in Write.Via if via not in ("web", "api", "cli")])
def test_nothing_that_runs_by_itself_writes_there(own: Bank, people: People, via: Write.Via) -> None:
    items = retain.parse([{"content": "x"}])
    with pytest.raises(retain.Refused):
        retain.enqueue(user=people.reviewer, bank=own, items=items, via=via, user_bank=True)
    assert not RetainItem.objects.exists()


def test_no_session_goes_there(own: Bank, people: People) -> None:
    stream = BytesIO(b'{"role": "user", "content": "I like tea."}\n')
    with pytest.raises(PersonsBank):
        retain_transcript(
            user=people.reviewer,
            bank=own,
            stream=stream,
            plan=Plan("full-session", 3, 2, "s"),
            via=Write.Via.WEB,
            format_="plain",
        )
    assert not RetainItem.objects.exists()


def test_no_mission_is_set_there(own: Bank, people: People, line: LyingTransport) -> None:
    Bank.objects.update(retain_mission="Look for decisions.")
    missions._looked.clear()
    put(people.reviewer, own, "Ann wants short answers.", user_bank=True)
    drain(own)
    assert not Write.objects.filter(kind="mission").exists()


def test_the_bank_as_it_is_now_counts(bank: Bank, people: People) -> None:
    """The one at hand was read before it became a person's."""
    Bank.objects.filter(pk=bank.pk).update(kind=Bank.Kind.PERSON, person=people.reviewer)
    refused(people.reviewer, bank, "x")


@pytest.mark.parametrize("state", ["held", "queued", "sent"])
def test_it_becomes_no_persons_bank_while_something_is_under_way(bank: Bank, people: People, state: str) -> None:
    put(people.reviewer, bank, "x")
    RetainItem.objects.update(state=state)
    with pytest.raises(Refusal, match="on their way"):
        person.mark(actor=people.owner, bank=bank, person=people.reviewer)
    bank.refresh_from_db()
    assert not bank.personal
    RetainItem.objects.update(state="done")
    assert person.mark(actor=people.owner, bank=bank, person=people.reviewer)
    assert flush_now(bank) == "not due"


def test_no_file_goes_there_nor_where_memories_are_held(own: Bank, people: People) -> None:
    for said in ("person's bank", "holds for review"):
        with pytest.raises(retain.Refused, match=said) as found:
            send(people.reviewer, own)
        assert found.value.status == 422
        Bank.objects.update(kind=Bank.Kind.PROJECT, hold=True)
    assert not Write.objects.exists()


def test_it_becomes_no_persons_bank_while_a_file_is_under_way(bank: Bank, people: People) -> None:
    send(people.reviewer, bank)
    with pytest.raises(Refusal, match="on their way"):
        person.mark(actor=people.owner, bank=bank, person=people.reviewer)
