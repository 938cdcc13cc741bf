"""`/settings/`: servers that answer, what the agents' tool is told by its two files, and the three languages."""

from pathlib import Path
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from banks.services.refusal import Refusal
from memadmin.htmx import PersonRequest, SeeOther
from reviews.agentconfig import files
from reviews.agentconfig.layers import Config, layer_of, merged
from reviews.forms_settings import KeyForm, PairForm
from reviews.selectors import status
from reviews.services import agent_files

NOT_HERE = (
    "Files of this machine are read and saved only by an operator, where memadmin runs on the developer's own machine "
    "and MEMADMIN_AGENT_FOLDERS names the projects."
)


@require_safe
def settings_page(request: PersonRequest) -> HttpResponse:
    folders = _folders(request)
    asked = request.GET.get("folder", "")
    number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 4 and int(asked) < len(folders) else 0
    return _page(request, PairForm(), **(_local(folders, number) if folders else {}))


@require_POST
def settings_upload(request: PersonRequest) -> HttpResponse:
    """Shown in the answer and kept nowhere."""
    form = PairForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, code=422)
    layers = layer_of("project", form.raw("project")), layer_of("global", form.raw("person"))
    return _page(request, form, config=merged(*layers, folder=form.cleaned_data["folder"]), uploaded=True)


@sensitive_post_parameters("value")
@require_POST
def settings_save(request: PersonRequest) -> HttpResponse:
    """Sets one key in one of the files of this machine."""
    return _change(request, remove=False)


@require_POST
def settings_remove(request: PersonRequest) -> HttpResponse:
    """Takes one key out of one of the files of this machine, so that it is inherited."""
    return _change(request, remove=True)


def _change(request: PersonRequest, *, remove: bool) -> HttpResponse:
    folders = _folders(request)
    if not folders:
        raise PermissionDenied(NOT_HERE)
    form = KeyForm(request.POST, folders=folders)
    if not form.is_valid():
        return _page(request, PairForm(), code=422, **_local(folders, 0, form))
    said = form.cleaned_data
    number = folders.index(said["folder"])
    try:
        agent_files.save(
            actor=request.user,
            place=said["place"],
            folder=said["folder"],
            name=said["name"],
            value=None if remove else said["value"],
            seen=form.seen,
        )
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _page(request, PairForm(), code=409 if not refusal.field else 422, **_local(folders, number, form))
    done = f"{'taken out of' if remove else 'saved in'} the {said['place']} file"
    messages.success(request, f"{said['name']} is {done}. The tool reads it at its next start.")
    return SeeOther(f"{reverse('reviews:settings')}?folder={number}")


def _folders(request: PersonRequest) -> list[Path]:
    return files.folders() if request.user.is_superuser else []


def _local(folders: list[Path], number: int, form: KeyForm | None = None) -> dict[str, Any]:
    project, person = (files.look(place, folders[number]) for place in ("project", "global"))
    seen = {"folder": number, "seen_project": project.seen, "seen_global": person.seen}
    if form is not None:  # what was typed in, on the files as they are now
        form.data = {**form.data.dict(), **seen}  # type: ignore[attr-defined]  # a QueryDict
    return {
        "config": merged(project.layer, person.layer, folder=folders[number].name),
        "files": [project, person],
        "key_form": form or KeyForm(initial=seen, folders=folders),
        "folders": list(enumerate(folders)),
        "folder": number,
    }


def _page(
    request: PersonRequest, pair: PairForm, *, config: Config | None = None, code: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "servers": status.server_statuses(request.user),
        "config": config,
        "banks": status.banks_called(request.user, config.bank) if config else [],
        "pair_form": pair,
        **more,
    }
    return render(request, "reviews/settings.html", context, status=code)
