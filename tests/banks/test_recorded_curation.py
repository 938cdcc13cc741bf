"""What another tool sends to retire and restore a fact, recorded; and which of its successes are none with us."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import transaction

from banks import connections, fact_kinds
from banks.models import Bank, Write
from banks.writes import record, run
from tests import factories

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data/golden/50-http-invalidate-restore.json").read_text(encoding="utf-8")
)
KINDS = {"invalidate": "retire", "restore": "restore"}
BEFORE = {"invalidate": "valid", "restore": "invalidated"}


class OneFact(httpx.BaseTransport):
    """A server with one fact, that answers a PATCH with one status and does what that says."""

    def __init__(self, state: str, status: int) -> None:
        self.state, self.status = state, status
        self.patches: list[dict[str, Any]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PATCH":
            body = json.loads(request.content)
            self.patches.append({"method": "PATCH", "url": str(request.url), "body": body})
            if self.status != 200:
                return httpx.Response(self.status, json={"detail": "no"})
            self.state = body["state"]
        fact = {"id": "mem-1", "text": "Ann pays.", "type": "world", "state": self.state, "document_id": "d"}
        return httpx.Response(200, json={"items": [fact], "total": 1} if "/list" in request.url.path else fact)


@pytest.fixture
def bank(db: None) -> Bank:
    server = factories.make_server(base_url="http://localhost:8888")
    return factories.make_bank(RECORDED["input"]["bankId"], server=server)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("row", RECORDED["expected"]["rows"], ids=lambda row: f"{row['op']}-{row['status']}")
def test_the_same_call_and_only_what_was_done_counts(
    row: dict[str, Any], bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_kinds, "AWAY_PAUSE", 0.0)
    there = OneFact(BEFORE[row["op"]], row["status"])
    monkeypatch.setitem(connections.TRANSPORTS, bank.server.base_url, there)
    with transaction.atomic():
        write = record(
            kind=KINDS[row["op"]], bank=bank, via=Write.Via.API, document_id="d", fact_ids=["mem-1"],
            params={"reason": "the quote"} if row["op"] == "invalidate" else {},
        )  # fmt: skip
    run(write.pk)
    write.refresh_from_db()
    assert there.patches[0] == row["request"]
    done = write.outcome.get("retired" if row["op"] == "invalidate" else "restored", [])
    assert done == (["mem-1"] if row["status"] == 200 else [])
    if row["status"] in {400, 404}:  # the other tool takes these for success
        assert (row["error"], write.state) == ("", Write.State.ATTENTION)
