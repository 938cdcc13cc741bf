"""Retry and cancel from the page: the truth before, exact numbers, one write each, and who may."""

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from django.test import Client

from banks import jobs
from banks.models import Bank, Job, OperationSeen, Role, Write
from banks.operations import acts
from tests import factories
from tests.banks.operations import make_operation
from tests.conftest import People
from tests.reviews.pages import text_of

pytestmark = pytest.mark.django_db(transaction=True)
SignIn = Callable[..., Client]
HERE = "/operations/"


def address(act: str, *rows: OperationSeen, **more: str) -> str:
    return f"{HERE}{act}/?" + urlencode([("pick", row.pk) for row in rows] + list(more.items()))


def confirm(client: Client, path: str, total: int) -> str:
    answer = client.post(path, {"total": str(total)})
    assert answer.status_code == 303, answer.status_code
    return answer["Location"]


def test_a_retry_says_what_it_does_and_is_one_write(bank: Bank, people: People, as_user: SignIn) -> None:
    row = make_operation(bank, "failed", document_id="notes/b.md", error="no model")
    client, path = as_user(people.reviewer), address("retry", row)
    page = text_of(client.get(path))
    for words in ("Retry 1 operation", "with the content that it kept", "notes/b.md", "checkout-service"):
        assert words in page
    assert not Write.objects.exists()
    assert confirm(client, path, 1) == HERE
    write = Write.objects.get()
    assert (write.kind, write.actor, write.document_id) == ("operation-retry", people.reviewer, "")
    assert write.params == {
        "operation": row.operation_id,
        "document": "notes/b.md",
        "type": "retain",
        "status": "failed",
    }
    assert "retry is under way" in text_of(client.get(HERE)).replace("\n", " ")
    assert client.post(path, {"total": "1"}).status_code == 409  # a second click
    assert Write.objects.count() == 1


def test_a_cancel_says_what_is_not_undone(bank: Bank, people: People, as_user: SignIn) -> None:
    waits, works = make_operation(bank, "pending"), make_operation(bank, "processing")
    page = text_of(as_user(people.owner).get(address("cancel", waits, works)))
    assert "Cancelling is not undoing." in page
    assert "1 operation waits" in page
    assert "1 operation has begun" in page
    assert "may still store facts" in page


def test_cancelling_a_batch_cancels_its_unfinished_parts(bank: Bank, people: People, as_user: SignIn) -> None:
    batch = make_operation(bank, type="batch_retain")
    open_ones = [make_operation(bank, status, parent=batch) for status in ("pending", "processing", "retrying")]
    make_operation(bank, "completed", parent=batch)
    client, path = as_user(people.owner), address("cancel", batch)
    page = text_of(client.get(path))
    assert "Cancel 3 operations" in page
    assert "3 of them are parts" in page
    job = Job.objects.get(pk=int(confirm(client, path, 3).rstrip("/").rpartition("/")[2]))
    jobs.run(job.pk)
    writes = Write.objects.filter(group=job.params["group"])
    assert {write.params["operation"] for write in writes} == {row.operation_id for row in open_ones}
    assert {write.kind for write in writes} == {"operation-cancel"}
    page = text_of(client.get(f"{HERE}acts/{job.pk}/"))
    assert "<b>3</b> under way" in page
    assert as_user(people.reviewer).get(f"{HERE}acts/{job.pk}/").status_code == 404  # another person's work


def test_retrying_a_batch_is_one_write_on_the_batch(bank: Bank, people: People, as_user: SignIn) -> None:
    batch = make_operation(bank, type="batch_retain", phase="open")
    make_operation(bank, "failed", parent=batch)
    client, path = as_user(people.reviewer), address("retry", batch)
    confirm(client, path, 1)
    assert Write.objects.get().params["operation"] == batch.operation_id


def test_all_that_match_are_counted_exactly_and_confirmed(bank: Bank, people: People, as_user: SignIn) -> None:
    other = factories.make_bank("ledger")
    factories.grant(people.reviewer, other, Role.VIEWER)
    rows = [make_operation(bank, "failed") for _ in range(3)]
    make_operation(other, "failed")
    make_operation(bank, "completed")
    client, path = as_user(people.reviewer), f"{HERE}retry/?show=failed&all=1"
    assert "Retry 3 operations" in text_of(client.get(path))
    assert client.post(path, {"total": "2"}).status_code == 409
    assert not Job.objects.exists()
    job = Job.objects.get(pk=int(confirm(client, path, 3).rstrip("/").rpartition("/")[2]))
    assert sorted(job.params["picks"]) == sorted(row.pk for row in rows)


def test_more_than_can_be_done_at_once_is_refused(bank: Bank, people: People, as_user: SignIn, monkeypatch) -> None:
    monkeypatch.setattr(acts, "MOST", 2)
    for _ in range(3):
        make_operation(bank, "failed")
    client, path = as_user(people.reviewer), f"{HERE}retry/?show=failed&all=1"
    assert "Narrow the filter" in text_of(client.get(path))
    assert client.post(path, {"total": "2"}).status_code == 409
    assert not Job.objects.exists()


