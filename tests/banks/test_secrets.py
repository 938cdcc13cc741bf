"""Secrets in foreign text: found by their form or by the word before them, masked wherever a text is shown."""

import pytest

from banks.diffs import diff
from banks.paper import paper
from banks.secrets import find
from banks.secrets.masking import masked, numbered, restored

# Put together here, so that no scanner of this repository takes them for real.
TOKEN = "gh" + "p_" + "TMjnBST71uac9MZw605zwhAovni2ju4cDfxP"
OTHER = "gh" + "p_" + "AAjnBST71uac9MZw605zwhAovni2ju4cDfxQ"


def values(text: str) -> list[str]:
    return [text[each.start : each.end] for each in find(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"The mirror pushes with {TOKEN}, scope repo only.", TOKEN),
        ("Das Passwort der Testumgebung lautet Nebel!8831x.", "Nebel!8831x"),
        ("Le mot de passe du serveur est Brume-41-Lune", "Brume-41-Lune"),
        ("预发布的密码是 Lotus@4471w，只读。", "Lotus@4471w"),
        ("DB_PASSWORD=kestrel-wobbly-31", "kestrel-wobbly-31"),
        ("postgresql://app:s3cr3t-Moon@db:5432/app", "s3cr3t-Moon"),
        ("curl -u monitor:Gl4cier#Hill https://status.example/", "Gl4cier#Hill"),
    ],
)
def test_the_value_alone_is_found(text: str, value: str) -> None:
    assert values(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "The password reset mail lives for one hour.",
        "DB_PASSWORD=${DB_PASSWORD}",
        "The signing key is in kv/ledger/receipts, field signing_key.",
        "STRIPE_SECRET_KEY=<your key>",
        "amqp://guest:guest@localhost:5672//",
        "token: 0b6c9a52-6a6e-4c2f-8a6f-3f9f9c1f2f11",
        "The key is sha256:a0a6e86a4f233fb310bd232604e835bd.",
    ],
)
def test_names_places_and_placeholders_are_no_secrets(text: str) -> None:
    assert values(text) == []


def test_masking_moves_nothing() -> None:
    text = f"One {TOKEN} two\nthree"
    assert masked(text) == f"One {'*' * len(TOKEN)} two\nthree"
    assert masked("nothing here") == "nothing here"


def test_a_paper_shows_a_secret_only_when_it_is_revealed() -> None:
    def said(revealed: bool) -> str:
        shown = paper(f"Key {TOKEN}.", revealed=revealed)
        return "".join(segment.text for part in shown.head for segment in part.segments)

    assert TOKEN not in said(False)
    assert TOKEN in said(True)


def test_a_difference_in_a_secret_stays_a_difference() -> None:
    found = diff(f"Key {TOKEN}.", f"Key {OTHER}.")
    said = "".join(segment.text for line in found.lines for piece in line.pieces for segment in piece.segments)
    assert found.changed == 1
    assert TOKEN not in said
    assert OTHER not in said


def test_what_a_form_hides_comes_back_where_it_was_left() -> None:
    original = f"First {TOKEN}, then {OTHER}, then {TOKEN}. ⟦GitHub token, hidden 1⟧"
    (form,) = numbered(original)
    assert TOKEN not in form
    assert restored(form, original) == original
    without = form.replace("⟦GitHub token, hidden 3⟧", "(taken out)")
    assert restored(without, original) == original.replace(OTHER, "(taken out)")


@pytest.mark.parametrize(
    "unit", ["a", "aB3", "a.", "a-", "http://a:", "password is ", "key=", "1234 ", "-----BEGIN PRIVATE KEY-----"]
)
def test_a_long_text_of_one_thing_is_masked(unit: str) -> None:
    """Patterns that look again from every place would take hours."""
    text = unit * (20_000 // len(unit))
    assert len(masked(text)) == len(text)
