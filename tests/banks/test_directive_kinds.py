"""Directives through the door: decided on what was seen, read back after, and never made twice."""

from typing import Any

import pytest
from django.db import transaction

from banks import connections
from banks.directive_kinds import fingerprint
from banks.hindsight import Directive
from banks.models import Bank, Blob, Write
from banks.writes import record, run
from tests.banks.conftest import NOW, LyingTransport

pytestmark = pytest.mark.django_db(transaction=True)

REST: dict[str, Any] = {"name": "Polite", "priority": 5, "is_active": True, "tags": ["team:core"]}
TEXT = "Always be polite."


def act(kind: str, bank: Bank, *, text: str = "", **params: Any) -> Write:
    with transaction.atomic():
        request = Blob.objects.store(text) if text else None
        write = record(kind=kind, bank=bank, via=Write.Via.WEB, request=request, params=params)
    for _ in range(4):
        Write.objects.filter(pk=write.pk, state__in=Write.OPEN).update(not_before=NOW)
        run(write.pk)
    write.refresh_from_db()
    return write


def create(bank: Bank) -> Write:
    return act("directive-create", bank, text=TEXT, name="Polite", changes=REST)


def there(bank: Bank) -> list[Directive]:
    with connections.client_for(bank.server) as client:
        return client.all_directives(bank.bank_id)


@pytest.fixture
def polite(bank: Bank, line: LyingTransport) -> Directive:
    with connections.client_for(bank.server) as client:
        made = client.create_directive(bank.bank_id, {**REST, "content": TEXT})
    line.calls.clear()
    return made


def named(directive: Directive, **more: Any) -> dict[str, Any]:
    return {"directive": directive.id, "name": directive.name, "seen": fingerprint(directive), **more}


def test_one_is_created_with_everything_that_was_said(bank: Bank, line: LyingTransport) -> None:
    write = create(bank)
    (made,) = there(bank)
    assert (write.state, write.outcome["directive"], write.outcome["about"]) == (Write.State.DONE, made.id, "Polite")
    assert (made.content, made.priority, made.active, made.tags) == (TEXT, 5, True, ["team:core"])


def test_a_lost_answer_is_looked_for_in_the_list(bank: Bank, line: LyingTransport, polite: Directive) -> None:
    line.cut_after.append("POST")
    write = create(bank)
    assert (write.state, line.sent("POST")) == (Write.State.DONE, 1)
    assert {each.id for each in there(bank)} == {polite.id, write.outcome["directive"]}


def test_what_never_arrived_is_sent_again(bank: Bank, line: LyingTransport, polite: Directive) -> None:
    """Another that is the same was there before: it is not taken for this one."""
    line.cut_before.append("POST")
    write = create(bank)
    assert write.state == Write.State.DONE
    assert write.outcome["directive"] != polite.id
    assert len(there(bank)) == 2


def test_nothing_is_created_in_a_bank_that_is_gone(bank: Bank, line: LyingTransport) -> None:
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    write = create(bank)
    assert (write.state, line.sent("POST")) == (Write.State.ATTENTION, 0)
    assert "no longer on its server" in write.error_text


def test_only_what_changes_is_sent(bank: Bank, line: LyingTransport, polite: Directive) -> None:
    write = act("directive-edit", bank, **named(polite, changes={"is_active": False}))
    (now,) = there(bank)
    assert (write.state, write.outcome["said"]) == (Write.State.DONE, "off")
    assert (now.active, now.content, now.name) == (False, TEXT, "Polite")
    write = act("directive-edit", bank, text="Be brief.", **named(now, changes={"priority": 1}))
    assert (write.state, write.outcome["said"]) == (Write.State.DONE, "text, priority")
    assert there(bank)[0].content == "Be brief."


@pytest.mark.parametrize("kind", ["directive-edit", "directive-delete"])
def test_what_was_changed_since_is_left_alone(bank: Bank, line: LyingTransport, polite: Directive, kind: str) -> None:
    with connections.client_for(bank.server) as client:
        client.patch_directive(bank.bank_id, polite.id, {"content": "Be rude."})
    line.calls.clear()
    write = act(kind, bank, **named(polite, changes={"priority": 1}))
    assert write.state == Write.State.CHANGED
    assert line.sent("PATCH") + line.sent("DELETE") == 0
    assert there(bank)[0].content == "Be rude."


def test_a_lost_answer_to_an_edit_is_read_back(bank: Bank, line: LyingTransport, polite: Directive) -> None:
    line.cut_after.append("PATCH")
    write = act("directive-edit", bank, **named(polite, changes={"name": "Kind"}))
    assert (write.state, line.sent("PATCH")) == (Write.State.DONE, 1)


def test_a_server_that_says_yes_and_does_nothing_is_found_out(
    bank: Bank, line: LyingTransport, polite: Directive, monkeypatch: pytest.MonkeyPatch
) -> None:
    from banks.hindsight import HindsightClient

    monkeypatch.setattr(HindsightClient, "patch_directive", lambda *args: polite)
    write = act("directive-edit", bank, **named(polite, changes={"name": "Kind"}))
    assert write.state == Write.State.ATTENTION
    assert "not as it was sent: name" in write.error_text


def test_one_is_deleted_once(bank: Bank, line: LyingTransport, polite: Directive) -> None:
    line.cut_after.append("DELETE")
    write = act("directive-delete", bank, **named(polite))
    assert (write.state, line.sent("DELETE"), there(bank)) == (Write.State.DONE, 1, [])
    write = act("directive-delete", bank, **named(polite))
    assert (write.state, write.outcome["already_gone"], line.sent("DELETE")) == (Write.State.DONE, True, 1)
