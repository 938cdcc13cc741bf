"""The second factor: set up, shown at sign-in and before it is changed, its recovery codes, and removed."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from allauth.account.adapter import get_adapter as account_adapter
from allauth.account.internal.decorators import login_stage_required
from allauth.account.internal.flows.reauthentication import resume_request
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.adapter import get_adapter
from allauth.mfa.recovery_codes.internal.flows import generate_recovery_codes
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY
from allauth.mfa.totp.internal.flows import activate_totp
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks.models import AdminEvent
from banks.services import events
from memadmin.accounts import factor, limits, policy
from memadmin.accounts.forms import CodeForm
from memadmin.accounts.models import User
from memadmin.htmx import PersonRequest, SeeOther, posted

What = AdminEvent.What
WRONG = get_adapter().error_messages["incorrect_code"]
View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def asked_again(view: View) -> View:
    """Only for who has just signed in, or shows once more what they sign in by."""

    @wraps(view)
    def asking(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Not allauth's own decorator: it takes a password that was typed again for enough, whatever our adapter says.
        if account_adapter().is_reauthentication_required(app="allauth.mfa"):
            raise ReauthenticationRequired
        return view(request, *args, **kwargs)

    return cast(View, asking)


def signing_in(view: View) -> View:
    """For who has shown the first factor and nothing more: they are nobody yet, and everybody else is led away."""
    decorated: View = login_stage_required(stage="mfa_authenticate", redirect_urlname="account_login")(view)
    return decorated


@require_safe
@never_cache
def factor_detail(request: PersonRequest) -> HttpResponse:
    codes = factor.codes_of(request.user)
    context = {
        "factor": factor.of(request.user),
        "codes_left": len(codes.get_unused_codes()) if codes else 0,
        "required": policy.needs_factor(request.user),
    }
    return render(request, "accounts/factor_detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@asked_again
def factor_add(request: PersonRequest) -> HttpResponse:
    if factor.has_one(request.user):
        return redirect("accounts:factor-detail")
    form = ActivateTOTPForm(posted(request), user=request.user)
    if request.method != "POST" or not form.is_valid():
        context = {"form": form, "required": policy.needs_factor(request.user)}
        return render(request, "accounts/factor_add.html", context, status=422 if form.errors else 200)
    with transaction.atomic():
        activate_totp(request, form)
        events.record(what=What.FACTOR_ADDED, actor=request.user, person=request.user)
    factor.vouch(request, request.user, factor.Type.TOTP)
    messages.success(request, "From now on a code is asked for when you sign in. Keep these recovery codes.")
    return SeeOther(reverse("accounts:factor-codes"))


@require_safe
@never_cache
def factor_qr(request: PersonRequest) -> HttpResponse:
    """The secret that the form on the screen is about, as a picture for the app's camera."""
    secret = request.session.get(SECRET_SESSION_KEY)
    if not secret:
        raise Http404
    adapter = get_adapter()
    picture = adapter.build_totp_svg(adapter.build_totp_url(request.user, secret))
    return HttpResponse(picture, content_type="image/svg+xml")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@asked_again
def factor_codes(request: PersonRequest) -> HttpResponse:
    """Those that were not used; a POST makes new ones, and the ones before are worth nothing."""
    codes = factor.codes_of(request.user)
    if codes is None and not factor.has_one(request.user):
        return redirect("accounts:factor-detail")
    if request.method == "POST":
        with transaction.atomic():
            generate_recovery_codes(request)
            events.record(what=What.CODES_MADE, actor=request.user, person=request.user)
        messages.success(request, "These are new. The codes before them work no more.")
        return SeeOther(reverse("accounts:factor-codes"))
    return render(request, "accounts/factor_codes.html", {"codes": codes.get_unused_codes() if codes else []})


@require_POST
@asked_again
def factor_remove(request: PersonRequest) -> HttpResponse:
    with transaction.atomic():
        if factor.remove(request.user):
            events.record(what=What.FACTOR_REMOVED, actor=request.user, person=request.user)
    factor.forget_shown(request)
    messages.success(request, "The second factor is removed.")
    return SeeOther(reverse("accounts:factor-detail"))


@signing_in
@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def code_at_sign_in(request: HttpRequest) -> HttpResponseBase:
    stage: Any = request._login_stage  # type: ignore[attr-defined]  # set by the decorator
    form = CodeForm(posted(request))
    if request.method == "POST" and _right(request, stage.login.user, form):
        answer: HttpResponseBase = stage.exit()
        return answer
    return _ask(request, form, "Sign in as somebody else", reverse("account_login"))


@never_cache
@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def code_again(request: PersonRequest) -> HttpResponseBase:
    """Before the factor is changed, or where this session has not shown it yet."""
    if not factor.has_one(request.user):
        return redirect("accounts:factor-detail")
    form = CodeForm(posted(request))
    if request.method == "POST" and _right(request, request.user, form):
        resumed: HttpResponseBase | None = resume_request(request)
        return resumed or SeeOther(_next(request))
    return _ask(request, form, "Leave it", settings.LOGIN_REDIRECT_URL)


def _right(request: HttpRequest, person: User, form: CodeForm) -> bool:
    if not form.is_valid():
        return False
    try:
        if factor.check(request, person, form.cleaned_data["code"]):
            return True
        form.add_error("code", WRONG)
    except limits.TooMany as refused:
        form.add_error("code", f"Too many wrong codes. Wait {refused.minutes} min, or ask an operator for help.")
    return False


def _ask(request: HttpRequest, form: CodeForm, other: str, leave: str) -> HttpResponse:
    context = {"form": form, "other": other, "leave": leave, "next": _next(request)}
    return render(request, "accounts/factor_code.html", context, status=422 if form.errors else 200)


def _next(request: HttpRequest) -> str:
    asked = request.POST.get("next") or request.GET.get("next") or ""
    known = asked.startswith("/") and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if known else str(settings.LOGIN_REDIRECT_URL)
