"""POST /facts/retire: candidates only, on evidence, through the door."""

import json
from typing import Any

import pytest

from banks import connections, fact_kinds
from banks.hindsight import Fact
from banks.models import Bank, Role, Server, Write
from banks.writes import run
from reviews.models import FactDecision
from tests import factories
from tests.api.asking import Program, issue
from tests.banks.conftest import LyingTransport, store
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
TRANSCRIPT = "ann: Ann does not keep the ledger any more, she left.\nben: ok, and nobody reads it now."
QUOTE = "Ann does not keep the ledger any more"
GONE = "00000000-0000-4000-8000-000000000000"
OTHER = "and nobody reads it now."


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_kinds, "AWAY_PAUSE", 0.0)


@pytest.fixture
def facts(bank: Bank, line: LyingTransport) -> list[Fact]:
    found = in_bank(bank)
    line.calls.clear()
    return found


def in_bank(bank: Bank, state: str = "valid") -> list[Fact]:
    with connections.client_for(bank.server) as client:
        found = client.list_facts(bank.bank_id, document_id="notes/a.md", state=state).items
    return sorted(found, key=lambda fact: fact.text)


def verdict(fact_id: str, quote: str = QUOTE) -> dict[str, str]:
    return {"verdict": "contradicts", "id": fact_id, "quote": quote}


def body(bank: Bank, facts: list[Any], *verdicts: Any, **more: Any) -> dict[str, Any]:
    candidates = [{"id": each.id, "text": each.text} if isinstance(each, Fact) else each for each in facts]
    return {
        "bank": bank.bank_id, "transcript": TRANSCRIPT, "candidates": candidates, "verdicts": list(verdicts), **more
    }  # fmt: skip


def work_off() -> None:
    for _ in range(3):
        for write in Write.objects.filter(state__in=Write.OPEN).order_by("pk"):
            run(write.pk)


def test_a_contradicted_fact_is_retired_with_the_quote_as_its_reason(
    bank: Bank, people: People, program: Program, facts: list[Fact], line: LyingTransport
) -> None:
    answer = program.post("/facts/retire", body(bank, facts, verdict(facts[0].id)))
    assert answer.status_code == 202
    assert line.calls == []  # nothing is asked of the bank while the program waits
    done, left = answer.json()["results"]
    assert (done["id"], done["accepted"], done["why"]) == (facts[0].id, True, "")
    assert left == {"id": facts[1].id, "accepted": False, "why": "No verdict was given for it.", "write": None}
    write = Write.objects.get(pk=done["write"])
    assert (write.kind, write.via, write.actor, write.token.name) == ("retire", "api", people.reviewer, "agent")  # type: ignore[union-attr]
    work_off()
    retired = in_bank(bank, "invalidated")
    assert [(fact.id, fact.invalidation_reason) for fact in retired] == [(facts[0].id, QUOTE)]
    told = program.get(f"/writes/{write.pk}").json()
    assert (told["state"], told["facts"][0]["result"], told["document_id"]) == ("done", "changed", "notes/a.md")
    assert (told["token"], told["who"], told["reason"]) == ("agent", "Mira Kovač", QUOTE)


def test_it_waits_in_the_slot_of_its_document_and_is_remembered(
    bank: Bank, program: Program, facts: list[Fact]
) -> None:
    """The program knows the fact's id alone; the door learns the document, and the decision lasts."""
    candidates = [{"id": fact.id} for fact in facts]
    program.post("/facts/retire", body(bank, candidates, verdict(facts[0].id), verdict(facts[1].id, OTHER)))
    first, second = Write.objects.order_by("pk")
    assert (first.document_id, first.slot != second.slot) == ("", True)
    assert first.group == second.group != None  # noqa: E711
    assert run(second.pk) == run(first.pk) == "moved"
    for write in (first, second):
        write.refresh_from_db()
        assert (write.document_id, write.document_hash) == ("notes/a.md", Write.hash_of("notes/a.md"))
    assert first.slot == second.slot
    assert run(second.pk) == "not due"  # the first one is before it
    work_off()
    assert len(in_bank(bank, "invalidated")) == 2
    decision = FactDecision.objects.get(fact_id=facts[0].id)
    assert (decision.verdict, decision.reason, decision.user_name) == ("retired", QUOTE, "Mira Kovač")
    assert (decision.extracted.text, decision.document_id) == (facts[0].text, "notes/a.md")
    again = program.post("/facts/retire", body(bank, candidates, verdict(facts[0].id))).json()["results"][0]
    assert (again["accepted"], again["why"]) == (False, "It is retired already.")


