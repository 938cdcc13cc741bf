"""The write log: everything that was done, or tried, to a bank."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from banks import access, hooks, selectors, selectors_facts, selectors_imported, writes
from banks import selectors_log as log
from banks.files import selectors as files
from banks.log_export import CUT_TO, LOG_FIELDS, log_rows
from banks.log_filters import parse_log
from banks.models import Blob, Role, Write
from banks.paper import paper
from banks.retain import selectors as retain
from banks.selectors_facts import TOLD
from banks.troubles import of_bank
from memadmin.exporting import download
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, SeeOther
from memadmin.paging import Cursor
from memadmin.retention import RetainedItems, RetainedText, first_of, head_of

VALUE_SHOWN = 500  # bytes of one value of a request or an outcome
VALUES_SHOWN = 60
RETRY_MISSED = "It does not wait for a person any more, or something else was decided about it since."


@require_safe
def write_list(request: PersonRequest) -> HttpResponse:
    user, asked = request.user, parse_log(request.GET)
    if not asked.tidy:  # a form without JavaScript sends its empty fields too
        return redirect(asked.address(request.path))
    filters = asked.filters
    listed = filters.listed(user)
    page = log.write_page(listed, Cursor.parse(request.GET.get("page", "")))
    found, in_flight = log.found_and_in_flight(user, listed)
    context = {
        "filters": filters,
        "refused": asked.refused,
        "page": page,
        "lines": [log.Line([row]) for row in page.rows] if filters.group else log.lines_of(user, page.rows),
        "standing": selectors_facts.standing(page.rows),
        "found": found,
        "in_flight": in_flight,
        "not_indexed": log.not_indexed_yet(filters),
        "options": log.options(user, filters),
        "may_write": selectors.writable_banks(user),
    }
    return render(request, "banks/write_list.html", context)


@require_safe
def write_export(request: PersonRequest, as_: str) -> StreamingHttpResponse:
    """The rows of the list as a file. Texts come on demand, whole as JSON Lines and cut in a table."""
    listed = parse_log(request.GET).filters.listed(request.user)
    longest = CUT_TO if as_ == "csv" else None
    rows = log_rows(listed, with_text=request.GET.get("texts") == "1", longest=longest)
    return download("memadmin-log", LOG_FIELDS, rows, as_=as_)


@require_safe
def write_detail(request: PersonRequest, pk: int) -> HttpResponse:
    write = selectors.get_write(request.user, pk)
    role = access.role_on(request.user, write.bank)
    before, changed = _here(write.before), _here(write.request or write.after)
    facts = selectors_facts.facts_of_row(write)
    imported = selectors_imported.imported_of(write)
    still_retired = selectors_facts.still_retired([write]).get(pk, [])
    standing = selectors_facts.standing([write])
    file = files.file_of(write)
    context = {
        "write": write,
        "imported": imported,
        "may_look": role == Role.ADMIN,
        "entry_url": hooks.page_of(write.bank, write.document_hash),
        "undone_by": selectors.undone_by(write),
        "operation": write.params.get("operation") or write.outcome.get("operation"),
        "batch": retain.items_of(write) if write.kind == "retain" and not imported else None,
        "file": file,
        "file_state": files.state_of(write) if file else None,
        "group_size": selectors.group_size(request.user, write),
        "may_write": role is not None and role >= selectors.role_for(write),
        "troubles": of_bank(write.bank, fix=request.user.is_superuser) if write.is_open else [],
        "diff": selectors.diff_of(write, before, changed) if before and changed else None,
        **_paper(request, imported.main if imported else write.before or write.request or write.after),
        "facts": facts,
        "still_retired": still_retired,
        "may_restore": pk in standing.restorable,
        "facts_gone": pk in standing.gone,
        "outcome": _flat({} if imported else _untold(write, facts)),
        "params": _flat({} if imported else write.params),
        "may_put_back": write.kind == "delete" and write.state == Write.State.DONE and before is not None,
    }
    return render(request, "banks/write_detail.html", context)


@require_POST
def write_retry(request: PersonRequest, pk: int) -> HttpResponse:
    return _act(request, pk, writes.retry, "It is queued again.", RETRY_MISSED)


@require_POST
def write_discard(request: PersonRequest, pk: int) -> HttpResponse:
    return _act(request, pk, writes.discard, "Discarded. The row stays in the log.", "It has moved on meanwhile.")


def _act(request: PersonRequest, pk: int, act: Callable[..., bool], done: str, missed: str) -> HttpResponse:
    write = selectors.get_write(request.user, pk, Role.REVIEWER)
    access.require(request.user, write.bank, selectors.role_for(write))
    if act(write=write, actor=request.user):
        messages.success(request, done)
    else:
        messages.warning(request, f"Nothing was changed. {missed}")
    back = request.POST.get("next", "")
    safe = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return SeeOther(back if safe else reverse("banks:write-detail", args=[pk]))


def _untold(write: Write, facts: list[selectors_facts.FactOfRow]) -> dict[str, Any]:
    """What of the outcome the list of facts does not tell."""
    return {name: value for name, value in write.outcome.items() if not (facts and name in TOLD)}


def _here(blob: Blob | None) -> Blob | None:
    """The blob, when its text was not erased."""
    return blob if blob is not None and blob.erased is None else None


def _paper(request: PersonRequest, blob: Blob | None) -> dict[str, Any]:
    """The text of the row as a card shows one: both ends at first, all of it in parts on demand."""
    part = number_of(request.GET.get("full", ""), digits=5)
    here = _here(blob)
    shown = paper(here.text, part) if here else None
    return {"blob": blob, "paper": shown, "part_url": f"{request.path}?full="}


def _flat(values: dict[str, Any]) -> RetainedItems[tuple[str, RetainedText]]:
    """Small parameters as lines of text; long ones are cut, the row keeps them whole."""
    there = ((str(name), value) for name, value in values.items() if value not in (None, "", [], {}))
    return first_of(((name, head_of(str(value), VALUE_SHOWN)) for name, value in there), VALUES_SHOWN)
