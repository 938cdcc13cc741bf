"""What goes with a deleted bank, so that the next one of its id has none of it, and what rests until there is one."""

import pytest
from django.utils import timezone

from banks.blocks import agents, frozen
from banks.blocks.markers import FACTS
from banks.mental import acts
from banks.mental.looking import seen_of
from banks.models import Bank, FrozenBlock, ModelPin, RecallCheck, Server, Write
from banks.reading import Unread
from banks.recall import checks
from banks.recall.selectors import is_asking, lost_for
from banks.whole import acts as whole
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import make_model, work
from tests.banks.recalling import save
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


def anew(bank: Bank) -> Bank:
    return Bank.objects.select_related("server").get(pk=bank.pk)


def deleted(bank: Bank, people: People) -> Bank:
    whole.delete(actor=people.owner, bank=bank, typed=bank.bank_id, documents=None)
    work(bank)
    assert Write.objects.get(kind="bank-delete").state == Write.State.DONE
    return anew(bank)


def test_pins_and_blocks_end_with_the_bank(bank: Bank, line: LyingTransport, people: People) -> None:
    model = make_model(bank)
    pinned = acts.pin(user=people.owner, bank=bank, model_id="m1", seen=seen_of(model))
    work(bank)
    frozen.block_for(user=people.viewer, bank=bank, marker=FACTS, epoch="1")
    assert agents.block_of(bank).block.text
    bank = deleted(bank, people)
    assert not ModelPin.objects.filter(ended=None).exists()
    assert not FrozenBlock.objects.exists()
    pinned.refresh_from_db()
    assert pinned.after is not None
    assert pinned.after.text == model.content  # the log keeps it
    store(bank, "notes/b.md", "Zoe likes tea.")  # another bank of this id
    make_model(bank)
    assert acts.texts_of(bank) == {}
    Server.objects.filter(pk=bank.server_id).update(health=Server.Health.REFUSED)
    with pytest.raises(Unread):
        agents.block_of(anew(bank))


def test_saved_queries_rest_until_a_bank_of_its_id_is_there(bank: Bank, line: LyingTransport, people: People) -> None:
    check = save(people.reviewer, bank)
    deleted(bank, people)
    RecallCheck.objects.update(run_after=timezone.now())
    check = RecallCheck.objects.select_related("bank__server").get()
    assert (checks.due(), is_asking(check), bool(lost_for(people.viewer))) == ([], False, False)
    store(bank, "notes/b.md", "Zoe likes tea.")
    Bank.objects.filter(pk=bank.pk).update(gone_since=None)  # as the next look at the server does
    assert checks.due() == [check.pk]
    assert checks.run(check.pk) == "lost"
    assert lost_for(people.viewer).facts == 1
