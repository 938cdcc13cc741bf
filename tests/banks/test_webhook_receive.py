"""What servers call: taken once and by its signature, answered without a page, a cookie or a call of ours."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from banks.models import Bank, BankNumbers, Webhook, WebhookDelivery
from banks.webhooks import receive
from tests import factories
from tests.banks.conftest import NOW, LyingTransport
from tests.banks.hooking import SECRET, body_of, deliver, make_hook, signed

State = WebhookDelivery.State


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def hook(clock: time_machine.Traveller, bank: Bank, line: LyingTransport) -> Webhook:
    return make_hook(bank)


def test_a_delivery_waits_for_a_look_at_its_document(hook: Webhook, line: LyingTransport) -> None:
    answer = deliver(body_of())
    assert (answer.status_code, answer.content, answer["Content-Type"]) == (
        200,
        b"stored\n",
        "text/plain; charset=utf-8",
    )
    row = WebhookDelivery.objects.get()
    assert (row.hook, row.event, row.document_id, row.signature) == (hook, "retain.completed", "notes/a.md", "v2")
    assert (row.state, row.look_after) == (State.WAITING, NOW + timedelta(minutes=30))
    hook.refresh_from_db()
    assert hook.heard_at == NOW
    assert line.calls == []  # the look is a worker's


def test_what_comes_again_is_known_and_nothing_follows(hook: Webhook) -> None:
    body = body_of()
    assert [deliver(body).content for _ in range(3)] == [b"stored\n", b"known\n", b"known\n"]
    row = WebhookDelivery.objects.get()
    assert (row.repeats, row.state) == (2, State.WAITING)


def test_the_same_event_under_another_delivery_id_is_known(hook: Webhook) -> None:
    """That header is not signed: changing it must not make a replay new."""

    raw = json.dumps(body_of()).encode()
    assert deliver(raw).content == b"stored\n"
    again = {**signed(raw), "X-Hindsight-Delivery-Id": "another"}
    assert deliver(raw, again).content == b"known\n"
    assert WebhookDelivery.objects.count() == 1


def test_without_any_id_the_body_itself_is_the_id(hook: Webhook) -> None:

    raw = json.dumps({**body_of(), "event_id": None}).encode()
    headers = {name: value for name, value in signed(raw).items() if "Delivery" not in name}
    assert [deliver(raw, headers).content for _ in range(2)] == [b"stored\n", b"known\n"]
    assert deliver(raw, {**headers, "X-Hindsight-Delivery-Id": "another"}).content == b"known\n"


@pytest.mark.parametrize(
    "how",
    [
        {"secret": "another"},
        {"versions": ""},
        {"at": NOW.timestamp() - 301},
        {"at": NOW.timestamp() + 301},
    ],
)
def test_a_bad_signature_stores_nothing_and_is_told_to_the_admins(hook: Webhook, how: dict[str, object]) -> None:
    assert deliver(body_of(), **how).status_code == 403  # type: ignore[arg-type]
    assert not WebhookDelivery.objects.exists()
    refusal = receive.last_refusal(hook)
    assert refusal is not None
    assert refusal[0] == NOW
    assert SECRET not in refusal[1]


def test_the_old_signature_alone_counts_while_its_body_is_new(hook: Webhook, clock: time_machine.Traveller) -> None:
    """Or else taking away the newer one would bring an old delivery through."""
    body = body_of()
    clock.shift(timedelta(hours=23))
    assert deliver(body, versions="v1").status_code == 200
    assert WebhookDelivery.objects.get().signature == "v1"
    clock.shift(timedelta(hours=2))
    assert deliver({**body, "event_id": "e2"}, versions="v1").status_code == 403
    assert deliver({**body, "event_id": "e3", "timestamp": None}, versions="v1").status_code == 403


@pytest.mark.parametrize(
    ("token", "removed"), [("another", False), ("a-token", True), ("a-tokem", False), ("x" * 500, False)]
)
def test_an_unknown_or_removed_webhook_takes_nothing(hook: Webhook, token: str, removed: bool) -> None:
    if removed:
        Webhook.objects.update(removed_at=timezone.now())
    assert deliver(body_of(), token=token).status_code == 404
    assert not WebhookDelivery.objects.exists()


def test_a_webhook_speaks_for_its_own_bank_alone(hook: Webhook) -> None:
    other = factories.make_bank("other")
    make_hook(other, "other-token")
    assert deliver(body_of(bank_id="other")).status_code == 200  # what the body says of banks is not read
    assert WebhookDelivery.objects.get().hook == hook


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"{", 400),
        (b"[1]", 400),
        (b"\xff\xfe", 400),
        (b"[" * 60_000, 400),
        (b'{"a": NaN}', 200),
        (b"{}", 200),
        (b'{"event": 5, "data": "x", "timestamp": 7, "event_id": {"a": 1}}', 200),
        (b'{"event": "retain.completed", "data": {"document_id": "a\\u0000b\\ud83d"}}', 200),
        (b'{"timestamp": "9999-99-99T99:99:99Z", "event": "' + b"e" * 5_000 + b'"}', 200),
    ],
)
def test_a_hostile_body_is_refused_or_means_nothing(hook: Webhook, raw: bytes, status: int) -> None:
    assert deliver(raw).status_code == status
    assert WebhookDelivery.objects.count() == (status == 200)


def test_how_much_comes_is_known_before_it_is_read(hook: Webhook) -> None:
    assert deliver(b" " * (receive.MOST_BYTES + 1)).status_code == 413
    client = Client()
    unmeasured = client.post("/hooks/hindsight/a-token", b"{}", content_type="application/json", CONTENT_LENGTH="")
    assert unmeasured.status_code == 411


def test_it_is_only_ever_posted_to_and_never_redirects(hook: Webhook) -> None:
    client = Client()
    refused = client.get("/hooks/hindsight/a-token")
    assert (refused.status_code, refused["Allow"], bool(client.cookies)) == (405, "POST", False)
    assert client.post("/hooks/hindsight/a-token/", b"{}", content_type="application/json").status_code == 404


def test_an_event_without_a_document_has_the_list_looked_at(hook: Webhook, bank: Bank) -> None:
    Bank.objects.update(poll_after=NOW + timedelta(minutes=5))
    deliver(body_of(document_id=None))
    row = WebhookDelivery.objects.get()
    assert (row.state, row.look_after) == (State.DONE, None)
    bank.refresh_from_db()
    assert bank.poll_after == NOW


def test_where_new_documents_are_not_reviewed_nothing_waits(hook: Webhook) -> None:
    Bank.objects.update(polled=False)
    deliver(body_of())
    row = WebhookDelivery.objects.get()
    assert (row.state, row.look_after) == (State.DONE, None)
    assert "policy" in row.outcome


def test_after_a_consolidation_the_banks_numbers_are_read_soon(hook: Webhook, bank: Bank) -> None:
    later = timezone.now() + timedelta(minutes=5)
    numbers = BankNumbers.objects.create(bank=bank, read_after=later)
    deliver(body_of("consolidation.completed", document_id=None), {})  # not signed
    numbers.refresh_from_db()
    assert numbers.read_after == later
    deliver(body_of("consolidation.completed", document_id=None))
    numbers.refresh_from_db()
    assert timezone.now() < numbers.read_after < timezone.now() + timedelta(minutes=1)
    assert WebhookDelivery.objects.get().state == State.DONE


def test_numbers_that_are_due_are_not_put_off(hook: Webhook, bank: Bank) -> None:
    numbers = BankNumbers.objects.create(bank=bank, read_after=timezone.now())
    deliver(body_of("consolidation.completed", document_id=None))
    numbers.refresh_from_db()
    assert numbers.read_after == timezone.now()


def test_a_session_that_is_stored_again_is_looked_at_once(hook: Webhook, clock: time_machine.Traveller) -> None:
    for turn in range(3):
        clock.shift(timedelta(minutes=1))
        deliver(body_of(event_id=f"e{turn}"))
    waiting = WebhookDelivery.objects.filter(state=State.WAITING)
    assert [row.event_id for row in waiting] == ["e2"]
    assert WebhookDelivery.objects.filter(state=State.DONE).count() == 2


def test_old_deliveries_are_forgotten(hook: Webhook, clock: time_machine.Traveller) -> None:
    deliver(body_of(document_id=None))
    clock.shift(timedelta(days=31))
    deliver(body_of(document_id=None, event_id="e2"))
    assert receive.forget() == 1
    assert receive.forget() == 0
