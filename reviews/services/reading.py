"""What is too long to be shown at once is not approved unread: each of its parts must have been on screen."""

from collections.abc import Collection

from banks.models import Blob
from banks.paper import PART, is_clipped
from memadmin.accounts.models import User
from reviews.errors import Unread
from reviews.models import ReviewEntry, Seen


def unread_parts(*, user: User, entry: ReviewEntry, part: int = 0, read: Collection[int] = ()) -> list[int]:
    """The parts that this person has not opened; none of a text that is shown whole.

    `part`: the one on screen; `read`: those that a program has proved to have fetched.
    """
    if not is_clipped(entry.text_size):
        return []
    opened = Seen.objects.filter(user=user, entry=entry, text_hash=entry.text_id or "").values_list("parts", flat=True)
    seen = {part, *read, *(number for parts in opened for number in parts)}
    return [number for number in range(1, _parts(_length(entry)) + 1) if number not in seen]


def require_read(*, user: User, entry: ReviewEntry, part: int = 0, read: Collection[int] = ()) -> None:
    """Raises Unread when something of the text was never on this person's screen."""
    if missing := unread_parts(user=user, entry=entry, part=part, read=read):
        length = _length(entry)
        raise Unread(entry, length, missing, _parts(length))


def _length(entry: ReviewEntry) -> int:
    """In characters."""
    return Blob.objects.filter(pk=entry.text_id).values_list("length", flat=True).first() or 0


def _parts(length: int) -> int:
    return -(-length // PART)
