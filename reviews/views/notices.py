"""The mails that a person wants, and the way out of them."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from memadmin.htmx import PersonRequest, SeeOther, posted
from reviews.forms_notices import OwnNoticeForm
from reviews.models import Notice, NoticeChoice
from reviews.services import notices

LATEST = 10


@require_http_methods(["GET", "HEAD", "POST"])
def notice_settings(request: PersonRequest) -> HttpResponse:
    """One's own, and nobody else's."""
    choice = NoticeChoice.objects.filter(user=request.user).first() or NoticeChoice(
        user=request.user, time_zone=settings.TIME_ZONE
    )
    initial = {name: getattr(choice, name) for name in ("digest", "soon", "recall", "hour", "time_zone", "email")}
    form = OwnNoticeForm(posted(request), initial=initial, user=request.user)
    if request.method == "POST" and form.is_valid():
        notices.choose(user=request.user, **form.cleaned_data)
        messages.success(request, "Stored.")
        return SeeOther(reverse("reviews:notice-settings"))
    latest = Notice.objects.filter(user=request.user).exclude(state=Notice.State.EMPTY)[:LATEST]
    context = {"form": form, "latest": latest, "mail_on": settings.MAIL_ON, "address": choice.address}
    return render(request, "reviews/notice_settings.html", context, status=422 if form.errors else 200)


@csrf_exempt  # mail programs post here by themselves (RFC 8058); it can only ever switch off
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notice_off(request: HttpRequest, token: str) -> HttpResponse:
    """A GET only shows a button: scanners of mail open links too."""
    if request.method == "POST":
        known = notices.switch_off(token=token)
    else:
        known = NoticeChoice.objects.filter(off_token=token).exists()
    context = {"known": known, "done": known and request.method == "POST"}
    return render(request, "reviews/notice_off.html", context, status=200 if known else 404)
