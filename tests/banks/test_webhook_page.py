"""The webhook of a bank: registered and removed by its admins through the door, its secret never shown."""

from typing import Any

import pytest

from banks import crypto
from banks.demo import DemoServer
from banks.models import Bank, Webhook, WebhookDelivery, Write
from banks.services import webhooks
from banks.services.refusal import Refusal
from banks.writes import worker
from tests.banks.admin_pages import SignIn, get, post, text_after
from tests.banks.conftest import LyingTransport, store
from tests.banks.hooking import body_of, deliver, make_hook
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)
BASE = "http://127.0.0.1:8700"
State = Write.State


@pytest.fixture(autouse=True)
def public(settings: Any) -> None:
    settings.PUBLIC_URL = BASE


def send() -> Write:
    write = Write.objects.order_by("-pk")[0]
    worker.run(write.pk)
    write.refresh_from_db()
    return write


def registered(people: People, bank: Bank) -> Webhook:
    hook = webhooks.register(actor=people.owner, bank=bank, base=BASE)
    assert send().state == State.DONE
    hook.refresh_from_db()
    return hook


def test_an_admin_registers_it_and_the_server_calls(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport
) -> None:
    client = as_user(people.owner)
    page = text_after(client, post(client, "bank-webhook-register", bank.pk))
    assert "being registered" in page
    assert line.calls == []  # a row, and nothing else
    write = send()
    assert (write.kind, write.actor, write.state) == ("webhook-add", people.owner, State.DONE)
    hook = Webhook.objects.get()
    assert hook.registered_at is not None
    assert hook.address == f"{BASE}/hooks/hindsight/{hook.token}"
    heard = sent_by(line.server, bank)
    assert {row.event for row in heard} == {"retain.completed", "consolidation.completed"}
    page = text_of(get(client, "bank-webhook", bank.pk))
    assert "notes/c.md" in page
    kept = [str(row) for model in (Write, Webhook, WebhookDelivery) for row in model.objects.values()]
    for text in (page, *kept, text_of(get(client, "write-detail", write.pk))):
        assert hook.secret not in text


def sent_by(server: DemoServer, bank: Bank) -> list[WebhookDelivery]:
    """Lets the demo server store something and call us for it."""

    def call(url: str, headers: dict[str, str], body: bytes) -> int:
        answer = deliver(body, {k: v for k, v in headers.items() if k.startswith("X-")}, token=url.rpartition("/")[2])
        assert url.startswith(BASE)
        return answer.status_code

    store(bank, "notes/c.md", "Ann keeps the books. Ann counts them.")
    assert server.deliver(call) >= 2
    assert server.deliver(call) == 0  # each was taken
    return list(WebhookDelivery.objects.all())


def test_a_lost_answer_registers_it_once(bank: Bank, people: People, line: LyingTransport) -> None:
    hook = webhooks.register(actor=people.owner, bank=bank, base=BASE)
    line.cut_after.append("POST")
    assert send().state == State.UNKNOWN
    Write.objects.update(not_before=hook.created)
    assert send().state == State.DONE
    assert line.sent("POST") == 1
    hook.refresh_from_db()
    assert hook.registered_at is not None


def test_a_server_that_refuses_the_address_says_so_on_the_page(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://memadmin.example.org"
    client = as_user(people.owner)
    post(client, "bank-webhook-register", bank.pk)
    assert send().state == State.ATTENTION
    page = text_of(get(client, "bank-webhook", bank.pk))
    assert "not an allowed destination" in page
    assert Webhook.objects.get().registered_at is None


def test_no_bank_is_created_by_it(bank: Bank, people: People, line: LyingTransport) -> None:
    Bank.objects.update(bank_id="nowhere", bank_hash=Bank.hash_of("nowhere"))
    bank.refresh_from_db()
    webhooks.register(actor=people.owner, bank=bank, base=BASE)
    assert send().state == State.ATTENTION
    assert line.sent("POST") == 0


def test_removing_takes_effect_at_once_and_tells_the_server(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport
) -> None:
    hook = registered(people, bank)
    client = as_user(people.owner)
    assert "has no webhook" in text_after(client, post(client, "bank-webhook-remove", bank.pk))
    assert deliver(body_of(), token=hook.token).status_code == 404  # before the server has heard of it
    write = send()
    assert (write.kind, write.state, line.sent("DELETE")) == ("webhook-remove", State.DONE, 1)
    with pytest.raises(Refusal):
        webhooks.remove(actor=people.owner, bank=bank)
    again = registered(people, bank)
    assert (again.secret != hook.secret, again.token != hook.token) == (True, True)


def test_one_at_a_time(bank: Bank, people: People, line: LyingTransport) -> None:
    make_hook(bank)
    with pytest.raises(Refusal, match="has a webhook already"):
        webhooks.register(actor=people.owner, bank=bank, base=BASE)
    assert not Write.objects.exists()


def test_what_was_removed_before_it_was_registered_is_not_registered(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    webhooks.register(actor=people.owner, bank=bank, base=BASE)
    webhooks.remove(actor=people.owner, bank=bank)
    for write in Write.objects.order_by("pk"):
        worker.run(write.pk)
    assert {write.state for write in Write.objects.all()} == {State.DONE}
    assert (line.sent("POST"), line.sent("DELETE")) == (0, 0)


def test_a_secret_of_a_lost_key_is_said_and_takes_nothing(
    bank: Bank, people: People, as_user: SignIn, line: LyingTransport, settings: Any
) -> None:
    make_hook(bank)
    settings.ENCRYPTION_KEYS = ["another key"]
    with pytest.raises(crypto.CannotDecrypt):
        _ = Webhook.objects.get().secret
    assert deliver(body_of()).status_code == 503
    assert "encryption key that is gone" in text_of(get(as_user(people.owner), "bank-webhook", bank.pk))


def test_it_is_the_admins_alone(bank: Bank, people: People, as_user: SignIn, line: LyingTransport) -> None:
    for user, status in ((people.reviewer, 403), (people.viewer, 403), (people.stranger, 404)):
        client = as_user(user)
        assert get(client, "bank-webhook", bank.pk).status_code == status
        for act in ("bank-webhook-register", "bank-webhook-remove"):
            assert post(client, act, bank.pk).status_code == status
    assert (Webhook.objects.count(), Write.objects.count(), line.calls) == (0, 0, [])


def test_hostile_ids_are_text_and_the_list_is_paged(bank: Bank, people: People, as_user: SignIn) -> None:
    hook = make_hook(bank)
    rows = [
        WebhookDelivery(
            hook=hook, delivery_id=f"d{number}", event_id=f"e{number}", event=XSS[:60], document_id=XSS, signature="v2"
        )
        for number in range(60)
    ]
    WebhookDelivery.objects.bulk_create(rows)
    client = as_user(people.owner)
    page = text_of(get(client, "bank-webhook", bank.pk))
    assert_harmless(page)
    last = WebhookDelivery.objects.order_by("-pk")[49]
    assert f'href="?before={last.pk}' in page
    assert 'href="?before=' not in text_of(get(client, "bank-webhook", bank.pk, before=last.pk))
