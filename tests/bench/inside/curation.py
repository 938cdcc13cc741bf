"""Decisions about facts: many restored at once by the door, and many people at one fact."""

import json
import queue
import threading
import time
from collections import Counter
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from banks import jobs
from banks.fact_kinds import seen_hash
from banks.hindsight import Fact, HindsightClient
from banks.models import Bank, Blob, Server, Write
from banks.writes import worker
from memadmin.accounts.models import User
from reviews.curation import archive
from reviews.models import FactDecision, ReviewEntry
from reviews.selectors.retired_filters import RetiredFilters
from tests import factories
from tests.racing import at_once

WORKERS = 4  # as many calls as the door has in flight for one server
TEXT = "Ann keeps the ledger."
_called: Counter[str] = Counter()


def prepare(url: str, key: str, bank_id: str, facts: list[list[str]]) -> None:
    """A desk that knows these retired facts, [id, document, text] each, of a bank on a server that is there."""
    User.objects.create_user(username="root", password="a long enough password", is_superuser=True)
    server = Server.objects.create(name="measured", base_url=url, health=Server.Health.OK)
    server.api_key = key
    server.save()
    bank = Bank.objects.create(server=server, bank_id=bank_id, bank_hash=Bank.hash_of(bank_id))
    for fact_id, document_id, text in facts:
        FactDecision.objects.create(
            bank=bank,
            document_id=document_id,
            document_hash=Write.hash_of(document_id),
            fact_id=fact_id,
            extracted=Blob.objects.store(text),
            verdict=FactDecision.Verdict.RETIRED,
            reason="it died",
        )
    settings.CURATION_CALLS_PER_SERVER = WORKERS
    _count_calls()


def _count_calls() -> None:
    original = HindsightClient.patch_fact

    def counted(self: HindsightClient, bank_id: str, fact_id: str, **more: Any) -> Fact:
        fact = original(self, bank_id, fact_id, **more)
        _called[fact_id] += 1  # what the server refused did nothing
        return fact

    HindsightClient.patch_fact = counted  # type: ignore[method-assign]


def restore() -> dict[str, Any]:
    """All that are retired, as from the archive: seconds until the last is confirmed, and what became of them."""
    FactDecision.objects.update(verdict=FactDecision.Verdict.RETIRED, restored_at=None, gone_since=None)
    before = Write.objects.count()
    _called.clear()
    start = time.perf_counter()
    job = archive.start_restore(user=User.objects.get(username="root"), filters=RetiredFilters.parse({}))
    jobs.run(job.pk)
    _work_off()
    taken = time.perf_counter() - start
    states = Counter(Write.objects.order_by("pk").values_list("state", flat=True)[before:])
    return {"seconds": taken, "states": states, "repeated": sum(number - 1 for number in _called.values())}


def _work_off() -> None:
    """What the processes of the door do, as threads."""
    rows: queue.SimpleQueue[int] = queue.SimpleQueue()
    for pk in Write.objects.filter(state__in=Write.OPEN).order_by("pk").values_list("pk", flat=True):
        rows.put(pk)

    def work() -> None:
        while True:
            try:
                pk = rows.get_nowait()
            except queue.Empty:
                break
            worker.run(pk)
            if Write.objects.filter(pk=pk, state__in=Write.OPEN).exists():
                Write.objects.filter(pk=pk).update(not_before=timezone.now())
                rows.put(pk)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def edit_at_once(people: int) -> dict[str, int]:
    """{answer: how often} of so many edits of one fact at the same instant, each by a signed-in person of their own."""
    bank = Bank.objects.first() or factories.make_bank()
    row = {"id": "f1", "text": TEXT, "type": "world", "state": "valid"}
    entry = factories.make_entry(bank, facts=Blob.objects.store(json.dumps([row])))
    clients = [_signed_in(number) for number in range(people)]
    acts = [partial(_edit, client, entry, number) for number, client in enumerate(clients)]
    answers = at_once(*acts, often_switched=False)
    return dict(Counter(str(answer) for answer in answers))


def _edit(client: Client, entry: ReviewEntry, number: int) -> int:
    data = {"fact": "f1", "seen": seen_hash(TEXT), "text": f"Editor {number} keeps the ledger."}
    return client.post(f"/reviews/{entry.pk}/facts/edit/", data).status_code


def _signed_in(number: int) -> Client:
    client = Client(raise_request_exception=False)  # an error page is counted as what it is
    client.force_login(User.objects.get_or_create(username=f"editor{number}", is_superuser=True)[0])
    return client
