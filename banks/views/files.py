"""Files into a bank: choose them, say what they are, and see how far each is."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from banks import access, files, kept_files
from banks.files import Upload, selectors
from banks.files.taking import FILE, UPLOAD, too_large
from banks.forms_files import BankForm, FilesForm, about_forms, tell
from banks.models import Role, Write
from banks.retain import BankClosed, Refused
from banks.selectors import writable_banks
from memadmin import uploads as wall
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from memadmin.paging import Cursor

SALT = "banks.files"
STOP_POLLING = 286  # htmx: swap this and ask no more
GONE = "These files were queued already, or they waited for more than an hour. Nothing was stored now; send them again."


@require_http_methods(["GET", "HEAD", "POST"])
def files_new(request: PersonRequest) -> HttpResponse:
    if request.method != "POST":
        return _list(request)
    access.require_named(request.user, request.POST.get("bank", ""), Role.REVIEWER)
    form = FilesForm(request.POST, request.FILES, user=request.user)
    if status := wall.refused(request, form, too_large(request.META.get(wall.TOO_LARGE))):
        return _page(request, form, status)
    try:
        uploads = files.receive(form.cleaned_data["file"], kind=UPLOAD)
    except Refused as refused:
        form.add_error("file", [str(problem) for problem in refused.problems])
        return _page(request, form, refused.status)
    return _describe(request, form, uploads, about_forms(None, uploads), 200)


@require_POST
def files_confirm(request: PersonRequest) -> HttpResponse:
    access.require_named(request.user, request.POST.get("bank", ""), Role.REVIEWER)
    uploads = _kept(request)
    if uploads is None:
        messages.warning(request, GONE)
        return SeeOther(reverse("banks:retain-files"))
    form, said = BankForm(request.POST, user=request.user), about_forms(request.POST, uploads)
    if not all([form.is_valid(), *(each.is_valid() for each in said)]):
        return _describe(request, form, uploads, said, 422)
    try:
        with _taken(uploads) as taken:
            about = [each.about for each in said]
            sent = files.retain_files(
                user=request.user, bank=form.cleaned_data["bank"], uploads=taken, about=about, via=Write.Via.WEB
            )
    except FileNotFoundError:  # another request was faster
        messages.warning(request, GONE)
        return SeeOther(reverse("banks:retain-files"))
    except (Refused, BankClosed) as error:
        for text in tell(said, error.problems) if isinstance(error, Refused) else [str(error)]:
            form.add_error(None, text)
        return _describe(request, form, uploads, said, 422)
    messages.success(request, " ".join([sent.message, "They are sent one by one.", *sent.notes]))
    return SeeOther(f"{reverse('banks:retain-files')}?group={sent.group}")


@require_POST
def files_take_back(request: PersonRequest, pk: int) -> HttpResponse:
    write = selectors.get_file(request.user, pk)
    if write.state in Write.OPEN and not selectors.to_take_back(request.user, [write]) and write.sent is None:
        raise PermissionDenied("Only who sent a file, or an admin of its bank, takes it back.")
    if files.take_back(write=write):
        messages.success(request, "Taken back: it is not sent, and its bytes are forgotten.")
    else:
        messages.warning(request, "Nothing was changed. It is on its way, or has ended.")
    return SeeOther(f"{reverse('banks:retain-files')}?group={write.group}")


def _list(request: PersonRequest) -> HttpResponse:
    """The form, and the files on their way; with `group` only those of one request, which the page goes on asking."""
    group = _group(request)
    rows = selectors.files_of(request.user, group) if group else []
    if group and not rows:
        raise Http404("There are no such files.")
    if wants_fragment(request) and group:
        status = STOP_POLLING if selectors.over(rows) else 200
        return render(request, "banks/_files_sent.html", _of_group(request, group, rows), status=status)
    if group:
        return render(request, "banks/files_sent.html", _of_group(request, group, rows))
    return _page(request, FilesForm(initial={"bank": request.GET.get("bank", "")}, user=request.user), 200)


def _page(request: PersonRequest, form: FilesForm, status: int) -> HttpResponse:
    page = selectors.file_page(request.user, Cursor.parse(request.GET.get("page", "")))
    context = {"form": form, "page": page, **_rows(request, page.rows)}
    response = render(request, "banks/files_list.html", context, status=status)
    if status >= 400 and wants_fragment(request):
        response["HX-Retarget"] = "#main"  # with the form, as without a script
    return response


def _describe(
    request: PersonRequest, form: BankForm, uploads: list[Upload], said: list[Any], status: int
) -> HttpResponse:
    context = {
        "form": form,
        "bank": form.cleaned_data.get("bank"),
        "files": list(zip(uploads, said, strict=True)),
        "kept": signing.dumps([[up.kept, up.name, up.size, up.sha256] for up in uploads], salt=_salt(request)),
    }
    return render(request, "banks/files_describe.html", context, status=status)


def _of_group(request: PersonRequest, group: UUID, rows: list[Write]) -> dict[str, Any]:
    return {
        "group": group,
        "over": selectors.over(rows),
        "bank": rows[0].bank,
        **_rows(request, rows),
    }


def _rows(request: PersonRequest, rows: list[Write]) -> dict[str, Any]:
    return {
        "rows": [(row, selectors.state_of(row)) for row in rows],
        "may_write": writable_banks(request.user),
        "may_take_back": selectors.to_take_back(request.user, rows),
    }


def _group(request: PersonRequest) -> UUID | None:
    if not (given := request.GET.get("group", "")):
        return None
    try:
        return UUID(given)
    except ValueError:
        raise Http404("There are no such files.") from None


def _kept(request: PersonRequest) -> list[Upload] | None:
    """What this person has sent, and nobody else can name."""
    try:
        given = signing.loads(request.POST.get("kept", ""), salt=_salt(request), max_age=kept_files.STRAY_AFTER)
    except signing.BadSignature:
        return None
    return [Upload(*each) for each in given]


@contextmanager
def _taken(uploads: list[Upload]) -> Iterator[list[Upload]]:
    """The files, for one of several requests: FileNotFoundError for the rest. Where it fails they wait as before."""
    taken: list[Upload] = []
    try:
        taken.extend(_renamed(each, FILE) for each in uploads)
        yield taken
    except BaseException:
        for each in taken:
            _renamed(each, UPLOAD)
        raise


def _renamed(upload: Upload, kind: str) -> Upload:
    return replace(upload, kept=kept_files.take(upload.kept, kind))


def _salt(request: PersonRequest) -> str:
    return f"{SALT}.{request.user.pk}"
