"""Restoring what an agent's log says was retired: per fact, in the order of the file, and confirmed by the bank."""

import json
from collections import Counter
from pathlib import Path

import pytest
from django.conf import LazySettings

from banks import connections, log_index, writes
from banks.models import Bank, Blob, Write
from banks.selectors_facts import standing, still_retired
from banks.writes.kind import document_slot
from reviews.errors import TooLate
from reviews.models import FactDecision
from reviews.services.facts import restore_row
from tests import factories
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.reviews.log_files import CUT, DATA, KILL_A, KILL_B, import_log, restore, retained, retire, rows
from tests.reviews.pages import text_of

__all__ = ["line"]  # the fixture

GOLDEN = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("*.json"))]


@pytest.fixture(autouse=True)
def uploads(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


def facts_in(line: LyingTransport, bank: Bank) -> tuple[str, str]:
    """Ids of a fact that the bank has retired, and of one that is valid."""
    with connections.client_for(bank.server) as client:
        away, here = (fact.id for fact in client.list_facts(bank.bank_id, state="valid").items[:2])
        client.patch_fact(bank.bank_id, away, state="invalidated", reason="q")
    line.calls.clear()
    return away, here


def run_all(made: list[Write]) -> None:
    for write in made:
        while writes.run(write.pk) == "moved":
            pass
        write.refresh_from_db()


def open_of(*wanted: Write) -> list[list[str]]:
    found = still_retired(wanted)
    return [found.get(row.pk, []) for row in wanted]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_what_can_be_restored(case: dict, bank: Bank, people: People) -> None:
    """As the tool does, but for one thing: what a later line restored is not restored for ever again."""
    import_log(case["input"]["lines"], people.reviewer, bank)
    newest_first = list(reversed(rows()))
    theirs = [each["restoreCalls"] for each in case["expected"]["restorable"]]
    if case["name"] == "restore-again":
        theirs[1] = []
    assert open_of(*newest_first) == theirs


def test_the_last_line_that_names_a_fact_says_what_it_is(bank: Bank, people: People) -> None:
    lines = [retire(KILL_A, KILL_B), restore(KILL_A), retire(KILL_A), restore(KILL_B, ts="2020-01-01T00:00:00Z")]
    import_log(lines, people.reviewer, bank)
    first, _, second, _ = rows()
    assert open_of(first, second) == [[], ["fact-a"]]  # the order of the file counts, not the times in it
    assert standing([first, second]).restorable == {second.pk}


def test_a_part_that_was_restored_leaves_the_rest(bank: Bank, people: People) -> None:
    import_log([retire(KILL_A, KILL_B), restore(KILL_B)], people.reviewer, bank)
    row, _ = rows()
    assert [each.fact_ids for each in restore_row(user=people.reviewer, write_id=row.pk)] == [["fact-a"]]
    with pytest.raises(TooLate, match="is being restored"):
        restore_row(user=people.reviewer, write_id=row.pk)


def test_another_bank_is_another_fact(bank: Bank, people: People) -> None:
    other = factories.make_bank()
    import_log([retire(KILL_A)], people.operator, bank)
    import_log([retire(KILL_A), restore(KILL_A)], people.operator, other)
    assert open_of(rows()[0], rows()[1]) == [["fact-a"], []]


def test_a_longer_copy_of_the_file_closes_the_row(bank: Bank, people: People) -> None:
    import_log([retire(KILL_A)], people.reviewer, bank)
    assert standing(rows()).restorable
    import_log([retire(KILL_A), restore(KILL_A)], people.reviewer, bank)
    assert not standing(rows()).restorable
    with pytest.raises(TooLate, match="by later rows"):
        restore_row(user=people.reviewer, write_id=rows()[0].pk)


def test_a_restore_of_ours_counts_where_it_is_later(bank: Bank, people: People) -> None:
    import_log([retire(KILL_A, KILL_B)], people.reviewer, bank)
    (row,) = rows()
    of_a, of_b = restore_row(user=people.reviewer, write_id=row.pk)
    refused = {"fact-b": "It is no longer in the bank."}
    Write.objects.filter(pk=of_a.pk).update(state="cancelled", outcome={"restored": ["fact-a"]})
    Write.objects.filter(pk=of_b.pk).update(state="cancelled", outcome={"restored": [], "refused": refused})
    assert open_of(row) == [["fact-b"]]
    Write.objects.filter(pk=of_a.pk).update(occurred_at=row.occurred_at.replace(year=2020))
    assert open_of(row) == [["fact-a", "fact-b"]]


def test_a_claim_closes_no_row_of_ours(bank: Bank, people: People) -> None:
    import_log([retire(KILL_A)], people.reviewer, bank)
    ours = Write.objects.create(
        kind="retire",
        bank=bank,
        via="web",
        state="done",
        slot="s",
        fact_ids=["fact-a"],
        outcome={"retired": ["fact-a"]},
    )
    log_index.note([(ours.pk, ours.fact_ids)])
    import_log([retire(KILL_A), restore(KILL_A, ts=None)], people.reviewer, bank)
    assert open_of(ours, rows()[0]) == [["fact-a"], []]


def test_the_button_restores_in_the_bank_and_calls_no_valid_fact(
    bank: Bank, people: People, line: LyingTransport, as_user
) -> None:
    away, here = facts_in(line, bank)
    import_log([retire({**KILL_A, "id": away}, {**KILL_B, "id": here})], people.reviewer, bank)
    (row,) = rows()
    client = as_user(people.reviewer)
    assert f"/log/{row.pk}/restore/" in text_of(client.get("/log/"))
    assert client.post(f"/log/{row.pk}/restore/").status_code == 303
    made = list(Write.objects.filter(kind="restore", actor=people.reviewer).order_by("pk"))
    assert [(write.fact_ids, write.undo_of) for write in made] == [([away], row), ([here], row)]
    run_all(made)
    assert [(write.state, write.outcome["restored"]) for write in made] == [("done", [away]), ("done", [])]
    assert made[1].outcome["not_called"] == [here]
    patched = [path for method, path in line.calls if method == "PATCH"]
    assert len(patched) == 1
    assert patched[0].endswith(away)
    assert f"/log/{row.pk}/restore/" not in text_of(client.get("/log/"))


def of_two_documents(line: LyingTransport, bank: Bank) -> tuple[list[str], list[str]]:
    """Ids of two retired facts of a document, and of one of another."""
    with connections.client_for(bank.server) as client:
        facts = client.list_facts(bank.bank_id, state="valid", limit=200).items
        facts = [fact for fact in facts if not fact.is_observation and fact.document_id]
        number = Counter(fact.document_id for fact in facts)
        first = next(name for name, many in number.items() if many > 1)
        ones = [fact.id for fact in facts if fact.document_id == first][:2]
        other = [fact.id for fact in facts if fact.document_id != first][:1]
        for fact_id in [*ones, *other]:
            client.patch_fact(bank.bank_id, fact_id, state="invalidated", reason="q")
    line.calls.clear()
    return ones, other


def test_each_document_has_a_row_and_each_fact_its_documents_slot(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    store(bank, "notes/b.md", "Carl plants a tree. Dora waters it.")
    ones, other = of_two_documents(line, bank)
    import_log([retire(*({**KILL_A, "id": each} for each in [ones[0], *other, ones[1]]))], people.reviewer, bank)
    made = restore_row(user=people.reviewer, write_id=rows()[0].pk)
    assert [write.fact_ids for write in made] == [[ones[0]], other, [ones[1]]]
    run_all(made)
    assert [write.outcome["restored"] for write in made] == [[ones[0]], other, [ones[1]]]
    assert made[0].slot == made[2].slot != made[1].slot
    assert all(write.slot == document_slot(bank, write.document_id) for write in made)


def test_facts_whose_document_is_known_share_a_row(bank: Bank, people: People, line: LyingTransport) -> None:
    text = Blob.objects.store("The exporter runs.")
    for number, (fact_id, document_id) in enumerate([("f1", "doc-a"), ("f2", "doc-b"), ("f3", "doc-a")]):
        FactDecision.objects.create(
            bank=bank,
            fact_id=fact_id,
            document_id=document_id,
            document_hash=Write.hash_of(document_id),
            extracted=text,
            occurrence=number,
            verdict="retired",
        )
    import_log([retire(*({**KILL_A, "id": each} for each in ("f1", "f2", "f3", "f4")))], people.reviewer, bank)
    made = restore_row(user=people.reviewer, write_id=rows()[0].pk)
    assert [(write.document_id, write.fact_ids) for write in made] == [
        ("doc-a", ["f1", "f3"]),
        ("doc-b", ["f2"]),
        ("", ["f4"]),
    ]


def test_a_refused_fact_stops_its_own_row_and_can_be_tried_again(
    bank: Bank, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("banks.fact_kinds.AWAY_PAUSE", 0)
    away, _ = facts_in(line, bank)
    missing = "00000000-0000-0000-0000-000000000000"
    import_log([retire({**KILL_A, "id": missing}, {**KILL_B, "id": away})], people.reviewer, bank)
    (row,) = rows()
    made = restore_row(user=people.reviewer, write_id=row.pk)
    with pytest.raises(TooLate, match="is being restored"):
        restore_row(user=people.reviewer, write_id=row.pk)
    run_all(made)
    assert [(write.state, write.outcome["restored"]) for write in made] == [("attention", []), ("done", [away])]
    Write.objects.filter(pk=made[0].pk).update(state="cancelled")
    assert open_of(row) == [[missing]]
    assert [each.fact_ids for each in restore_row(user=people.reviewer, write_id=row.pk)] == [[missing]]


def test_what_the_bank_does_not_have_is_never_called_restored(
    bank: Bank, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("banks.fact_kinds.AWAY_PAUSE", 0)
    facts_in(line, bank)
    import_log([retire({**KILL_A, "id": "00000000-0000-0000-0000-000000000000"})], people.reviewer, bank)
    (write,) = restore_row(user=people.reviewer, write_id=rows()[0].pk)
    writes.run(write.pk)
    write.refresh_from_db()
    assert (write.state, write.outcome["restored"]) == ("attention", [])
    assert "no longer in the bank" in write.error_text


def test_claims_make_no_decision_even_when_they_are_restored(bank: Bank, people: People, line: LyingTransport) -> None:
    away, _ = facts_in(line, bank)
    import_log([retire({"id": away, "quote": "q", "text": CUT})], people.reviewer, bank)
    (write,) = restore_row(user=people.reviewer, write_id=rows()[0].pk)
    while writes.run(write.pk) == "moved":
        pass
    assert not [each for each in FactDecision.objects.all() if each.extracted.text == CUT]


def test_the_list_offers_no_way_to_put_an_imported_text_back(bank: Bank, people: People, as_user) -> None:
    import_log([retained(CUT), retained("- Ann pays.")], people.reviewer, bank)
    client = as_user(people.owner)
    for row in rows():
        assert "/put-back/" not in text_of(client.get(f"/log/{row.pk}/"))
        assert client.post(f"/log/{row.pk}/put-back/").status_code == 404
