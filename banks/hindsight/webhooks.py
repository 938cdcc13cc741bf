"""Webhooks of a bank: where its server tells somebody that a retain or a consolidation has completed."""

from collections.abc import Sequence
from dataclasses import dataclass

from banks.hindsight import fields, ids
from banks.hindsight.calls import PAGE, Calls
from banks.hindsight.fields import Row
from banks.hindsight.walking import every_row


@dataclass(frozen=True, slots=True)
class WebhookRow:
    """As the server keeps it. It never gives the secret back."""

    id: str
    url: str
    events: list[str]
    enabled: bool

    @classmethod
    def parse(cls, row: Row) -> "WebhookRow":
        return cls(
            id=fields.required(row, "id"),
            url=fields.text(row, "url"),
            events=fields.texts(row, "event_types"),
            enabled=row.get("enabled") is not False,
        )


class WebhookCalls(Calls):
    """A server takes any name of an event, and never sends those that it does not know."""

    def list_webhooks(self, bank_id: str) -> list[WebhookRow]:
        """All of the bank's, ours and others'."""
        path = self._bank(bank_id, "webhooks")
        return every_row(
            lambda offset: self._page(path, "items", WebhookRow.parse, limit=PAGE, offset=offset), lambda row: row.id
        )

    def create_webhook(self, bank_id: str, *, url: str, secret: str, events: Sequence[str]) -> WebhookRow:
        """Not idempotent, and it creates a missing bank. Invalid: the server does not call this address."""
        body = {"url": url, "secret": secret, "event_types": list(events)}
        return self._parsed("POST", self._bank(bank_id, "webhooks"), WebhookRow.parse, body=body)

    def delete_webhook(self, bank_id: str, webhook_id: str) -> None:
        """NotFound when the server does not have it (any more)."""
        self._send("DELETE", ids.webhook_path(self._namespace, bank_id, webhook_id))
