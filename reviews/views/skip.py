from django.http import HttpResponse
from django.views.decorators.http import require_POST

from memadmin.htmx import PersonRequest
from reviews.access import get_entry
from reviews.selectors import queue
from reviews.selectors.filters import Filters
from reviews.services.skips import skip
from reviews.views.answers import Notice, show_card, show_next


@require_POST
def entry_skip(request: PersonRequest, pk: int) -> HttpResponse:
    """Goes on without a decision: it stands at the end of this person's lists, and of nobody else's."""
    entry, filters = get_entry(request.user, pk), Filters.parse(request.GET)
    following = queue.next_after(request.user, filters, entry)
    skip(user=request.user, entry=entry)
    if following is None and entry.waits:
        alone = Notice("Nothing else is left on this list.", "none")
        return show_card(request, entry, filters, notice=alone, announce=alone.text)
    said = f"Skipped {entry.document_id}: it is at the end of your list." if entry.waits else ""
    return show_next(request, following, filters, said)
