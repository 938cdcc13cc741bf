"""Text search: the same expectations on whichever database the suite runs on."""

import sys
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banks.models import Bank, Role
from memadmin import fulltext, terms
from reviews import search
from reviews.models import ReviewEntry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import XSS, assert_harmless, text_of
from tests.reviews.queue_files import URL, add, import_lines

# (document id, text, what is typed, found?)
CASES = [
    ("a.md", "The staging database moved to port 5433.", "database port", True),
    ("a.md", "The staging database moved to port 5433.", "DATABASE  moved", True),
    ("a.md", "The staging database moved to port 5433.", "database harbour", False),
    ("a.md", "The staging database moved to port 5433.", "staging data", True),
    ("a.md", "The staging database moved to port 5433.", "data staging", False),
    ("a.md", "The staging database moved to port 5433.", "atabase", False),
    ("a.md", "The staging database moved to port 5433.", '"moved to port"', True),
    ("a.md", "The staging database moved to port 5433.", '"to moved"', False),
    ("a.md", "The staging database moved to port 5433.", '"moved to po"', False),
    ("a.md", "The staging database moved to port 5433.", '"moved to po', True),
    ("a.md", "The staging database moved to port 5433.", "“moved to port” staging", True),
    ("a.md", "The staging database moved to port 5433.", 'port "the staging"', True),
    ("notes/2026-03-02.md", "Nothing.", "notes/2026-03-02.md", True),
    ("notes/2026-03-02.md", "Nothing.", "notes/2026-03", True),
    ("notes/2026-03-02.md", "Nothing.", "2026-03-02", True),
    ("notes/2026-03-02.md", "Nothing.", "notes/2026-02-03.md", False),
    ("notes/2026-03-02.md", "Nothing.", "nothing notes", True),
    ("notes/2026-03-02.md", "Nothing.", '"md nothing"', False),
    ("session:abc", "Nothing.", "session:abc", True),
    ("session:abc", "Nothing.", "session:xyz", False),
    ("foo_bar", "Nothing.", "foo_bar", True),
    ("foo_bar", "Nothing.", "bar", True),
    ("C:\\Users\\ann\\o'brien.md", "Nothing.", "C:\\Users\\ann\\o'brien", True),
    ("->", "Nothing.", "->", True),
    ("a.md", "An arrow -> here.", "->", False),
    ("a%b_c", "Nothing.", "%", True),
    ("a.md", "Nothing.", "%", False),
    ("a.md", "It is written in C++ and C#.", "C++", True),
    ("a.md", "It is written in C++17.", "c++", True),
    ("a.md", "It is written in C++ and C#.", "c#", True),
    ("a.md", "It is written in Cobol, not in C.", "C++", False),
    ("a.md", "It is written in C++.", "c written", False),
    ("a.md", "Cats and dogs, not near each other.", "cats AND dogs", True),
    ("a.md", "Cats, dogs.", "cats AND dogs", False),
    ("a.md", "Cats, dogs.", "cats OR birds", False),
    ("a.md", "Cats, dogs.", "NOT cats", False),
    ("a.md", "Cats, dogs.", "cats -dogs", True),
    ("a.md", "Cats, dogs.", "ca*", True),
    ("a.md", "Cats, dogs.", "words:cats", False),
    ("a.md", "Настройки хранятся в файле Журнал.md", "журнал", True),
    ("a.md", "Настройки хранятся в файле", "НАСТРОЙКИ хран", True),
    ("a.md", "Ещё один мой счёт", "еще счет", True),
    ("a.md", "мои", "мой", False),
    ("a.md", "Das Müller-Café in der Straße", "muller cafe strasse", True),
    ("a.md", "Das Muller-Cafe", "Müller", True),
    ("a.md", "cafe\u0301 crème", "café", True),
    ("a.md", "İstanbul'da ΣΊΣΥΦΟΣ", "istanbul σίσυφος", True),
    ("a.md", "ﬁle ＦＵＬＬ ½ ①", "file full", True),
    ("a.md", "pass\u200bword re\u00adset", "password reset", True),
    ("a.md", "東京都の天気は晴れです。", "天気", True),
    ("a.md", "東京都の天気は晴れです。", "東京 晴れ", True),
    ("a.md", "東京都の天気は晴れです。", "京東", False),
    ("a.md", "データベースの設定", "ベース", True),
    ("a.md", "서울에서 만나요", "서울", True),
    ("a.md", "ภาษาไทยไม่มีช่องว่าง", "ไทย", True),
    ("a.md", "हिन्दी में की और कि", "हिन्दी कि", True),
    ("a.md", "كَتَبَ الطالب", "كتب", True),
    ("a.md", "line one\r\n\tline\x00two", "one line", True),
    ("a.md", f"sha256 {'ab' * 32}", "ab" * 10, True),
    ("a.md", "x" * 3000, "x" * 2500, True),
]
NASTY = [
    *('"', '""', '"""', '"a', 'a"', '"a" "', "'", "''", "a'b", "\\", "\\'", "'\\", "a\\", "\\x", "(", ")", "()", "((a"),
    *("*", "a*", "*a", "a**", "^a", "a ^b", "-", "--", "- a", "+", "+a", "a + b", "NEAR", "NEAR(a b)", "NEAR/3", "AND"),
    *("OR", "NOT", "AND OR NOT", "a AND", "AND a", "a OR", "NOT NOT", ":", "a:", ":a", "words:a", "rowid:1", "{a b}:c"),
    *("a:*", "a:b*c", "!", "!a", "a & b", "a | b", "a <-> b", "<2>", "a<->", "&", "|", "%", "%%", "%s", "%(a)s", "_"),
    *(";", "; DROP TABLE reviews_search", "/* a */", "-- a", "$1", "?", "?1", ":a", "@a", "a\nb", "\t", " ", "\x01"),
    *(
        "\u202e",
        "\u200b",
        "\u0301",
        "\ue000",
        "\ufffd",
        "\ufeff",
        "🚀",
        "🚀 go",
        "a" * 200,
        "a " * 100,
        "天" * 200,
        "'" * 200,
    ),
    *("'" * 200, "１２", "½", "ß", "İ", "ﷺ" * 200, "…", "“", "„a“", "«a»", "C++", "++", "#", "c+++", "c##", "c#c++"),
]


