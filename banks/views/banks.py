"""Banks: the list of those a person may see, and how we treat the memories of one."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from banks import access, forms, selectors_people, selectors_servers
from banks.models import AdminEvent, Bank, Role
from banks.services import policy
from banks.services.refusal import ChangedMeanwhile
from memadmin.htmx import PersonRequest, SeeOther, posted


@require_safe
def bank_list(request: PersonRequest) -> HttpResponse:
    q = request.GET.get("q", "").replace("\x00", "").strip()[:200]
    after = request.GET.get("after", "")
    number = int(after) if after.isascii() and after.isdigit() and len(after) < 18 else 0
    context = {"page": selectors_servers.bank_page(request.user, q=q, after=number), "q": q}
    return render(request, "banks/bank_list.html", context)


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
