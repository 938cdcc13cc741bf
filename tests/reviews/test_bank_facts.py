"""The facts of a bank: listed by its server, acted on as on a card."""

import json

import pytest
from django.test import Client

from banks import connections
from banks.fact_kinds import seen_hash
from banks.models import Bank, Write
from reviews.models import FactDecision, ReviewEntry
from tests import factories
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.known_failures.world import loaded, work_off
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)
ANN, BEN = "Ann keeps the ledger.", "Ben reads it."


def ids(bank: Bank, state: str = "valid") -> dict[str, str]:
    with connections.client_for(bank.server) as client:
        return {fact.text: fact.id for fact in client.list_facts(bank.bank_id, state=state, limit=500).items}


def listed(client: Client, bank: Bank, query: str = "") -> str:
    answer = client.get(f"/banks/{bank.pk}/facts/{query}", headers=HTMX)
    assert answer.status_code == 200
    return text_of(answer)


def act(client: Client, bank: Bank, what: str, said: str, **more: str):
    state = "invalidated" if what == "restore" else "valid"
    data = {"fact": ids(bank, state)[said], "seen": seen_hash(said), "document": "notes/a.md", **more}
    return client.post(f"/banks/{bank.pk}/facts/{what}/", data, headers=HTMX)


def test_the_page_brings_its_list_by_itself(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.viewer)
    page = text_of(client.get(f"/banks/{bank.pk}/facts/"))
    assert f'hx-get="/banks/{bank.pk}/facts/" hx-trigger="load"' in page
    assert "now=1" in page
    assert line.calls == []
    fragment = listed(client, bank)
    assert "<html" not in fragment
    assert ANN in fragment
    assert "2 facts" in fragment
    whole = text_of(client.get(f"/banks/{bank.pk}/facts/?now=1"))
    assert "<html" in whole
    assert ANN in whole


