"""Two sources that bring the same documents at the same instant, in opposite order: one entry each, and no error."""

from functools import partial

import pytest
from django.utils import timezone

from banks import jobs
from banks.hindsight import DocumentRow
from banks.models import Bank, Server
from reviews.importing.job import start_import
from reviews.models import ReviewEntry
from reviews.services.enqueue import enqueue
from tests.conftest import People
from tests.racing import ROUNDS, at_once
from tests.reviews.queue_files import URL, add, as_bytes

pytestmark = pytest.mark.django_db(transaction=True)
NEWER = "2100-01-01T00:00:00Z"  # than what the list says


@pytest.fixture
def server(bank: Bank) -> Server:
    bank.server.base_url = URL
    bank.server.save()
    return bank.server


def listed(document_id: str, content_hash: str) -> DocumentRow:
    now = timezone.now()
    return DocumentRow(document_id, content_hash, now, now, 1, 1, {}, {}, [])


def entries(names: list[str]) -> list[str]:
    return sorted(ReviewEntry.objects.filter(document_id__in=names).values_list("document_id", flat=True))


def names_of(number: int) -> list[str]:
    return [f"{number}/{letter}" for letter in "abcdefghijkl"]


@pytest.mark.parametrize("known", [False, True], ids=["new", "changed"])
def test_two_lists_of_documents(bank: Bank, server: Server, known: bool) -> None:
    for number in range(ROUNDS):
        names = names_of(number)
        if known:
            enqueue(bank=bank, rows=[listed(name, "old") for name in names])
            ReviewEntry.objects.update(content_hash="old", load_after=None)
        rows = [listed(name, "new") for name in names]
        at_once(partial(enqueue, bank=bank, rows=rows), partial(enqueue, bank=bank, rows=rows[::-1]))
        assert entries(names) == names


@pytest.mark.parametrize("known", [False, True], ids=["new", "again"])
def test_a_list_of_documents_and_a_file(bank: Bank, server: Server, people: People, known: bool) -> None:
    for number in range(ROUNDS):
        names = names_of(number)
        if known:
            enqueue(bank=bank, rows=[listed(name, "old") for name in names])
            ReviewEntry.objects.update(content_hash="old", load_after=None)
        lines = [add(name, project=f"project {number}", ts=NEWER) for name in reversed(names)]
        job = start_import(owner=people.reviewer, machine="ann's laptop", chunks=[as_bytes(lines)])
        rows = [listed(name, "new") for name in names]
        _, word = at_once(partial(enqueue, bank=bank, rows=rows), partial(jobs.run, job.pk))
        assert word == "done"
        assert entries(names) == names
        assert set(ReviewEntry.objects.filter(document_id__in=names).values_list("project", flat=True)) == {
            f"project {number}"
        }
