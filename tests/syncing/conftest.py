from pathlib import Path

import pytest
from django.conf import LazySettings

from banks.models import Bank
from tests.api.asking import issue
from tests.conftest import People
from tests.syncing.machine import Machine


@pytest.fixture
def machine(bank: Bank, people: People, tmp_path: Path, settings: LazySettings) -> Machine:
    """Of a reviewer."""
    settings.MEDIA_ROOT = tmp_path / "uploads"
    settings.MEDIA_ROOT.mkdir()
    return Machine(tmp_path, bank, issue(people.reviewer))
