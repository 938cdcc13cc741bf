"""Saved queries: which of the facts they expect came back, and when that was asked."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from banks.models import RecallCheck, Role
from banks.recall import checks, saving
from banks.recall.selectors import asked_of, checks_seen_by, expected_of, get_check, is_asking
from banks.services.refusal import Refusal
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.selectors.recall_desk import with_verdicts
from reviews.views.recall import STOP_POLLING, around


@require_safe
def recall_check_list(request: PersonRequest) -> HttpResponse:
    """Of all banks."""
    return render(request, "reviews/recall_check_list.html", {"checks": checks_seen_by(request.user)})


@require_safe
def recall_check(request: PersonRequest, pk: int) -> HttpResponse:
    check = get_check(request.user, pk)
    context = _context(request, check)
    if wants_fragment(request):
        status = 200 if context["asking"] else STOP_POLLING
        return render(request, "reviews/_recall_check.html", context, status=status)
    return render(request, "reviews/recall_check.html", context)


@require_POST
def recall_check_ask(request: PersonRequest, pk: int) -> HttpResponse:
    check = get_check(request.user, pk, Role.REVIEWER)
    checks.ask_now(user=request.user, check=check)
    return SeeOther(reverse("reviews:recall-check", args=[pk]))


@require_POST
def recall_check_remove(request: PersonRequest, pk: int) -> HttpResponse:
    check = get_check(request.user, pk, Role.REVIEWER)
    saving.remove(user=request.user, check=check)
    messages.success(request, f"“{check.name}” is not asked any more. The bank is as it was.")
    return SeeOther(reverse("reviews:bank-recall", args=[check.bank_id]))


@require_POST
def recall_check_drop(request: PersonRequest, pk: int) -> HttpResponse:
    """One fact of it is not expected any more."""
    check = get_check(request.user, pk, Role.REVIEWER)
    try:
        saving.expect_no_more(user=request.user, check=check, expected=number_of(request.POST.get("expected", "")))
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "The fact is not expected any more. The bank is as it was.")
    return SeeOther(reverse("reviews:recall-check", args=[pk]))


def _context(request: PersonRequest, check: RecallCheck) -> dict[str, Any]:
    return {
        **around(request, check.bank),
        "check": check,
        "asked": asked_of(check),
        "expected": with_verdicts(check, expected_of(check)),
        "asking": is_asking(check),
    }
