"""What is around the hits of a search: the bar, the kinds and their counts, and what was found here."""

from typing import Any

from banks import access
from memadmin.paging import Cursor
from reviews.selectors import search
from reviews.selectors.search_filters import BANKS, KINDS, LONGEST, SearchFilters


def page_of(user: Any, filters: SearchFilters, cursor: Cursor | None = None) -> dict[str, Any]:
    looked = search.Search(user, filters)
    counts, shown = looked.found(cursor)
    return {
        "filters": filters,
        "tabs": [(kind, label, filters.of_kind(kind), counts.get(kind)) for kind, label in KINDS.items()],
        "shown": shown,
        "banks_query": filters.of_kind(BANKS),
        "in_banks": filters.kind == BANKS,
        "not_indexed": looked.not_indexed_yet(),
        "options": search.options(user, filters),
        "banks": access.banks_for(user).count(),
        "longest": LONGEST,
    }
