"""A session of an agent into a bank: choose the file, see the documents that it becomes, confirm."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core import signing
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from banks import access, kept_files
from banks.forms_transcripts import TranscriptForm, UploadForm, too_large
from banks.models import Role, Write
from banks.retain import BankClosed, Refused
from banks.services import transcripts
from banks.transcripts import FORMATS, NotBuilt
from memadmin.htmx import PersonRequest, SeeOther
from memadmin.retention import first_of, head_of
from memadmin.uploads import refused

SESSION = "session"  # of kept files
SHOWN, SHOWN_BAD, SHOWN_SKIPPED = 50, 20, 20
SHOWN_TEXT = 3_000  # bytes of each document
SALT = "banks.transcripts"
GONE = "This file was retained already, or it waited for more than an hour. Nothing was stored now; send it again."


@require_http_methods(["GET", "HEAD", "POST"])
def transcript_new(request: PersonRequest) -> HttpResponse:
    if request.method != "POST":
        return _form(request, UploadForm(initial={"bank": request.GET.get("bank", "")}, user=request.user), 200)
    access.require_named(request.user, request.POST.get("bank", ""), Role.REVIEWER)
    form = UploadForm(request.POST, request.FILES, user=request.user)
    if status := refused(request, form, too_large()):
        return _form(request, form, status)
    kept_files.remove_strays(SESSION)
    name = kept_files.keep(form.cleaned_data["file"].chunks(), kind=SESSION, most=settings.TRANSCRIPT_MAX_BYTES)
    try:
        with kept_files.opened(name) as stream:
            prepared = transcripts.prepare(user=request.user, stream=stream, **_asked(form))
    except (NotBuilt, transcripts.PersonsBank) as error:
        kept_files.remove(name)
        form.add_error("session" if "does not name" in str(error) else "file", str(error))
        return _form(request, form, 422)
    return render(request, "banks/transcript_preview.html", _preview(request, form, prepared, name))


@require_POST
def transcript_confirm(request: PersonRequest) -> HttpResponse:
    access.require_named(request.user, request.POST.get("bank", ""), Role.REVIEWER)
    form = TranscriptForm(request.POST, user=request.user)
    try:
        name = signing.loads(request.POST.get("kept", ""), salt=_salt(request), max_age=kept_files.STRAY_AFTER)
        taken = kept_files.take(name)
    except (signing.BadSignature, FileNotFoundError):
        messages.warning(request, GONE)
        return SeeOther(reverse("banks:transcript-new"))
    try:
        if not form.is_valid():
            raise NotBuilt(" ".join(f"{name}: {' '.join(map(str, said))}" for name, said in form.errors.items()))
        with kept_files.opened(taken) as stream:
            _, queued = transcripts.retain_transcript(
                user=request.user, stream=stream, via=Write.Via.WEB, **_asked(form)
            )
    except (NotBuilt, transcripts.PersonsBank, BankClosed, Refused) as error:
        kept_files.remove(taken)
        messages.error(request, str(error))
        return SeeOther(reverse("banks:transcript-new"))
    except BaseException:
        kept_files.give_back(taken, name)
        raise
    kept_files.remove(taken)
    messages.success(request, " ".join([queued.said, *queued.notes]))
    if queued.held:
        return SeeOther(f"{reverse('banks:retain-list')}?view=held")
    return SeeOther(f"{reverse('banks:write-list')}?bank={form.cleaned_data['bank'].pk}")


def _asked(form: TranscriptForm) -> dict[str, Any]:
    return {"bank": form.cleaned_data["bank"], "plan": form.plan, "format_": form.cleaned_data["format"]}


def _salt(request: PersonRequest) -> str:
    return f"{SALT}.{request.user.pk}"


def _form(request: PersonRequest, form: UploadForm, status: int) -> HttpResponse:
    return render(request, "banks/transcript_form.html", {"form": form}, status=status)


def _preview(request: PersonRequest, form: UploadForm, prepared: transcripts.Prepared, name: str) -> dict[str, Any]:
    session = prepared.session
    rows = (
        (document, head_of(document.text, SHOWN_TEXT), prepared.problems.get(place, []))
        for place, document in enumerate(prepared.documents)
    )
    return {
        "form": form,
        "bank": form.cleaned_data["bank"],
        "session": session,
        "format": FORMATS[session.format],
        "documents": first_of(rows, SHOWN),
        "count": len(prepared.documents),
        "refused": len(prepared.problems),
        "skipped": session.skipped.most_common(SHOWN_SKIPPED),
        "bad": first_of(session.bad, SHOWN_BAD),
        "kept": signing.dumps(name, salt=_salt(request)),
    }
