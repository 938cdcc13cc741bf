"""Full-text search: an entry is found by its document id and the beginning of its text (memadmin/terms.py)."""

import re
from collections.abc import Iterable

from django.db.models import Q

from memadmin import fulltext

ENTRIES = fulltext.Index("reviews_search", "entry_id")
# No id of ours has them, and a database may refuse the question.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def index(*, entry_id: int, document_id: str, text: str) -> None:
    """Makes an entry findable, by its new text only. To be called in the transaction that stores the text."""
    ENTRIES.replace([(entry_id, fulltext.parted([document_id, text]))])


def index_ids(rows: Iterable[tuple[int, str]]) -> None:
    """Makes new entries, as (entry id, document id), findable before their texts are loaded."""
    ENTRIES.add([(entry_id, fulltext.parted([document_id])) for entry_id, document_id in rows])


def forget(*, entry_id: int) -> None:
    """What is erased or removed must not be found any more."""
    ENTRIES.forget(entry_id)


def matching(query: str) -> Q:
    """The entries in which all that was asked for occurs. Any string is a query, none is an error.

    A query without a single word ("->") is looked for in the document ids as it is.
    """
    found = ENTRIES.matching(query)
    return Q(document_id__icontains=_UNSTORABLE.sub("\ufffd", query)) if found is None else found
