from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from memadmin.accounts.models import User
from memadmin.htmx import PersonRequest, SeeOther


@require_POST
def letters(request: PersonRequest) -> HttpResponse:
    """Whether single letters are keys, for this person; back to the page where that was asked."""
    on = request.POST.get("letters") == "on"
    User.objects.filter(pk=request.user.pk).update(letters=on)
    messages.success(request, f"Single letters are turned {'on' if on else 'off'}.")
    back = request.POST.get("next", "")
    safe = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return SeeOther(back if safe else reverse("reviews:overview"))
