"""What of an answer a job keeps: plain values in bounds, for the pages that show it."""

from typing import Any

from banks.fact_kinds import seen_hash
from banks.hindsight import Hit, Recalled, Reflection, Source, Trace
from banks.recall.asked import Asked
from banks.recall.block import INJECTED, Fate, RecallBlock, render
from memadmin.retention import head_of

HITS, TEXT, NAMES = 200, 4_000, 20  # hits; bytes of one text; entities and tags of one
BLOCK = 100_000  # bytes
LEFT_OUT, LEFT_OUT_TEXT = 50, 600
PARTS = 40  # searches and steps of a trace
ANSWER, SOURCES = 200_000, 200


def of_recall(asked: Asked, told: Recalled, took: float) -> dict[str, Any]:
    """{sent, hits, omitted, joined, block, block_cut, trace, ignored, took}; `took` in seconds, as we waited.

    joined: facts of the block that have several lines, which stand on one there.
    """
    block = render(asked.query, [hit.fact.text for hit in told.hits], most=asked.lines)
    ranks = told.trace.ranks if told.trace else {}
    both = list(zip(told.hits, block.fates, strict=True))
    hits = [_hit(hit, fate, ranks) for hit, fate in both[:HITS]]
    return {
        "sent": True,
        "hits": hits,
        "omitted": len(told.hits) - len(hits),
        "joined": sum(_has_lines(hit) for hit, fate in both if fate.kind == INJECTED),
        "trace": _trace(told.trace, told.hits) if told.trace else None,
        "ignored": [name[:100] for name in told.ignored_params[:NAMES]],
        "took": round(took, 3),
        **_block(block),
    }


def of_nothing(block: RecallBlock) -> dict[str, Any]:
    """Where the bank was not asked."""
    bare = {"sent": False, "hits": [], "omitted": 0, "joined": 0, "trace": None, "ignored": [], "took": 0.0}
    return bare | _block(block)


def of_reflect(told: Reflection, took: float) -> dict[str, Any]:
    """{text, cut, sources, omitted, tokens, asked, took}; `sources` None: the server did not say."""
    answer = head_of(told.text, ANSWER)
    sources = None if told.sources is None else [_source(each) for each in told.sources[:SOURCES]]
    return {
        "text": answer.text,
        "cut": answer.truncated,
        "sources": sources,
        "omitted": len(told.sources or []) - len(sources or []),
        "tokens": told.tokens,
        "asked": [[tool[:60], head_of(words, LEFT_OUT_TEXT).text] for tool, words in told.asked[:PARTS]],
        "took": round(took, 3),
    }


def _source(source: Source) -> dict[str, Any]:
    return {
        "kind": source.kind,
        "id": source.id[:300],
        "text": head_of(source.text, TEXT).text,
        "type": source.type[:40],
        "document": source.document_id,
    }


def _block(block: RecallBlock) -> dict[str, Any]:
    text = head_of(block.text, BLOCK)
    return {"block": text.text, "block_cut": text.truncated}


def _hit(hit: Hit, fate: Fate, ranks: dict[str, dict[str, int]]) -> dict[str, Any]:
    """With the names that lists of facts use. `seen`: of all of its text, which acts on the fact carry."""
    fact, text = hit.fact, head_of(hit.fact.text, TEXT)
    return {
        "id": fact.id,
        "text": text.text,
        "cut": text.truncated,
        "seen": seen_hash(fact.text),
        "type": fact.type[:40],
        "document_id": fact.document_id,
        "entities": [name[:200] for name in fact.entities[:NAMES]],
        "tags": [tag[:200] for tag in fact.tags[:NAMES]],
        "mentioned_at": fact.mentioned_at.isoformat() if fact.mentioned_at else None,
        "source_fact_ids": fact.source_fact_ids[:SOURCES],
        "scores": dict(list(hit.scores.items())[:NAMES]),
        "ranks": ranks.get(fact.id, {}),
        "fate": [fate.kind, fate.place],
    }


def _trace(trace: Trace, hits: list[Hit]) -> dict[str, Any]:
    gone = _left_out(trace, hits)
    return {
        "seconds": trace.seconds,
        "visited": trace.visited,
        "searches": [[each.method[:60], each.type[:40], each.found, each.seconds] for each in trace.searches[:PARTS]],
        "steps": [[name[:60], seconds] for name, seconds in trace.steps[:PARTS]],
        "left_out": gone[:LEFT_OUT],
        "left_out_count": len(gone),
        "replaced_count": sum(each["instead"] > 0 for each in gone),
    }


def _left_out(trace: Trace, hits: list[Hit]) -> list[dict[str, Any]]:
    """{text, place, instead} of what the searches found and the answer has not: its place among all that was found;
    the number of the hit that is an observation made from it, or 0."""
    there = {hit.fact.id for hit in hits}
    made = dict[str, int]()
    for number, hit in enumerate(hits, 1):
        for source in hit.fact.source_fact_ids if hit.fact.is_observation else ():
            made.setdefault(source, number)
    return [
        {"text": head_of(text, LEFT_OUT_TEXT).text, "place": place, "instead": made.get(fact, 0)}
        for place, (fact, text) in enumerate(trace.merged.items(), 1)
        if fact not in there
    ]


def _has_lines(hit: Hit) -> bool:
    return len(hit.fact.text.strip().splitlines()) > 1
