from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from memadmin.accounts import links


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def link(request: HttpRequest, token: str) -> HttpResponse:
    """A GET only shows a button: mail scanners and prefetching browsers open links too, and must not spend them.

    A link stands for the password alone: who has a second factor is asked for its code.
    """
    found = links.find(token)
    if request.method == "POST":
        if found and (user := links.spend(token)):
            # Who came by an invitation needs another way in for next time.
            to = resolve_url("account_set_password" if found.invitation else settings.LOGIN_REDIRECT_URL)
            request.session.flush()  # whoever was signed in here, or had begun to
            record_authentication(request, user, method="link")
            answer: HttpResponse = perform_login(request, Login(user=user, redirect_url=to))
            return answer
    elif found:
        return render(request, "accounts/link_detail.html", {"link": found})
    # Unknown, spent and expired look the same: nothing can be learnt by trying.
    return render(request, "accounts/link_dead.html", status=410)
