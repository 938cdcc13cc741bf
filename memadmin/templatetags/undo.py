"""{% next_undo as undo %}: what this person's next undo takes back, on every page that has a button for it."""

from typing import Any

from django import template

from memadmin.accounts.models import User
from reviews.undoing.steps import Step, top
from reviews.views.undo import passed_by

register = template.Library()


@register.simple_tag(takes_context=True)
def next_undo(context: dict[str, Any]) -> Step | None:
    request = context["request"]
    return top(request.user, passed_by(request)) if isinstance(request.user, User) else None
