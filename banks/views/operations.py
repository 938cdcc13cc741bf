"""Operations of all banks: what servers work on, seen by workers; retry, cancel and forget through the door."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, selectors, selectors_operations
from banks.models import OperationSeen
from banks.operations import acts, look
from banks.operations.filters import SHOW, OperationFilters
from memadmin.counting import count_of
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from memadmin.paging import Cursor

STOP_POLLING = 286  # htmx: swap this and ask no more
NEWER_COUNTED = 100
BANKS_ASKED = 500


@require_safe
def operation_list(request: PersonRequest) -> HttpResponse:
    user, filters = request.user, OperationFilters.parse(request.GET)
    if wants_fragment(request) and "rows" in request.GET:
        return _news(request, filters)
    page = selectors_operations.operation_page(user, filters, Cursor.parse(request.GET.get("page", "")))
    rows = selectors_operations.as_rows(user, page.rows)
    last = OperationSeen.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    context = {
        **_state(request, filters, rows, last),
        "page": page,
        "rows": rows,
        "options": selectors_operations.options(user, filters),
        "may_retry": any(row.may_retry for row in rows),
        "may_cancel": any(row.may_cancel for row in rows),
        "may_forget": any(row.may_forget for row in rows),
        "role": access.reach_of(user),
        "ask_first": bool(filters.bank),
    }
    return render(request, "banks/operation_list.html", context)


@require_POST
def operation_look(request: PersonRequest) -> HttpResponse:
    """Has workers read the operations of the banks that are asked for. No page waits for a server."""
    filters = OperationFilters.parse(request.GET)
    banks = filters.looks(request.user).order_by("looked_at").values_list("bank_id", flat=True)[:BANKS_ASKED]
    look.ask(banks)
    if wants_fragment(request):
        return _news(request, filters)
    messages.info(request, "The servers are being asked. Look again in a few seconds.")
    return SeeOther(reverse("banks:operation-list") + filters.query())


@require_http_methods(["GET", "HEAD", "POST"])
def operation_retry(request: PersonRequest) -> HttpResponse:
    return _act(request, "retry")


@require_http_methods(["GET", "HEAD", "POST"])
def operation_cancel(request: PersonRequest) -> HttpResponse:
    return _act(request, "cancel")


@require_http_methods(["GET", "HEAD", "POST"])
def operation_forget(request: PersonRequest) -> HttpResponse:
    return _act(request, "forget")


def _act(request: PersonRequest, act: acts.Act) -> HttpResponse:
    """What would happen, in exact numbers, and then it. Another number than the one on screen asks again."""
    user, query = request.user, request.GET
    filters = OperationFilters.parse(query)
    everything = filters if query.get("all") == "1" else None
    picks = [int(text) for text in query.getlist("pick")[: acts.MOST] if _is_number(text)]
    found = selectors_operations.picked(user, picks, everything, acts.ROLES[act])
    if not access.banks_for(user, acts.ROLES[act]).exists():
        raise PermissionDenied if access.banks_for(user).exists() else Http404
    plan = acts.plan(user=user, act=act, rows=found[: acts.MOST])
    context: dict[str, Any] = {
        "act": act,
        "filters": filters,
        "plan": plan,
        "picked": len(found),
        "too_many": len(found) > acts.MOST,
        "here": request.get_full_path(),
        "back": reverse("banks:operation-list") + filters.query(),
    }
    page = "banks/operation_confirm.html"
    if request.method != "POST":
        return render(request, page, context)
    if context["too_many"] or not plan.do or request.POST.get("total") != str(len(plan.do)):
        return render(request, page, {**context, "moved": True}, status=409)
    if len(plan.do) > 1:
        job = acts.start(user=user, act=act, rows=plan.do)
        return SeeOther(reverse("banks:operation-acts", args=[job.pk]))
    write = acts.record(user=user, act=act, row=plan.do[0])
    messages.success(request, f"It is being sent. Row {write.pk} of the log says how it ends.")
    return SeeOther(context["back"])


@require_safe
def operation_acts(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, [acts.KIND])
    progress = selectors_operations.progress_of(job)
    over = job.ended and not progress.waiting
    context = {
        "job": job,
        "progress": progress,
        "writes": selectors_operations.rows_of(job)[: selectors_operations.WORDS_SHOWN],
        "skipped": selectors_operations.skipped_of(job),
        "over": over,
    }
    if wants_fragment(request):
        status = STOP_POLLING if over else 200
        return render(request, "banks/_operation_progress.html", context, status=status)
    return render(request, "banks/operation_job.html", context)


def _news(request: PersonRequest, filters: OperationFilters) -> HttpResponse:
    """What has changed in the rows of a page, each in its place; nothing is added, nothing moves."""
    shown = dict(each.partition("-")[::2] for each in request.GET.get("rows", "").split(".")[:60])
    pks = [int(pk) for pk in shown if _is_number(pk)]
    last = request.GET.get("last", "")
    found = selectors_operations.rows_by_pk(request.user, pks)
    rows = selectors_operations.as_rows(request.user, found)
    context = _state(request, filters, rows, int(last) if _is_number(last) else 0)
    changed = [row for row in rows if row.version != shown.get(str(row.seen.pk))]
    gone = sorted(set(pks) - {row.seen.pk for row in rows})
    status = 200 if context["asking"].delay or request.method == "POST" else STOP_POLLING
    context |= {"changed": changed, "gone": gone, "fragment": True}
    return render(request, "banks/_operation_news.html", context, status=status)


def _state(
    request: PersonRequest, filters: OperationFilters, rows: Sequence[selectors_operations.OperationRow], last: int
) -> dict[str, Any]:
    """What the list and its news share: counts, how fresh it is, and when the page asks again."""
    fresh = selectors_operations.freshness(request.user, filters)
    shown = ".".join(f"{row.seen.pk}-{row.version}" for row in rows)
    newer = filters.rows(request.user).filter(pk__gt=last)
    return {
        "filters": filters,
        "views": {show: filters.query(show=show) for show in SHOW} | {"all": filters.query(show="")},
        "counts": selectors_operations.counts(request.user, filters),
        "fresh": fresh,
        "asking": selectors_operations.asking(request.user, filters, reading=fresh.reading, rows=rows),
        "newer": count_of(newer, NEWER_COUNTED) if last else None,
        "ask_query": urlencode({**filters.values, "rows": shown, "last": str(last)}),
        "stuck_after": OperationSeen.stuck_before(),
    }


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 18
