import pytest
from django.core.cache import cache

from banks.models import Bank
from tests.api.asking import Program, issue
from tests.banks.conftest import line
from tests.conftest import People

__all__ = ["line"]


@pytest.fixture(autouse=True)
def _nobody_was_refused() -> None:
    cache.clear()


@pytest.fixture
def program(bank: Bank, people: People) -> Program:
    """With a token of a reviewer, for all their banks."""
    return Program(issue(people.reviewer))
