"""Reports about the health of a bank, as a worker would have stored them."""

from typing import Any

from django.utils import timezone

from banks.models import Bank
from reviews.models import HealthReport


def report_of(bank: Bank, **numbers: Any) -> HealthReport:
    """As if it had been counted."""
    told = {
        "total": 200,
        "read": 200,
        "facts": 180,
        "proofs": 200,
        "spread": False,
        "stopped": "",
        "groups": 2,
        "retired": 20,
        "waiting": 9,
        "consolidates": True,
        "types": {"world": 180, "observation": 20},
        "alike": {"groups": 1, "compared": 170, "drawn": 170},
        "languages": {"set": "en", "own": "en", "read": 180, "mix": {"en": 120, "ru": 40}, "why": ""},
        "counts": {"one-proof": 186, "same": 10, "foreign": 40, "no-context": 45, "not-consolidated": 90},
    }
    return HealthReport.objects.create(bank=bank, asked_by="Mira", taken=timezone.now(), numbers={**told, **numbers})
