"""Banks: the list of those a person may see, and how we treat the memories of one."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, forms, selectors, selectors_facts, selectors_people
from banks import selectors_log as log
from banks.log_filters import LogFilters
from banks.models import AdminEvent, Bank, Role
from banks.numbers import job
from banks.selectors_banks import SORTS, BankFilters, bank_page, bank_row
from banks.services import policy
from banks.services.refusal import ChangedMeanwhile
from memadmin.htmx import PersonRequest, SeeOther, posted, wants_fragment

FAILED_SHOWN, WRITES_SHOWN = 3, 10
STOP_POLLING = 286  # htmx: swap this and ask no more
NEWS = timedelta(minutes=5)  # how long the end of a refresh is told


@require_safe
def bank_list(request: PersonRequest) -> HttpResponse:
    """From our rows alone: no page waits for a server."""
    filters = BankFilters.parse(request.GET)
    if wants_fragment(request):
        return _refresh(request, filters)
    page = bank_page(request.user, filters)
    context = {
        "page": page,
        "filters": filters,
        "sorts": SORTS,
        "later": filters.query(after=page.after) if page.after else "",
        "first": filters.query(after=""),
        "may_create": access.reach_of(request.user).servers,
        **_refreshing(request),
    }
    return render(request, "banks/bank_list.html", context)


@require_POST
def bank_refresh(request: PersonRequest) -> HttpResponse:
    """Has a worker read what the servers count in those banks that the list shows."""
    filters = BankFilters.parse(request.GET)
    if not access.banks_for(request.user).exists():
        raise Http404
    job.start(user=request.user, q=filters.q)
    if wants_fragment(request):
        return _refresh(request, filters)
    return SeeOther(reverse("banks:bank-list") + filters.query())


def _refresh(request: PersonRequest, filters: BankFilters) -> HttpResponse:
    """The part of the list that polls while the numbers are read."""
    context = {**_refreshing(request), "filters": filters}
    going_on = context["refresh"] is not None and not context["refresh"].ended
    status = 200 if going_on or request.method == "POST" else STOP_POLLING
    return render(request, "banks/_bank_refresh.html", context, status=status)


def _refreshing(request: PersonRequest) -> dict[str, Any]:
    """The person's last refresh, while it is news, and what it could not read."""
    last = job.last_of(request.user)
    if last is None or (last.finished and last.finished < timezone.now() - NEWS):
        return {"refresh": None, "unread": []}
    return {"refresh": last, "unread": job.unread_of(request.user, last)}


@require_safe
def bank_detail(request: PersonRequest, pk: int) -> HttpResponse:
    """One bank at a glance: what waits, what is in it, what was done to it last, how it is treated."""
    user, bank = request.user, access.get_bank(request.user, pk)
    row = bank_row(user, bank)
    attention = log.write_page(LogFilters(bank=str(pk), state="attention").listed(user), None, size=FAILED_SHOWN)
    last = log.write_page(LogFilters(bank=str(pk)).listed(user), None, size=WRITES_SHOWN)
    context = {
        "bank": row.bank,
        "row": row,
        "administered": row.administered,
        "attention": attention.rows,
        "lines": log.lines_of(user, last.rows),
        "standing": selectors_facts.standing(last.rows),
        "may_write": selectors.writable_banks(user),
        "default_days": settings.AUTO_APPROVE_DAYS,
    }
    return render(request, "banks/bank_detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def bank_policy(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    form = forms.PolicyForm(posted(request), initial=forms.tidy(policy.values_of(bank)))
    if request.method != "POST" or not form.is_valid():
        return _form(request, form, bank)
    try:
        changed = policy.change(
            actor=request.user, bank=bank, shown=request.POST.get("shown", ""), values=form.cleaned_data
        )
    except ChangedMeanwhile as refusal:
        form.add_error(None, str(refusal))
        bank.refresh_from_db()
        return _form(request, form, bank, status=409)
    messages.success(request, "Stored. Nothing was sent to the bank." if changed else "Nothing was different.")
    return SeeOther(reverse("banks:bank-policy", args=[pk]))


def _form(request: PersonRequest, form: forms.PolicyForm, bank: Bank, status: int = 0) -> HttpResponse:
    about = AdminEvent.objects.filter(bank=bank, what=AdminEvent.What.POLICY_CHANGED)
    context = {
        "form": form,
        "bank": bank,
        "shown": policy.seen(bank),
        "default_days": settings.AUTO_APPROVE_DAYS,
        "default_settle": settings.SETTLE_MINUTES,
        "events": selectors_people.latest_events(about),
    }
    return render(request, "banks/bank_policy.html", context, status=status or (422 if form.errors else 200))
