"""Rows and looks for tests about operations."""

from typing import Any
from uuid import uuid4

from django.utils import timezone

from banks import connections
from banks.hindsight import Operation
from banks.models import Bank, OperationLook, OperationSeen
from banks.operations import look


def looked(bank: Bank) -> str:
    """Reads the bank's operations now, whenever it was done before."""
    OperationLook.objects.filter(bank=bank).update(look_after=timezone.now())
    return look.look(bank.pk)


def rows_of(bank: Bank) -> dict[str, OperationSeen]:
    return {row.operation_id: row for row in bank.operations.all()}


def on_server(bank: Bank, operation_id: str) -> Operation:
    with connections.client_for(bank.server) as client:
        return client.get_operation(bank.bank_id, operation_id)


def make_operation(bank: Bank, status: str = "pending", **values: Any) -> OperationSeen:
    """As a look stores it; it was looked at just now."""
    now = timezone.now()
    OperationLook.objects.get_or_create(bank=bank, defaults={"looked_at": now, "look_after": now})
    phases = {"completed": "ended", "cancelled": "ended", "failed": "failed", "not_found": "gone"}
    return OperationSeen.objects.create(
        **{
            "bank": bank,
            "operation_id": str(uuid4()),
            "type": "retain",
            "status": status,
            "raw_status": "pending" if status == "retrying" else status,
            "phase": phases.get(status, "open"),
            "document_id": "notes/a.md",
            "items": 1,
            "began": now,
            "moved_at": now,
            "still_since": now,
            "changed_at": now,
            **values,
        }
    )
