"""One's own account: what one may, by what, and what others changed about it."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from banks import selectors_groups, selectors_people
from memadmin.accounts import identities
from memadmin.htmx import PersonRequest


@require_safe
def account(request: PersonRequest) -> HttpResponse:
    after = request.GET.get("after", "")
    known = after.isascii() and after.isdigit() and len(after) < 18
    roles = selectors_people.roles_of(request.user, after=int(after) if known else 0)
    more, roles = len(roles) > selectors_people.PER_PAGE, roles[: selectors_people.PER_PAGE]
    context = {
        "person": request.user,
        "roles": roles,
        "after": roles[-1].pk if more else "",
        "identities": identities.of(request.user),
        "groups": selectors_groups.groups_with_roles(request.user),
        "events": selectors_people.latest_events(selectors_people.events_about(request.user)),
    }
    return render(request, "banks/account.html", context)