def found(query: str) -> set[int]:
    return set(ReviewEntry.objects.filter(search.matching(query)).values_list("pk", flat=True))


@pytest.mark.parametrize(("document_id", "text", "query", "expected"), CASES)
def test_what_is_found(document_id: str, text: str, query: str, expected: bool, bank: Bank) -> None:
    entry = factories.make_entry(bank, document_id, text=text)
    factories.make_entry(bank, "another", text="Other.")
    assert found(query) == ({entry.pk} if expected else set())


def test_nothing_that_is_typed_is_an_error(bank: Bank, people: People, as_user) -> None:
    factories.make_entry(bank, "notes/a.md", text="a b")
    client = as_user(people.reviewer)
    for query in [*NASTY, XSS]:
        found(query)
        found(f"notes {query}")
        answer = client.get("/reviews/", {"q": query})
        assert answer.status_code == 200, query
        assert_harmless(text_of(answer))


@pytest.mark.parametrize("query", ["\x00", "\ud800", "a\x00b", "a\udfff", ""])
def test_what_no_database_can_store_can_be_asked_for(query: str, bank: Bank) -> None:
    entry = factories.make_entry(bank, "a b.md")
    assert found(query) == (set() if query in {"\x00", "\ud800"} else {entry.pk})


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=200), st.text(alphabet="ab\"'*:()^-+#& \\é天\u0301\u200b", max_size=40))
def test_any_string_is_a_query(db: None, anything: str, nearly: str) -> None:
    found(anything)
    found(nearly)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=300), st.data())
def test_a_text_is_found_by_any_run_of_its_words(bank: Bank, text: str, data: st.DataObject) -> None:
    entry = factories.make_entry(bank, text=text)
    words = terms.words_of(text.encode("utf-8", "replace").decode())
    if words:
        start = data.draw(st.integers(0, len(words) - 1))
        run = words[start : data.draw(st.integers(start + 1, len(words)))]
        assert entry.pk in found(f'"{" ".join(run)}"')
        assert entry.pk in found(" ".join(reversed(run)))


def test_an_imported_memory_is_found_by_its_id_and_then_by_its_text(people: People) -> None:
    server = factories.make_server(base_url=URL)
    bank = factories.make_bank("shop", server=server)
    factories.grant(people.owner, bank, Role.ADMIN)
    import_lines([add("notes/first.md", bank="shop"), add("notes/second.md", bank="shop")], people.owner)
    first = ReviewEntry.objects.get(document_id="notes/first.md")
    assert found("notes/first.md") == {first.pk}
    search.index(entry_id=first.pk, document_id=first.document_id, text="about flags")
    search.index_ids([(first.pk, first.document_id)])  # the same document from another source
    assert found("flags first") == {first.pk}
    search.index(entry_id=first.pk, document_id=first.document_id, text="about ports")
    assert (found("flags"), found("ports")) == (set(), {first.pk})
    search.forget(entry_id=first.pk)
    assert found("ports") == found("first") == set()


def test_of_a_huge_text_the_beginning_is_found(bank: Bank) -> None:
    entry = factories.make_entry(bank, text=f"beginning {'word ' * 1_600_000} end")
    assert found("beginning") == {entry.pk}
    assert found("end") == set()


def test_the_longest_that_is_kept_fits_the_database(bank: Bank) -> None:
    letters = [chr(code) for code in range(0x10400, 0x104F0) if chr(code).isalpha()]  # four bytes each
    words = [f"{one}{two}{three}" * 21 for one in letters[:13] for two in letters[:11] for three in letters[:11]]
    entry = factories.make_entry(bank, text=" ".join(words))
    assert found(words[0]) == {entry.pk}
    wide = factories.make_entry(bank, text="ﷺ" * terms.CHARACTERS)
    assert found("ﷺ") == {wide.pk}


def test_the_memory_of_characters_stays_small() -> None:
    terms.words_of("".join(map(chr, range(0x10000, 0x10000 + terms.CHARACTERS))))
    assert max(terms._KEPT) < 0x10000 < sys.maxunicode


def test_what_is_there_is_indexed_by_the_migration(bank: Bank) -> None:
    loaded = factories.make_entry(bank, "notes/é.md", text="é" * (terms.CHARACTERS + 5) + " flags")
    unloaded = factories.make_entry(bank, "notes/b.md", load_state="loading")
    ReviewEntry.objects.filter(pk=unloaded.pk).update(text=None)
    for entry in (loaded, unloaded):
        search.forget(entry_id=entry.pk)
    import_module("reviews.migrations.0003_search").fill(apps, None)
    assert found("notes") == {loaded.pk, unloaded.pk}
    assert found("e" * 70) == {loaded.pk}


def test_the_index_of_the_database_is_used(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "FEW", -1)  # as if very many were found
    entry = factories.make_entry(bank, text="Flags and ports.")
    factories.make_entry(bank)
    if connection.vendor == "postgresql":  # which otherwise reads so small a table from its beginning
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
    rows = ReviewEntry.objects.filter(search.matching("flags po"))
    assert list(rows) == [entry]
    plan = rows.explain()
    assert "reviews_search_words" in plan or "SCAN reviews_search VIRTUAL TABLE INDEX" in plan
