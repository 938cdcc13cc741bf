"""What the health of a bank rests on: each fact says in a list what is counted, and the counters say the rest."""

from reviews.health import reading
from reviews.health.tally import EDITED, NO_CONTEXT, NO_METADATA, SAME, Tally


def test_a_server_tells_of_each_fact_what_is_counted(bank):
    told = {"context": "retro", "metadata": {"source": "pi"}}
    bank.store("a", "Alice works at Acme. Alice joined Globex on 2024-05-01.", **told)
    bank.store("b", "Alice works at Acme. Bob keeps the ledger of Acme.")
    bank.quiet()
    kept = bank.facts("b")
    bank.client.patch_fact(bank.id, kept["Bob keeps the ledger of Acme."], text="Bob keeps the ledgers of Acme.")
    bank.client.patch_fact(bank.id, bank.facts("a")["Alice works at Acme."], state="invalidated", reason="left")
    bank.quiet()
    counted = Tally()
    said = reading.read(bank.client, bank.id, counted, lambda done, total: None)
    assert said.total == counted.read == counted.with_proofs
    assert counted.facts == 3
    assert (said.retired, said.stopped) == (1, "")
    assert said.waiting is not None  # how many, is for its consolidation to say
    assert (counted.counts[NO_CONTEXT], counted.counts[NO_METADATA]) == (2, 2)
    assert (counted.counts[EDITED], counted.counts[SAME]) == (1, 0)


def test_a_part_of_a_long_list_is_read_with_the_same_calls(bank, monkeypatch):
    monkeypatch.setattr(reading, "PAGE", 2)
    monkeypatch.setattr(reading, "MOST", 4)
    bank.store("a", " ".join(f"Alice met person number {number}." for number in range(12)))
    bank.quiet()
    counted = Tally()
    said = reading.read(bank.client, bank.id, counted, lambda done, total: None)
    assert said.spread
    assert counted.read in (4, 5, 6)
    assert said.total >= 12
