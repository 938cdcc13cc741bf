"""Rules of bounded output that hold for every input and every way of cutting it into chunks."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memadmin.retention import ItemRetainer, TextRetainer

caps = st.integers(0, 40)
alphabet = st.sampled_from("ab é€日😀\u200d\ufeff\r\n" + "\U0001f468")
texts = st.one_of(st.text(alphabet, max_size=40), st.text(max_size=40))
raw = st.one_of(texts.map(lambda text: text.encode("utf-8", "replace")), st.binary(max_size=60))


@st.composite
def retainers(draw: st.DrawFn) -> list[TextRetainer]:
    """Two of the same."""
    kind = draw(st.sampled_from(["head", "tail", "head_tail"]))
    stop = draw(st.sampled_from(["stop_when_full", "read_to_end"])) if kind == "head" else "read_to_end"
    if kind == "head_tail":
        arguments = {"head_bytes": draw(caps), "tail_bytes": draw(caps)}
    else:
        arguments = {"max_bytes": draw(caps)}
    return [TextRetainer(kind, stop=stop, **arguments) for _ in range(2)]  # type: ignore[arg-type]


def room(retainer: TextRetainer) -> int:
    return retainer._prefix_cap + retainer._suffix_cap


@given(retainers(), raw, st.lists(st.integers(0, 60), max_size=6))
def test_any_chunking_gives_the_same(two: list[TextRetainer], data: bytes, cuts: list[int]) -> None:
    whole, pieces = two
    whole.push(data)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut <= len(data))})
    for start, end in pairwise(edges):
        pieces.push(memoryview(data)[start:end])
    assert whole.finish() == pieces.finish()


@pytest.mark.parametrize(
    "view",
    [
        memoryview(b"a-b-c-d")[::2],
        memoryview(b"dcba")[::-1],
        memoryview(b"abcd").cast("I"),
        memoryview(b"abcd").cast("B", (2, 2)),
    ],
)
def test_views_count_in_bytes_however_they_lie(view: memoryview) -> None:
    retainer = TextRetainer("head", max_bytes=3)
    retainer.push(view)
    found = retainer.finish()
    assert (found.text, found.omitted.count) == ("abc", 1)


@given(retainers(), raw)
def test_kept_and_omitted_are_all_that_was_seen(two: list[TextRetainer], data: bytes) -> None:
    retainer = two[0]
    retainer.push(data)
    found = retainer.finish()
    kept = len(data) - (found.omitted.count or 0)
    assert 0 <= kept <= room(retainer) or not found.truncated
    assert found.truncated == (len(data) > room(retainer))
    assert (found.omitted.count is None) == (not found.truncated)


@given(retainers(), texts)
def test_valid_text_gets_no_replacement_character_and_stays_within_the_caps(two: list[TextRetainer], text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    retainer = two[0]
    retainer.push(text)
    found = retainer.finish()
    assert found.text.count("\ufffd") <= text.count("\ufffd")
    assert len(found.text.encode()) + (found.omitted.count or 0) == len(text.encode())
    assert text.startswith(found.head)
    assert text.endswith(found.tail)
    if found.truncated:
        assert len(found.text.encode()) <= room(retainer)


@given(retainers(), raw)
def test_what_fits_comes_back_as_it_was(two: list[TextRetainer], data: bytes) -> None:
    retainer = two[0]
    retainer.push(data)
    found = retainer.finish()
    if not found.truncated:
        assert (found.text, found.tail) == (data.decode("utf-8", "replace"), "")


@given(caps, st.lists(st.integers(), max_size=60), st.sampled_from(["stop_when_full", "read_to_end"]))
def test_items_add_up(cap: int, items: list[int], stop: str) -> None:
    retainer: ItemRetainer[int] = ItemRetainer(cap, stop=stop)  # type: ignore[arg-type]
    decisions = [retainer.push(item) for item in items]
    found = retainer.finish()
    assert found.items == items[:cap]
    assert found.kept + (found.omitted.count or 0) == found.seen == len(items)
    assert [decision.should_stop for decision in decisions] == [
        stop == "stop_when_full" and number >= cap for number in range(len(items))
    ]


@given(caps, raw)
def test_a_head_or_a_tail_of_nothing_is_the_other_alone(cap: int, data: bytes) -> None:
    for pair in (
        (TextRetainer("head_tail", head_bytes=0, tail_bytes=cap), TextRetainer("tail", max_bytes=cap)),
        (TextRetainer("head_tail", head_bytes=cap, tail_bytes=0), TextRetainer("head", max_bytes=cap)),
    ):
        results = []
        for retainer in pair:
            retainer.push(data)
            results.append((retainer.finish().text, retainer.finish().omitted))
        assert results[0] == results[1]


def test_memory_is_bounded_by_the_caps_and_one_chunk() -> None:
    chunk = b"x" * 65_536
    for retainer in (
        TextRetainer("tail", max_bytes=100_000),
        TextRetainer("head_tail", head_bytes=50_000, tail_bytes=50_000),
        TextRetainer("head", max_bytes=100_000),
    ):
        tracemalloc.start()
        for _ in range(500):
            retainer.push(chunk)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 * (100_000 + len(chunk))
        assert retainer.finish().omitted.count == 500 * 65_536 - 100_000
