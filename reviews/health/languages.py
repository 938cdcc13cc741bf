"""Which languages texts are in, as guessed from their letters.

The models take 35 MB, so they are loaded by a process of their own that ends with its answer: `python -m` this module
reads a JSON list of texts and writes a JSON list of codes. Nothing of Django is in it.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SECONDS = 90.0
LEAST_LETTERS = 24  # shorter texts are no guess
UNSURE = 0.1  # how much likelier than the next one a language has to be
# One of few texts is more often a mistake than not: names of tools look French, names of people Danish.
RARE, UNSURE_IF_RARE = 0.02, 0.97
SURELY_OTHER = 0.9  # how much likelier than the language that a text should be in another one has to be
LONGEST = 5_000  # characters of a text that is compared with one language
TOLD = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
# Letters of which one is about a word: these texts are short and yet sure.
_DENSE = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# What is quoted may be in any language.
_QUOTED = re.compile(r"```[\s\S]*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|「[^」\n]*」")
# Of code, paths, addresses and identifiers, one letter by one: they are in no language.
_CODED = frozenset("./\\:_@#$~=<>{}[]()`|&*+")


class CannotTell(Exception):
    """The languages could not be guessed; str() is a sentence."""


def code_of(language: str) -> str:
    """The code of a bank's language, such as "pt" of "pt-BR"; "" for one that cannot be told from others here."""
    code = language.replace("_", "-").partition("-")[0].lower()
    return code if code in TOLD else ""


def guess(texts: Sequence[str]) -> list[str]:
    """A code of `TOLD` for each text, "" where nobody could say. Raises CannotTell."""
    return _ask(list(texts), "guess")


def _ask(texts: Sequence[object], what: str) -> list[str]:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "reviews.health.languages", what]
    try:
        done = subprocess.run(  # noqa: S603  # our own module
            command,
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=root,
            check=True,
        )
        found = json.loads(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        raise CannotTell(f"Guessing the languages did not work ({type(error).__name__}).") from error
    return [str(code) for code in found]


def others(asked: Sequence[tuple[str, str]]) -> list[str]:
    """Of (text, code): the code of another language that the text is surely in, else "". Raises CannotTell."""
    return _ask([list(each) for each in asked], "others") if any(code for _, code in asked) else [""] * len(asked)


def others_here(asked: Sequence[Sequence[str]]) -> list[str]:
    """The same in this process, which keeps the models."""
    detector = _detector()
    found = []
    for text, code in asked:
        words = [word for word in _QUOTED.sub(" ", text[:LONGEST]).split() if not _is_code(word)]
        said = " ".join(word for word in words if not any(letter.isdigit() for letter in word))
        if not code or not _enough(said):
            found.append("")
            continue
        values = {each.language.iso_code_639_1.name.lower(): each.value for each in _confidences(detector, said)}
        best = max(values, key=lambda each: values[each])
        found.append(best if best != code and values[best] - values.get(code, 0.0) > SURELY_OTHER else "")
    return found


def guess_here(texts: Sequence[str]) -> list[str]:
    """The same in this process, which keeps the models."""
    detector = _detector()
    guesses: dict[str, tuple[str, float]] = {}  # of each text once
    for text in texts:
        said = " ".join(word for word in text.split() if not _is_code(word))
        if text not in guesses and _enough(said):
            first, second = _confidences(detector, said)[:2]
            guesses[text] = first.language.iso_code_639_1.name.lower(), first.value - second.value
    often = Counter(code for code, _ in guesses.values())
    for text, (code, surer) in guesses.items():
        rare = often[code] < RARE * len(guesses)
        if surer < (UNSURE_IF_RARE if rare else UNSURE):
            guesses[text] = "", 0.0
    return [guesses.get(text, ("", 0.0))[0] for text in texts]


def _detector() -> Any:
    from lingua import IsoCode639_1, Language, LanguageDetectorBuilder

    languages = [Language.from_iso_code_639_1(IsoCode639_1.from_str(code)) for code in TOLD]
    return LanguageDetectorBuilder.from_languages(*languages).with_low_accuracy_mode().build()


def _confidences(detector: Any, text: str) -> list[Any]:
    return list(detector.compute_language_confidence_values(text))


def _is_code(word: str) -> bool:
    inner = word.strip(".,:;!?()\"'")
    return bool(_CODED & set(inner)) or inner[1:].lower() != inner[1:]


def _enough(text: str) -> bool:
    letters = sum(letter.isalpha() for letter in text)
    return letters >= LEAST_LETTERS or len(_DENSE.findall(text)) >= LEAST_LETTERS // 6


if __name__ == "__main__":
    json.dump({"guess": guess_here, "others": others_here}[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
