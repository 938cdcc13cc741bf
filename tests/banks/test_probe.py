"""Asking a server which banks it has, while others make some."""

import pytest
from django.utils import timezone

from banks.models import Bank
from banks.services.probe import probe
from tests.banks.conftest import LyingTransport

pytestmark = pytest.mark.django_db


def test_a_bank_that_came_while_the_server_was_asked_is_not_gone(bank: Bank, line: LyingTransport) -> None:
    def register() -> None:
        Bank.objects.get_or_register(server=bank.server, bank_id="new")

    line.before_call["GET"] = register
    probe(bank.server)
    assert Bank.objects.get(bank_id="new").gone_since is None
    probe(bank.server)
    assert Bank.objects.get(bank_id="new").gone_since is not None


def test_a_bank_that_went_while_the_server_was_asked_stays_gone(bank: Bank, line: LyingTransport) -> None:
    line.before_call["GET"] = lambda: Bank.objects.update(gone_since=timezone.now())
    probe(bank.server)
    bank.refresh_from_db()
    assert bank.gone_since is not None
    probe(bank.server)
    bank.refresh_from_db()
    assert bank.gone_since is None
