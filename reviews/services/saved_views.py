"""Lists of a person's own, kept under a name."""

from django.http import QueryDict

from memadmin.accounts.models import User
from reviews.errors import NotDecided
from reviews.models import SavedView
from reviews.selectors.filters import Filters

MOST = 20
NAME_LENGTH = 60


class NotSaved(NotDecided):
    """`str()` says why, and nothing was changed."""


def save(*, user: User, name: str, query: str) -> SavedView:
    """Keeps what a list asks for; the same name again keeps the newer. Raises NotSaved."""
    name = " ".join(name.replace("\x00", "").split())
    asked = Filters.parse(QueryDict(query.removeprefix("?"))).query()
    if not name or len(name) > NAME_LENGTH:
        raise NotSaved(f"A view needs a name of at most {NAME_LENGTH} characters. It was not saved.")
    if not asked:
        raise NotSaved("This is the list as it always is: choose something first. It was not saved.")
    known = SavedView.objects.filter(user=user)
    if not known.filter(name=name).exists() and known.count() >= MOST:
        raise NotSaved(f"You have {MOST} views already. Remove one first; this one was not saved.")
    view, _ = SavedView.objects.update_or_create(user=user, name=name, defaults={"query": asked})
    return view


def remove(*, user: User, view_id: int) -> str:
    """Its name; "" when it was not there any more."""
    view = SavedView.objects.filter(user=user, pk=view_id).first()
    if view is None:
        return ""
    view.delete()
    return view.name