def test_state_type_and_text_are_asked_of_the_server(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    store(bank, "we", "We like tea. Ann likes tea.")
    client = as_user(people.viewer)
    assert "We like tea." in listed(client, bank, "?type=experience")
    assert ANN not in listed(client, bank, "?type=experience")
    assert "2 facts" in listed(client, bank, "?q=tea&type=world&state=valid") or "1 fact" in listed(
        client, bank, "?q=tea&type=world"
    )
    assert "Nothing is retired in this bank" in listed(client, bank, "?state=invalidated")
    assert "No fact matches." in listed(client, bank, "?q=unheard-of")
    assert "4 " in listed(client, bank, "?state=all&type=rumour") or "5 " in listed(
        client, bank, "?state=all&type=rumour"
    )


def test_a_fact_of_a_document_that_nobody_loaded_is_retired_edited_and_restored(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    client = as_user(people.reviewer)
    answer = act(client, bank, "retire", ANN, reason="she left")
    assert answer.status_code == 200
    assert "Retiring the fact." in text_of(answer)
    assert "retiring" in text_of(answer)
    work_off()
    assert ANN in ids(bank, "invalidated")
    decision = FactDecision.objects.get()
    assert (decision.document_id, decision.extracted.text, decision.reason) == ("notes/a.md", ANN, "she left")
    assert "she left" in listed(client, bank, "?state=invalidated")
    act(client, bank, "restore", ANN)
    work_off()
    assert set(ids(bank)) >= {ANN, BEN}
    form = text_of(client.get(f"/banks/{bank.pk}/facts/edit/?fact={ids(bank)[BEN]}"))
    assert BEN in form
    answer = act(client, bank, "edit", BEN, text="Ben audits it.")
    assert answer.status_code == 303
    work_off()
    assert "Ben audits it." in ids(bank)
    write = Write.objects.get(kind="edit-fact")
    assert (write.before.text, write.request.text) == (BEN, "Ben audits it.")
    assert {row["text"] for row in json.loads(write.facts_before.text)} == {ANN, BEN}


def test_which_of_several_facts_with_one_text_is_kept(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    store(bank, "twice", "Dan came. Ann left. Dan came.")
    with connections.client_for(bank.server) as client:
        twins = [
            fact for fact in client.list_facts(bank.bank_id, document_id="twice").items if fact.text == "Dan came."
        ]
    later = max(twins, key=lambda fact: fact.mentioned_at)
    data = {"fact": later.id, "seen": seen_hash(later.text), "document": "twice", "reason": "once is enough"}
    assert as_user(people.reviewer).post(f"/banks/{bank.pk}/facts/retire/", data).status_code == 303
    work_off()
    assert FactDecision.objects.get().occurrence == 1


def test_a_fact_on_a_card_goes_the_cards_way(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    entry = loaded(bank, "notes/a.md", f"{ANN} {BEN}")
    client = as_user(people.reviewer)
    assert f'href="/reviews/{entry.pk}/"' in listed(client, bank)
    act(client, bank, "retire", ANN, reason="she left")
    assert Write.objects.get(kind="retire").facts_before == ReviewEntry.objects.get().facts
    assert act(client, bank, "retire", ANN, reason="again").status_code == 409
    work_off()
    assert "retired by" in text_of(client.get(f"/reviews/{entry.pk}/"))


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"reason": "  "}, 422),
        ({"seen": seen_hash("Other."), "reason": "x"}, 409),
        ({"fact": "00000000-0000-4000-8000-000000000000", "reason": "x"}, 422),
        ({"fact": "../..", "reason": "x"}, 422),
        ({"fact": "", "reason": "x"}, 422),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_stored(bank, line, people, as_user, more, status) -> None:
    client = as_user(people.reviewer)
    answer = act(client, bank, "retire", ANN, **more)
    assert answer.status_code == status
    assert answer["HX-Retarget"] == "#facts-box"
    assert 'role="alert"' in text_of(answer)
    assert not Write.objects.exists()


def test_observations_show_their_sources_instead_of_buttons(bank, line, people, as_user) -> None:
    store(bank, "more", "Ann plays chess.")
    client = as_user(people.reviewer)
    page = listed(client, bank, "?type=observation")
    assert "cannot be retired itself" in page
    assert "Retire this fact" not in page
    assert "Show its 2 sources" in page
    observation = ids(bank)[next(text for text in ids(bank) if "ledger" in text and "chess" in text)]
    sources = text_of(client.get(f"/banks/{bank.pk}/facts/sources/?fact={observation}", headers=HTMX))
    assert ANN in sources
    assert "Ann plays chess." in sources
    data = {"fact": observation, "seen": "", "reason": "x"}
    for what in ("retire", "restore", "edit"):
        assert client.post(f"/banks/{bank.pk}/facts/{what}/", data).status_code in {409, 422}
    assert not Write.objects.exists()


def test_what_could_not_be_read_is_unknown(bank, line, people, as_user) -> None:
    client = as_user(people.viewer)
    line.cut_before += ["GET"]
    page = listed(client, bank)
    assert "Nothing is known of the facts just now" in page
    assert "Try again" in page
    assert "0 facts" not in page
    line.cut_after += ["GET"]
    assert "Nothing is known of the facts just now" in listed(client, bank)
    assert ANN in listed(client, bank)


def test_a_bank_that_is_gone_is_called_gone(bank, line, people, as_user) -> None:
    client = as_user(people.viewer)
    with connections.client_for(bank.server) as server:
        server.delete_bank(bank.bank_id)
    assert "no such bank" in listed(client, bank)


def test_while_nothing_has_changed_the_bank_is_not_asked(bank, line, people, as_user) -> None:
    client = as_user(people.reviewer)
    page = text_of(act(client, bank, "retire", ANN, reason="she left"))
    mark = page.partition("mark&quot;: &quot;")[2].partition("&quot;")[0]
    line.calls.clear()
    assert client.get(f"/banks/{bank.pk}/facts/?mark={mark}", headers=HTMX).status_code == 204
    assert line.calls == []
    work_off()
    page = text_of(client.get(f"/banks/{bank.pk}/facts/?mark={mark}", headers=HTMX))
    assert "every 2s" not in page


def test_who_may_only_look_has_no_buttons_and_strangers_no_page(bank, line, people, as_user) -> None:
    assert "Retire" not in listed(as_user(people.viewer), bank)
    assert as_user(people.stranger).get(f"/banks/{bank.pk}/facts/").status_code == 404
    assert act(as_user(people.viewer), bank, "retire", ANN, reason="x").status_code == 403
    assert act(as_user(people.stranger), bank, "retire", ANN, reason="x").status_code == 404
    for page in ("edit", "impact", "sources"):
        assert as_user(people.stranger).get(f"/banks/{bank.pk}/facts/{page}/?fact=x").status_code == 404
    assert "Policy" not in text_of(as_user(people.viewer).get(f"/banks/{bank.pk}/facts/"))
    assert "Policy" in text_of(as_user(people.owner).get(f"/banks/{bank.pk}/facts/"))


def test_hostile_texts_and_ids_stay_data(bank, line, people, as_user) -> None:
    store(bank, "\"'><b>x</b>", f"Ann says {XSS} to all.")
    assert_harmless(listed(as_user(people.reviewer), bank))
    assert_harmless(text_of(as_user(people.reviewer).get(f"/banks/{bank.pk}/facts/?q=<b>%00&type=x&page=-1&now=1")))


def test_queries_do_not_grow_with_the_page(bank, line, people, as_user, django_assert_max_num_queries) -> None:
    store(bank, "long", " ".join(f"Item {number} is kept." for number in range(60)))
    factories.make_entry(bank, "long")
    client = as_user(people.reviewer)
    listed(client, bank)
    with django_assert_max_num_queries(16):
        listed(client, bank)
