"""Imports: upload a queue file, watch it, read what became of each line, place what was parked."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks.access import servers_for
from banks.models import Bank, Job, Role
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from memadmin.uploads import refused
from reviews.forms import ImportForm, too_large
from reviews.importing import files
from reviews.importing.assign import assign_to_bank, map_address
from reviews.importing.job import start_import
from reviews.models import SourceEvent
from reviews.selectors import imports

SAID = 5  # lines that stay parked, by name
STOP_POLLING = 286  # htmx: swap this and ask no more


@require_safe
def import_list(request: PersonRequest) -> HttpResponse:
    context = {
        "watched": imports.watched_file(request.user),
        "jobs": imports.jobs_of(request.user),
        "parked": imports.parked_count(request.user),
    }
    return render(request, "reviews/import_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def import_new(request: PersonRequest) -> HttpResponse:
    if request.method != "POST":
        return _form(request, ImportForm(user=request.user))
    form = ImportForm(request.POST, request.FILES, user=request.user)
    if status := refused(request, form, too_large()):
        return _form(request, form, status)
    try:
        job = start_import(
            owner=request.user,
            machine=form.cleaned_data["machine"],
            chunks=form.cleaned_data["file"].chunks(),
            localhost=form.cleaned_data["localhost"],
        )
    except files.TooLarge:
        form.add_error("file", too_large())
        return _form(request, form, status=413)
    return SeeOther(reverse("reviews:import-detail", args=[job.pk]))


@require_safe
def import_detail(request: PersonRequest, pk: int) -> HttpResponse:
    job = imports.get_job(request.user, pk)
    if wants_fragment(request):
        status = STOP_POLLING if job.ended else 200
        return render(request, "reviews/_import_report.html", _report(request, job), status=status)
    return render(request, "reviews/import_detail.html", _report(request, job))


@require_safe
def import_skipped(request: PersonRequest, pk: int) -> HttpResponseBase:
    job = imports.get_job(request.user, pk)
    response = StreamingHttpResponse(imports.skipped_raw(job), content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="skipped-lines-{job.pk}.txt"'
    return response


@require_safe
def parked_list(request: PersonRequest) -> HttpResponse:
    user = request.user
    rows, after = imports.parked_page(user, _number(request, "after"))
    servers = servers_for(user, Role.ADMIN)
    shown = imports.parked_to_assign(user).filter(pk__in=[row.pk for row in rows])
    context = {
        "rows": rows,
        "after": after,
        "total": imports.parked_count(user),
        "servers": servers,
        "assignable": set(shown.values_list("pk", flat=True)),
        "banks": Bank.objects.filter(server__in=servers).select_related("server").order_by("server", "bank_id"),
        "addresses": imports.parked_addresses(user),
    }
    return render(request, "reviews/parked_list.html", context)


@require_POST
def parked_assign(request: PersonRequest) -> HttpResponse:
    """Lines to a bank, or a line's address to a server. Only for admins of that server; the services check again."""
    user = request.user
    administered = servers_for(user, Role.ADMIN)
    chosen = [imports.get_parked(user, pk) for pk in _numbers(request, "line")]
    if not administered.exists():
        raise PermissionDenied
    server = administered.filter(pk__in=_numbers(request, "server")).first()
    bank = (
        Bank.objects.filter(server__in=administered, pk__in=_numbers(request, "bank")).select_related("server").first()
    )
    if server and chosen:
        job = map_address(user=user, parked=chosen[0], server=server)
        return SeeOther(reverse("reviews:import-detail", args=[job.pk]))
    if bank and chosen:
        _say(request, [line for parked in chosen for line in assign_to_bank(user=user, parked=parked, bank=bank)], bank)
    else:
        messages.warning(request, "Nothing was assigned. Choose lines, and a bank that you administer.")
    return SeeOther(reverse("reviews:parked-list"))


def _say(request: PersonRequest, lines: list[SourceEvent], bank: Bank) -> None:
    placed = [line for line in lines if line.state != SourceEvent.State.PARKED]
    if placed:
        noun = "line" if len(placed) == 1 else "lines"
        messages.success(request, f"{len(placed):,} {noun} assigned to {bank}.")
    for line in [line for line in lines if line.state == SourceEvent.State.PARKED][:SAID]:
        messages.warning(request, f"Line {line.line:,} stays parked. {line.reason_text}")
    if not lines:
        messages.warning(request, "Nothing was assigned. An admin of the lines' own server can do it.")


def _form(request: PersonRequest, form: ImportForm, status: int = 200) -> HttpResponse:
    return render(request, "reviews/import_form.html", {"form": form}, status=status)


def _report(request: PersonRequest, job: Job) -> dict[str, Any]:
    outcomes = imports.outcomes(job)
    listed = [(name, job.result[name]) for name in imports.LISTED if job.result.get(name)]
    chosen = request.GET.get("lines", "")
    if chosen not in [name for name, _ in listed]:
        chosen = listed[0][0] if listed else ""
    return {
        "job": job,
        "outcomes": outcomes,
        "kinds": imports.kinds_brought(job),
        "listed": listed,
        "chosen": chosen,
        "lines": imports.lines_of(job, chosen, _number(request, "after")) if chosen else None,
        "fragment": wants_fragment(request),
    }


def _number(request: PersonRequest, name: str) -> int:
    return next(iter(_numbers(request, name)), 0)


def _numbers(request: PersonRequest, name: str) -> list[int]:
    """Our primary keys and line numbers from the form or the address; what is none is dropped."""
    texts = (request.POST if request.method == "POST" else request.GET).getlist(name)
    return [int(text) for text in texts[: imports.PAGE_SIZE] if text.isascii() and text.isdigit() and len(text) < 10]