def test_a_reply_is_taken_as_the_model_gave_it_and_must_be_pure_json(
    bank: Bank, program: Program, facts: list[Fact]
) -> None:
    reply = json.dumps({"verdicts": [verdict(facts[0].id), {"verdict": "new", "id": facts[1].id, "quote": OTHER}]})
    asked = {**body(bank, facts), "verdicts": None}
    done, left = program.post("/facts/retire", {**asked, "reply": f"  {reply}\n"}).json()["results"]
    assert (done["accepted"], left["why"]) == (True, "The verdict is not “contradicts”.")
    for bad in (f"```json\n{reply}\n```", "Sure, retire it.", '{"verdicts": {}}'):
        answer = program.post("/facts/retire", {**asked, "reply": bad})
        assert answer.status_code == 422
        assert "Nothing was retired." in answer.json()["detail"]
    for both in ({"reply": reply, "verdicts": []}, {"reply": None, "verdicts": None}):
        assert program.post("/facts/retire", {**asked, **both}).status_code == 422
    assert Write.objects.count() == 1


def test_only_candidates_with_evidence(bank: Bank, program: Program, facts: list[Fact]) -> None:
    strange = {"id": "..", "text": ""}
    observed = {"id": "o1", "type": "observation"}
    verdicts = [verdict(facts[0].id, "she left for another company"), verdict("f9"), verdict(".."), verdict("o1")]
    results = program.post("/facts/retire", body(bank, [facts[0], strange, observed], *verdicts)).json()["results"]
    assert [each["accepted"] for each in results] == [False, False, False]
    assert results[0]["why"] == "The quote is not in the transcript."
    assert "observation" in results[2]["why"]
    assert not Write.objects.exists()


def test_one_refusal_does_not_stop_the_others(
    bank: Bank, program: Program, facts: list[Fact], line: LyingTransport
) -> None:
    """What the program says about types is not believed: the door looks before it calls."""
    store(bank, "notes/b.md", "Ann keeps the ledger. Ann leads the team. Ann was hired in May.")
    with connections.client_for(bank.server) as client:
        observation = next(each for each in client.list_facts(bank.bank_id).items if each.is_observation)
    changed = {"id": facts[1].id, "text": "It says something else now."}
    asked = [{"id": observation.id}, {"id": GONE}, changed, facts[0]]
    verdicts = [verdict(each) for each in (observation.id, GONE, facts[1].id, facts[0].id)]
    results = program.post("/facts/retire", body(bank, asked, *verdicts)).json()["results"]
    assert [each["accepted"] for each in results] == [True] * 4
    work_off()
    told = [program.get(f"/writes/{each['write']}").json() for each in results]
    assert [each["state"] for each in told] == ["attention", "attention", "changed", "done"]
    assert [each["facts"][0]["result"] for each in told] == ["refused", "refused", "untried", "changed"]
    assert line.sent("PATCH") == 1
    assert [fact.id for fact in in_bank(bank, "invalidated")] == [facts[0].id]


def test_what_is_too_much_is_refused_and_nothing_is_done(bank: Bank, program: Program, settings: Any) -> None:
    many = [{"id": f"f{number}"} for number in range(201)]
    for wrong, status in (
        (body(bank, many), 422),
        (body(bank, []), 422),
        (body(bank, [{"id": ""}]), 422),
        ({**body(bank, many[:1]), "transcript": "x" * 2_000_001}, 422),
        ({**body(bank, many[:1]), "verdicts": [{}] * 501}, 422),
    ):
        answer = program.post("/facts/retire", wrong)
        assert answer.status_code == status
        assert answer.json()["fields"][0]["path"].startswith("body.")
    settings.API_MAX_BYTES = 1_000
    answer = program.post("/facts/retire", body(bank, many))
    assert (answer.status_code, "at most 1000 bytes" in answer.json()["detail"]) == (413, True)
    assert not Write.objects.exists()


def test_whose_role_is_too_low_and_which_bank(bank: Bank, people: People) -> None:
    asked = body(bank, [{"id": "f1"}], verdict("f1"))
    assert Program(issue(people.viewer, role=Role.ADMIN)).post("/facts/retire", asked).status_code == 403
    assert Program(issue(people.owner, role=Role.VIEWER)).post("/facts/retire", asked).status_code == 403
    other = factories.make_bank("elsewhere", server=bank.server)
    factories.grant(people.reviewer, other, Role.ADMIN)
    assert Program(issue(people.reviewer, banks=[other])).post("/facts/retire", asked).status_code == 404
    slash = factories.make_bank("org/user", server=bank.server)
    factories.grant(people.reviewer, slash, Role.ADMIN)
    answer = Program(issue(people.reviewer)).post("/facts/retire", body(slash, [{"id": "f1"}], verdict("f1")))
    assert (answer.status_code, "slash" in answer.json()["detail"]) == (422, True)
    twin = factories.make_bank(bank.bank_id, server=Server.objects.create(name="other", base_url="http://o.test"))
    factories.grant(people.reviewer, twin, Role.REVIEWER)
    answer = Program(issue(people.reviewer)).post("/facts/retire", asked)
    assert (answer.status_code, len(answer.json()["servers"])) == (409, 2)
    assert not Write.objects.exists()
