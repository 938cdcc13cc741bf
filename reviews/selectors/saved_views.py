"""The lists that a person has kept."""

from typing import Any

from reviews.models import SavedView


def of(user: Any) -> list[SavedView]:
    return list(SavedView.objects.filter(user=user))
