"""The library of seeds: those that come with memadmin, and the team's own. Nothing here calls a server."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, forms_seeds
from banks.models import Role, Seed
from banks.seeds import BUILT_IN, library
from banks.services.refusal import ChangedMeanwhile, Refusal
from memadmin.htmx import PersonRequest, SeeOther, posted


@require_safe
def seed_list(request: PersonRequest) -> HttpResponse:
    if not access.banks_for(request.user).exists() and not access.reach_of(request.user).team:
        raise Http404
    context = {
        "built_in": BUILT_IN,
        "own": [(row, library.spec_of(row)) for row in Seed.objects.all()],
        "may_edit": access.reach_of(request.user).team,
        "may_seed": access.banks_for(request.user, Role.ADMIN).exists(),
    }
    return render(request, "banks/seed_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def seed_new(request: PersonRequest) -> HttpResponse:
    access.require_reach(request.user, "team")
    form = forms_seeds.SeedForm(posted(request))
    if request.method != "POST" or not form.is_valid():
        return _form(request, form)
    try:
        library.add(actor=request.user, spec=form.cleaned_data["spec"])
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _form(request, form)
    messages.success(request, "Stored. No bank has a model of it yet: seed them.")
    return SeeOther(reverse("banks:seed-list"))


@require_http_methods(["GET", "HEAD", "POST"])
def seed_edit(request: PersonRequest, pk: int) -> HttpResponse:
    access.require_reach(request.user, "team")
    row = get_object_or_404(Seed, pk=pk)
    form = forms_seeds.SeedForm(posted(request), spec=library.spec_of(row))
    if request.method != "POST" or not form.is_valid():
        return _form(request, form, row)
    shown = request.POST.get("shown", "")
    try:
        changed = library.change(actor=request.user, row=row, shown=shown, spec=form.cleaned_data["spec"])
    except ChangedMeanwhile as refusal:
        form.add_error(None, str(refusal))
        row.refresh_from_db()
        return _form(request, form, row, status=409)
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _form(request, form, row)
    said = "Stored. Models that were made from it stay as they are; a preview of seeding says which differ."
    messages.success(request, said if changed else "Nothing was different.")
    return SeeOther(reverse("banks:seed-list"))


@require_POST
def seed_remove(request: PersonRequest, pk: int) -> HttpResponse:
    access.require_reach(request.user, "team")
    removed = library.remove(actor=request.user, row=get_object_or_404(Seed, pk=pk))
    messages.success(request, "Removed. Models that were made from it stay." if removed else "It was gone already.")
    return SeeOther(reverse("banks:seed-list"))


@require_http_methods(["GET", "HEAD", "POST"])
def seed_import(request: PersonRequest) -> HttpResponse:
    access.require_reach(request.user, "team")
    form = forms_seeds.SeedFileForm(posted(request), request.FILES or None)
    if request.method != "POST" or not form.is_valid():
        return render(request, "banks/seed_import.html", {"form": form}, status=422 if form.errors else 200)
    try:
        told = library.take(actor=request.user, specs=form.cleaned_data["file"])
    except Refusal as refusal:
        form.add_error(None, str(refusal))
        return render(request, "banks/seed_import.html", {"form": form}, status=422)
    messages.success(request, f"{len(told.added)} added, {len(told.same)} were here already.")
    if told.other:
        names = ", ".join(told.other[:20])
        messages.warning(request, f"Left alone, since seeds of these ids stand here with other values: {names}.")
    return SeeOther(reverse("banks:seed-list"))


@require_safe
def seed_export(request: PersonRequest) -> HttpResponse:
    """The team's own seeds; with `all=1` also those built in, to start from."""
    access.require_reach(request.user, "team")
    body = library.exported(built_in=request.GET.get("all") == "1")
    response = HttpResponse(body, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="memadmin-seeds.json"'
    return response


def _form(request: PersonRequest, form: forms_seeds.SeedForm, row: Seed | None = None, status: int = 0) -> HttpResponse:
    context = {"form": form, "row": row, "shown": library.seen(row) if row else ""}
    return render(request, "banks/seed_form.html", context, status=status or (422 if form.errors else 200))
