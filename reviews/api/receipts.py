"""Our word that a part of a text was handed to a token. It stands in for what a screen has shown; reading stores
nothing."""

from collections.abc import Iterable

from django.core.signing import Signer
from django.utils.crypto import constant_time_compare

from banks.models import ApiToken
from reviews.models import ReviewEntry

LONGEST = 100
_signer = Signer(salt="reviews.api.receipts")


def receipt_of(entry: ReviewEntry, token: ApiToken, part: int) -> str:
    """For this text alone: what was written since needs another one."""
    return f"{part}:{_signer.signature(f'{entry.pk}:{entry.text_id}:{token.pk}:{part}')}"


def parts_of(receipts: Iterable[str], entry: ReviewEntry, token: ApiToken) -> set[int]:
    """The parts that these prove. What is no receipt of ours proves nothing."""
    numbers = {text: text.partition(":")[0] for text in receipts}
    return {
        int(number)
        for text, number in numbers.items()
        if number.isascii() and number.isdigit() and len(number) < 6
        if constant_time_compare(text.encode(), receipt_of(entry, token, int(number)).encode())
    }
