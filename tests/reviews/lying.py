"""A server whose list of documents does not say what it should."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx

from banks.models import Bank


@dataclass
class Lists(httpx.BaseTransport):
    """A server with nothing but a list of documents, {id: (written, hash)}, and what is wrong with it."""

    bank: Bank
    documents: dict[str, tuple[datetime, str]] = field(default_factory=dict)
    total: int | None = None
    cap: int = 1_000  # rows of a page, at most
    ignores_offset: bool = False
    endless: bool = False
    ahead: timedelta = timedelta(0)
    fails_from: int | None = None  # offset
    claims: list[bool] = field(default_factory=list)  # whether the bank was claimed, at each call

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.claims.append(Bank.objects.filter(pk=self.bank.pk, poll_claimed_until__isnull=False).exists())
        limit, offset = min(int(request.url.params["limit"]), self.cap), int(request.url.params["offset"])
        if self.fails_from is not None and offset >= self.fails_from:
            return httpx.Response(500, json={"detail": "boom"})
        rows = sorted(self.documents.items(), key=lambda each: each[1][0], reverse=True)
        found = rows[:limit] if self.ignores_offset else rows[offset : offset + limit]
        if self.endless:
            found = [(f"{name} {offset}", values) for name, values in rows[:limit]]
        items = [{"id": name, "updated_at": at.isoformat(), "content_hash": text} for name, (at, text) in found]
        answer: dict[str, Any] = {"items": items, "total": len(rows) if self.total is None else self.total}
        date = datetime.now(tz=UTC) + self.ahead
        return httpx.Response(200, json=answer, headers={"date": format_datetime(date, usegmt=True)})
