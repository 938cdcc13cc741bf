"""API tokens: a person's own, and all of them for an operator."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, selectors_tokens
from banks.forms_tokens import TokenForm
from banks.services import tokens
from banks.services.refusal import Refusal
from memadmin.htmx import PersonRequest, SeeOther


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables()
def token_list(request: PersonRequest) -> HttpResponse:
    """One's own. A new one is shown in the answer to the POST alone: it is stored nowhere, not even in the session."""
    if request.method != "POST":
        return _own(request, TokenForm(user=request.user))
    form = TokenForm(request.POST, user=request.user)
    if not form.is_valid():
        return _own(request, form, status=422)
    said = form.cleaned_data
    try:
        made = tokens.issue(
            owner=request.user, name=said["name"], role=said["role"], banks=said["chosen"], days=said["ends"]
        )
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _own(request, form, status=422)
    return render(request, "banks/token_made.html", {"token": made.token, "text": made.text})


@require_safe
def token_list_all(request: PersonRequest) -> HttpResponse:
    access.require_reach(request.user, "operator")
    page = selectors_tokens.token_page(None, after=request.GET.get("after", ""))
    return render(request, "banks/token_list_all.html", {"page": page})


@require_POST
def token_revoke(request: PersonRequest, pk: int) -> HttpResponse:
    token = tokens.get_token(request.user, pk)
    if tokens.revoke(actor=request.user, token=token):
        messages.success(request, f"“{token.name}” is revoked: it opens nothing any more.")
    else:
        messages.info(request, f"“{token.name}” was revoked already.")
    back = "banks:token-list-all" if request.POST.get("all") and request.user.is_superuser else "banks:token-list"
    return SeeOther(reverse(back))


def _own(request: PersonRequest, form: TokenForm, status: int = 200) -> HttpResponse:
    page = selectors_tokens.token_page(request.user, after=request.GET.get("after", ""))
    return render(request, "banks/token_list.html", {"page": page, "form": form}, status=status)
