import pytest

from banks.models import Bank
from tests.api.asking import Program, issue
from tests.banks.conftest import line
from tests.conftest import People

__all__ = ["line"]


@pytest.fixture
def program(bank: Bank, people: People) -> Program:
    """With a token of a reviewer, for all their banks."""
    return Program(issue(people.reviewer))
