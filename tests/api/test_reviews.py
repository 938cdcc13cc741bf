"""Reviews by a program: it decides on what it has seen, as a person does, and loses as a person does."""

from typing import Any

import pytest

from banks.models import Bank, Write
from banks.paper import PART
from reviews.models import Decision, ReviewEntry, Seen
from reviews.services import decide
from tests import factories
from tests.api.asking import Program, issue
from tests.conftest import People
from tests.reviews.holding import held, item_of
from tests.reviews.pages import shown

pytestmark = pytest.mark.django_db
LONG = "The exporter runs. " * (PART // 19 + 200)  # two parts


def seen(program: Program, entry: ReviewEntry) -> dict[str, Any]:
    said = program.get(f"/reviews/{entry.pk}").json()
    return {"version": said["version"], "text_hash": said["text_hash"]}


def post(program: Program, entry: ReviewEntry, act: str, body: dict[str, Any], **headers: str) -> Any:
    return program.post(f"/reviews/{entry.pk}/{act}", body, **headers)


def test_the_queue_page_by_page(bank: Bank, program: Program) -> None:
    made = [factories.make_entry(bank).pk for _ in range(5)]
    factories.make_entry(bank, state="approved")
    found: list[int] = []
    cursor = ""
    while cursor is not None:
        page = program.get("/reviews", order="oldest", limit=2, cursor=cursor).json()
        found += [each["id"] for each in page["reviews"]]
        cursor = page["next"]
    assert found == made


def test_the_queue_by_what_is_asked_for(bank: Bank, people: People, program: Program) -> None:
    kept = factories.make_entry(bank, project="/home/a", text="The heron stands.")
    factories.make_entry(bank, project="/home/b")
    for query in ({"project": "/home/a"}, {"q": "heron"}, {"q": "heron", "bank": bank.bank_id}):
        assert [each["id"] for each in program.get("/reviews", **query).json()["reviews"]] == [kept.pk]
    assert program.get("/reviews", state="approved").json() == {"reviews": [], "next": None}
    for wrong in ({"state": "nonsense"}, {"cursor": "b~1~"}, {"server": "s"}, {"limit": 0}):
        assert program.get("/reviews", **wrong).status_code == 422


def test_a_page_costs_the_same_however_long(bank: Bank, program: Program, django_assert_max_num_queries: Any) -> None:
    for number in range(30):
        factories.make_entry(bank, f"d{number}")
    with django_assert_max_num_queries(12):
        assert len(program.get("/reviews", limit=30).json()["reviews"]) == 30


def test_decisions_name_the_person_and_the_token(bank: Bank, people: People, program: Program) -> None:
    entry = factories.make_entry(bank)
    answer = post(program, entry, "approve", seen(program, entry))
    assert (answer.status_code, answer.json()["review"]["state"]) == (200, "approved")
    write = Write.objects.get(pk=answer.json()["write"])
    assert (write.kind, write.via, write.actor, write.token.name) == ("approve", "api", people.reviewer, "agent")  # type: ignore[union-attr]
    back = post(program, entry, "undo", {"version": answer.json()["review"]["version"]})
    assert (back.status_code, back.json()["review"]["state"]) == (200, "pending")
    assert [each.verdict for each in entry.decisions.order_by("pk")] == ["approved", "reopened"]


def test_an_edit_and_a_delete_wait_for_the_door(bank: Bank, program: Program) -> None:
    edited, deleted, same = (factories.make_entry(bank) for _ in range(3))
    answer = post(program, edited, "edit", seen(program, edited) | {"text": "Other words."})
    assert (answer.status_code, Write.objects.get(pk=answer.json()["write"]).state) == (202, "queued")
    assert post(program, deleted, "delete", seen(program, deleted)).json()["review"]["state"] == "deleting"
    answer = post(program, same, "edit", seen(program, same) | {"text": "A fact worth keeping."})
    assert (answer.status_code, answer.json()["write"]) == (200, None)
    assert post(program, same, "edit", seen(program, same) | {"text": " "}).status_code == 422


def test_who_is_slower_is_told_of_the_winner_and_gets_both_texts(bank: Bank, people: People, program: Program) -> None:
    entry = factories.make_entry(bank)
    mine = seen(program, entry)
    decide.delete(user=people.owner, entry_id=entry.pk, **shown(entry))  # type: ignore[arg-type]
    answer = post(program, entry, "approve", mine)
    said = answer.json()
    assert (answer.status_code, said["winner"], said["action"]) == (409, "Ann Weber", "deleted")
    assert said["text_seen"] == said["text_now"] == {"text": "A fact worth keeping.", "omitted": 0}
    assert said["now"]["state"] == "deleting"
    assert entry.decisions.count() == 1


def test_where_two_have_to_approve_a_token_is_its_person(bank: Bank, people: People, program: Program) -> None:
    Bank.objects.update(two_reviewers=True)
    entry = factories.make_entry(bank)
    mine = seen(program, entry)
    said = post(program, entry, "approve", mine).json()["review"]
    assert (said["state"], said["version"], said["approvals"], said["approvals_needed"]) == ("pending", 1, 1, 2)
    again = post(program, entry, "approve", mine)
    assert (again.status_code, "counts already" in again.json()["detail"]) == (409, True)
    said = post(Program(issue(people.owner)), entry, "approve", mine).json()["review"]
    assert (said["state"], said["approvals"], said["decided_by"]) == ("approved", 0, "Ann Weber")


def test_who_wrote_the_text_is_told_that_another_has_to_approve(bank: Bank, people: People, program: Program) -> None:
    Bank.objects.update(bars_writer=True)
    entry = factories.make_entry(bank, text_by=people.reviewer)
    answer = post(program, entry, "approve", seen(program, entry))
    assert (answer.status_code, "You wrote this text" in answer.json()["detail"]) == (409, True)


def test_another_text_is_no_approval(bank: Bank, program: Program) -> None:
    entry = factories.make_entry(bank)
    answer = post(program, entry, "approve", {"version": 1, "text_hash": "0" * 64})
    assert (answer.status_code, answer.json()["winner"], answer.json()["text_seen"]) == (409, "", None)
    loading = factories.make_entry(bank, load_state="loading")
    assert post(program, loading, "approve", seen(program, loading)).status_code == 409
    assert not Decision.objects.exists()


def test_a_long_text_is_approved_only_with_all_its_parts(bank: Bank, people: People, program: Program) -> None:
    entry, other = factories.make_entry(bank, text=LONG), factories.make_entry(bank, text=LONG)
    parts = [program.get(f"/reviews/{entry.pk}", part=part).json() for part in (1, 2)]
    assert ("".join(each["text"] for each in parts), parts[0]["parts"]) == (LONG, 2)
    foreign = Program(issue(people.reviewer)).get(f"/reviews/{entry.pk}", part=2).json()["receipt"]
    another = program.get(f"/reviews/{other.pk}", part=2).json()["receipt"]
    first, second = (each["receipt"] for each in parts)
    for receipts in ([], [first], [first, foreign], [first, another], [first, "2:x", "٢:", "2" + first[1:]]):
        answer = post(program, entry, "approve", shown(entry) | {"receipts": receipts})  # type: ignore[operator]
        assert answer.status_code == 409
        assert answer.json()["missing"] == ([1, 2] if not receipts else [2])
    assert not Seen.objects.exists()
    assert post(program, entry, "approve", shown(entry) | {"receipts": [first, second]}).status_code == 200  # type: ignore[operator]


def test_a_receipt_is_for_the_text_that_was_fetched(bank: Bank, program: Program) -> None:
    entry = factories.make_entry(bank, text="a" * 20_000)
    receipt = program.get(f"/reviews/{entry.pk}").json()["receipt"]
    changed = factories.make_entry(bank, text="b" * 20_000)
    ReviewEntry.objects.filter(pk=entry.pk).update(text=changed.text, version=2)
    entry.refresh_from_db()
    assert post(program, entry, "approve", shown(entry) | {"receipts": [receipt]}).json()["missing"] == [1]  # type: ignore[operator]


def test_a_repeated_request_is_one_decision(bank: Bank, program: Program) -> None:
    entry = factories.make_entry(bank)
    body = seen(program, entry)
    first, again = (post(program, entry, "approve", body, **{"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert entry.decisions.count() == 1
    assert post(program, entry, "approve", body).status_code == 409


@pytest.mark.parametrize("number", ["0", "999999", "9" * 30])
def test_no_such_memory(bank: Bank, program: Program, number: str) -> None:
    assert program.get(f"/reviews/{number}").status_code == 404


def test_what_is_held_is_decided_on_by_what_was_seen(bank: Bank, people: People, program: Program) -> None:
    one, two, three = held(people.owner, bank, "Ann moved.", "Ben stayed.", "Cara left.")
    listed = program.get("/reviews", state="held", order="oldest").json()["reviews"]
    assert [(each["id"], each["state"], each["facts"]) for each in listed] == [
        (entry.pk, "held", None) for entry in (one, two, three)
    ]
    assert program.get("/reviews").json()["reviews"] == []
    assert program.get(f"/reviews/{one.pk}").json()["text"] == "Ann moved."
    assert post(program, one, "approve", seen(program, one)).json()["review"]["state"] == "approved"
    rejected = post(program, two, "delete", seen(program, two))
    assert (rejected.status_code, rejected.json()["review"]["state"]) == (200, "rejected")
    edited = post(program, three, "edit", {**seen(program, three), "text": "Cara left us."})
    assert (edited.status_code, edited.json()["review"]["state"]) == (200, "held")
    undone = post(program, two, "undo", {"version": rejected.json()["review"]["version"]})
    assert undone.json()["review"]["state"] == "held"
    assert [item_of(entry).state for entry in (one, two, three)] == ["queued", "held", "held"]
    assert item_of(three).content.text == "Cara left us."
