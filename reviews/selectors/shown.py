"""What was on somebody's screen: the text of a posted hash, shown again only where it was a text of this entry."""

import re
from dataclasses import dataclass

from django.core.signing import Signer
from django.db.models import Q
from django.http import QueryDict
from django.utils.crypto import constant_time_compare

from banks.models import Blob, Write
from reviews.models import ReviewEntry

_HASH = re.compile(r"[0-9a-f]{64}")
_signer = Signer(salt="reviews.shown")


@dataclass(frozen=True)
class Shown:
    """What a person saw when they acted. `proof` is our own word that this text was shown for this entry.

    part: which part of a text too long to be shown at once, from 1; 0 = its two ends, or all of a short one.
    """

    version: int
    text_hash: str
    proof: str = ""
    part: int = 0

    @classmethod
    def now(cls, entry: ReviewEntry, *, part: int = 0) -> "Shown":
        text = entry.text_id or ""
        return cls(entry.version, text, _proof(entry, text) if text else "", part)

    @classmethod
    def parse(cls, data: QueryDict) -> "Shown | None":
        """None where the version is missing: then nobody can say what was seen."""
        version = data.get("version", "")
        if not (version.isascii() and version.isdigit() and len(version) < 10):
            return None
        text_hash, part = data.get("text_hash", ""), data.get("part", "")
        return cls(
            int(version),
            text_hash if _HASH.fullmatch(text_hash) else "",
            data.get("proof", "")[:100],
            int(part) if part.isascii() and part.isdigit() and len(part) < 6 else 0,
        )


def text_shown(entry: ReviewEntry, shown: Shown) -> Blob | None:
    """The text that was on screen. None when it was no text of this entry, as far as anybody can prove."""
    if not shown.text_hash or not (_is_proved(entry, shown) or _is_known(entry, shown.text_hash)):
        return None
    return Blob.objects.filter(pk=shown.text_hash, erased=None).first()


def _is_proved(entry: ReviewEntry, shown: Shown) -> bool:
    return constant_time_compare(shown.proof, _proof(entry, shown.text_hash))


def _is_known(entry: ReviewEntry, text_hash: str) -> bool:
    writes = Write.objects.filter(bank=entry.bank_id, document_hash=entry.document_hash)
    return (
        text_hash == entry.text_id
        or entry.decisions.filter(text_hash=text_hash).exists()
        or entry.seen.filter(text_hash=text_hash).exists()
        or writes.filter(Q(before=text_hash) | Q(request=text_hash) | Q(after=text_hash)).exists()
    )


def _proof(entry: ReviewEntry, text_hash: str) -> str:
    return _signer.signature(f"{entry.pk}:{text_hash}")