def test_what_cannot_be_done_is_left_alone_with_its_reason(bank: Bank, people: People, as_user: SignIn) -> None:
    other = factories.make_bank("ledger")
    factories.grant(people.reviewer, other, Role.VIEWER)
    done, foreign, busy = (
        make_operation(bank, "completed"),
        make_operation(other, "failed"),
        make_operation(bank, "failed"),
    )
    acts.record(user=people.reviewer, act="retry", row=busy)
    page = text_of(as_user(people.reviewer).get(address("retry", done, foreign, busy)))
    for why in ("It is completed: there is nothing to retry.", acts.NO_ROLE, acts.UNDER_WAY):
        assert why in page
    assert "Nothing of it can be retried." in page
    assert "Nothing is selected." in text_of(as_user(people.reviewer).get(f"{HERE}retry/"))


def test_a_worker_that_was_killed_goes_on_with_whole_steps(bank: Bank, people: People, monkeypatch) -> None:
    monkeypatch.setattr(acts, "ROWS_PER_STEP", 2)
    rows = [make_operation(bank, "failed") for _ in range(5)]
    job = acts.start(user=people.reviewer, act="retry", rows=rows)
    real, calls = acts.record, []

    def killed(**values: object) -> Write:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(**values)  # type: ignore[arg-type]

    monkeypatch.setattr(acts, "record", killed)
    with pytest.raises(KeyboardInterrupt):
        jobs.run(job.pk)
    assert Write.objects.count() == 2
    Job.objects.update(claimed_until=None)
    assert jobs.run(job.pk) == "done"
    assert sorted(write.params["operation"] for write in Write.objects.all()) == sorted(
        row.operation_id for row in rows
    )


def test_a_role_that_ended_sends_nothing(bank: Bank, people: People, as_user: SignIn) -> None:
    rows = [make_operation(bank, "failed") for _ in range(2)]
    job = acts.start(user=people.reviewer, act="retry", rows=rows)
    OperationSeen.objects.filter(pk=rows[0].pk).delete()
    people.reviewer.memberships.all().delete()
    jobs.run(job.pk)
    assert {item.reason for item in job.items.all()} == {acts.NO_ROLE, acts.FORGOTTEN}
    assert not Write.objects.exists()


def test_a_batch_is_forgotten_with_its_parts(bank: Bank, people: People, as_user: SignIn) -> None:
    batch = make_operation(bank, "failed", type="batch_retain")
    part = make_operation(bank, "failed", parent=batch)
    client, path = as_user(people.owner), address("forget", batch)
    assert "a retry is not possible after that" in text_of(client.get(path))
    jobs.run(int(confirm(client, path, 2).rstrip("/").rpartition("/")[2]))
    asked = [write.params["operation"] for write in Write.objects.order_by("pk")]
    assert asked == [part.operation_id, batch.operation_id]
    make_operation(bank, "pending")
    assert "Forget 3 operations" not in text_of(client.get(f"{HERE}forget/?all=1"))


@pytest.mark.parametrize(
    ("act", "person", "status"),
    [
        ("retry", "stranger", 404),
        ("retry", "viewer", 403),
        ("retry", "reviewer", 303),
        ("retry", "owner", 303),
        ("cancel", "stranger", 404),
        ("cancel", "viewer", 403),
        ("cancel", "reviewer", 403),
        ("cancel", "owner", 303),
        ("cancel", "operator", 303),
    ],
)
def test_who_may(act: str, person: str, status: int, bank: Bank, people: People, as_user: SignIn) -> None:
    row = make_operation(bank, "failed" if act == "retry" else "pending")
    client = as_user(getattr(people, person))
    assert client.post(address(act, row), {"total": "1"}).status_code == status
    assert Write.objects.exists() == (status == 303)
    assert client.get(address(act, row)).status_code == (200 if status == 303 else status)


def test_an_admin_elsewhere_cannot_act_here(bank: Bank, people: People, as_user: SignIn) -> None:
    elsewhere = factories.make_user()
    factories.grant(elsewhere, factories.make_bank(), Role.ADMIN)
    row = make_operation(bank)
    assert as_user(elsewhere).post(address("cancel", row), {"total": "1"}).status_code == 409
    assert "checkout" not in text_of(as_user(elsewhere).get(address("cancel", row)))
    assert not Write.objects.exists()


def test_the_log_tells_how_it_went(bank: Bank, people: People, as_user: SignIn) -> None:
    row = make_operation(bank, "failed")
    write = acts.record(user=people.reviewer, act="retry", row=row)
    Write.objects.update(state="done", outcome={"about": "notes/a.md", "said": "It ran again and completed."})
    client = as_user(people.viewer)
    page = text_of(client.get("/log/"))
    assert "Retry operation" in page
    assert "notes/a.md: It ran again and completed." in page
    assert f"/operations/?q={row.operation_id}" in text_of(client.get(f"/log/{write.pk}/"))
