"""What the tests of webhooks share: a webhook of ours, and deliveries as a server signs them."""

import hashlib
import json
import time
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from banks.models import Bank, Webhook
from banks.webhooks import signing

SECRET = "s3cret-of-this-hook"


def make_hook(bank: Bank, token: str = "a-token", **values: Any) -> Webhook:
    hook = Webhook(bank=bank, token=token, address=f"http://127.0.0.1:8700/hooks/hindsight/{token}", **values)
    hook.registered_at = timezone.now()
    hook.secret = SECRET
    hook.save()
    return hook


def body_of(event: str = "retain.completed", document_id: str | None = "notes/a.md", **more: Any) -> dict[str, Any]:
    """As servers send it (Hindsight 1.1.0)."""
    return {
        "event_id": "0a0110ee-f3b1-4bc7-a0f6-3c6659e725f1",
        "event": event,
        "bank_id": "checkout-service",
        "operation_id": "c7585a2220da438482e8ba297f269c7b",
        "status": "completed",
        "timestamp": timezone.now().isoformat().replace("+00:00", "Z"),
        "data": {"document_id": document_id, "memory_unit_count": 1},
        **more,
    }


def signed(raw: bytes, *, secret: str = SECRET, at: float | None = None, versions: str = "v1 v2") -> dict[str, str]:
    """The headers of a delivery."""
    moment = int(time.time() if at is None else at)
    headers = {
        "X-Hindsight-Event": "retain.completed",
        "X-Hindsight-Delivery-Id": hashlib.sha256(raw).hexdigest()[:32],
    }
    if "v1" in versions.split():
        headers["X-Hindsight-Signature"] = f"sha256={signing.v1_of(secret, raw)}"
    if "v2" in versions.split():
        headers["X-Hindsight-Signature-V2"] = f"t={moment},v1={signing.v2_of(secret, raw, moment)}"
    return headers


def deliver(
    body: dict[str, Any] | bytes, headers: dict[str, str] | None = None, *, token: str = "a-token", **signing_: Any
) -> HttpResponse:
    """A delivery as a server makes it: no session, no CSRF token."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = signed(raw, **signing_) if headers is None else headers
    client = Client(enforce_csrf_checks=True)
    answer = client.post(f"/hooks/hindsight/{token}", raw, content_type="application/json", headers=given)
    assert not client.cookies
    return answer  # type: ignore[return-value]
