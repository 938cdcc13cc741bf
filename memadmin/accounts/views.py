from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from memadmin.accounts import links


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def link(request: HttpRequest, token: str) -> HttpResponse:
    """A GET only shows a button: mail scanners and prefetching browsers open links too, and must not spend them."""
    found = links.find(token)
    if request.method == "POST":
        if found and (user := links.spend(token)):
            login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
            # Who came by an invitation needs another way in for next time.
            return redirect("account_set_password" if found.invitation else settings.LOGIN_REDIRECT_URL)
    elif found:
        return render(request, "accounts/link_detail.html", {"link": found})
    # Unknown, spent and expired look the same: nothing can be learnt by trying.
    return render(request, "accounts/link_dead.html", status=410)
