"""Rows 66 and 67: what acts on all that match acts on all of them, and on nothing else."""

import pytest

from banks import jobs
from banks.models import Bank, Role, Write
from reviews.curation import archive
from reviews.selectors.retired_filters import RetiredFilters
from tests import factories
from tests.conftest import People
from tests.reviews.retired import retired

pytestmark = pytest.mark.django_db(transaction=True)


def test_rows_066_067_all_that_match_are_all_of_them_and_nothing_else(bank: Bank, people: People) -> None:
    other = factories.make_bank("other", server=bank.server)
    factories.grant(people.reviewer, other, Role.REVIEWER)
    wanted = {retired(bank, number).fact_id for number in range(205)}
    kept = {retired(other, number, fact_id=f"other {number}").fact_id for number in range(3)}
    job = archive.start_restore(user=people.reviewer, filters=RetiredFilters(bank=str(bank.pk)))
    assert job.title == "Restore 205 facts"
    assert jobs.run(job.pk) == "done"
    named = {fact_id for fact_ids in Write.objects.values_list("fact_ids", flat=True) for fact_id in fact_ids}
    assert named == wanted
    assert not named & kept
    assert set(Write.objects.values_list("bank", flat=True)) == {bank.pk}
