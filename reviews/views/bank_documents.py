"""The documents of a bank, one of them, and its tags. Ids of documents travel in bodies and queries."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from banks import access
from banks.forms_directives import TagsForm
from banks.models import Bank, Role
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.errors import NotDecided, TooLate
from reviews.selectors import bank_document as one
from reviews.selectors import bank_documents as listed
from reviews.selectors.bank_documents import DocumentFilters
from reviews.selectors.card import may_decide
from reviews.selectors.places import Ways
from reviews.services import bank_documents, extraction
from reviews.views.answers import Notice

LAST_PART, LAST_PAGE = 99_999, 100_000


@require_safe
def bank_document_list(request: PersonRequest, pk: int) -> HttpResponse:
    """The page asks for its list by itself; without script a link brings both in one."""
    bank = access.get_bank(request.user, pk)
    filters = DocumentFilters.parse(request.GET)
    context = {**_around(request, bank), "filters": filters, "here": _list_url(bank) + filters.query()}
    context["old_server"] = bank.server.api_version.startswith("0.")  # searches in ids alone
    if wants_fragment(request) or "now" in request.GET:
        context |= _sheet(bank, filters)
    name = "_bank_documents" if wants_fragment(request) else "bank_documents"
    return render(request, f"reviews/{name}.html", context)


@require_safe
def bank_document(request: PersonRequest, pk: int) -> HttpResponse:
    """One of its views at a time: each is one call, and asked for as the list is."""
    bank, document_id = access.get_bank(request.user, pk), _named(request.GET.get("document", ""))
    asked = wants_fragment(request) or "now" in request.GET
    context = _document(request, bank, document_id, asked=asked)
    name = "_bank_document" if wants_fragment(request) else "bank_document"
    return render(request, f"reviews/{name}.html", context)


@require_POST
def bank_document_tags(request: PersonRequest, pk: int) -> HttpResponse:
    bank, document_id = access.get_bank(request.user, pk, Role.REVIEWER), _named(request.POST.get("document", ""))
    form, was = TagsForm(request.POST), [tag for tag in request.POST.getlist("was") if _named(tag)]
    if not form.is_valid():
        return _again(request, bank, document_id, str(form.errors["tags"][0]), status=422)
    tags = form.cleaned_data["tags"]
    try:
        write = bank_documents.set_tags(user=request.user, bank_id=pk, document_id=document_id, tags=tags, was=was)
    except NotDecided as refused:
        status = 409 if isinstance(refused, TooLate) else 422
        return _again(request, bank, document_id, str(refused), status=status)
    said = "These are its tags already, so nothing was sent." if write is None else "The document gets these tags."
    messages.success(request, said)
    return SeeOther(_url(bank, document_id))


@require_POST
def bank_document_card(request: PersonRequest, pk: int) -> HttpResponse:
    """Opens its memory, where it is edited, deleted and extracted again."""
    bank, document_id = access.get_bank(request.user, pk, Role.REVIEWER), _named(request.POST.get("document", ""))
    try:
        entry = bank_documents.put_on_card(user=request.user, bank_id=pk, document_id=document_id)
    except NotDecided as refused:
        return _again(request, bank, document_id, str(refused), status=409)
    return SeeOther(reverse("reviews:entry-detail", args=[entry.pk]))


def _again(request: PersonRequest, bank: Bank, document_id: str, text: str, *, status: int) -> HttpResponse:
    """The document as it is now, why nothing was done, and what was typed."""
    context = _document(request, bank, document_id, asked=True)
    typed = request.POST.get("tags") if "tags" in request.POST else None
    context |= {"notice": Notice(text), "typed": typed}
    return render(request, "reviews/bank_document.html", context, status=status)


def _named(given: str) -> str:
    """No document has NUL in its id, nor has a tag, and no database stores it."""
    return "" if "\x00" in given else given


def _list_url(bank: Bank) -> str:
    return reverse("reviews:bank-documents", args=[bank.pk])


def _url(bank: Bank, document_id: str, **more: str | int) -> str:
    said = {name: value for name, value in more.items() if value not in ("", 1)}
    return f"{reverse('reviews:bank-document', args=[bank.pk])}?{urlencode({'document': document_id, **said})}"


def _sheet(bank: Bank, filters: DocumentFilters) -> dict[str, Any]:
    sheet, plain = listed.page_of(bank, filters), _list_url(bank)
    return {
        "sheet": sheet,
        "again": f"{plain}{filters.query()}{'&' if filters.query() else '?'}now=1",
        "busy": None if filters.values else listed.busy_in(bank),
        "ways": Ways.around(sheet.window, filters, plain, listed.PAGE_SIZE),
    }


def _document(request: PersonRequest, bank: Bank, document_id: str, *, asked: bool) -> dict[str, Any]:
    view = request.GET.get("view", "")
    view = view if view in one.VIEWS else ""
    page = _number(request.GET.get("page", ""), LAST_PAGE) or 1
    near = one.around(bank, document_id)
    tabs = [(name, label, _url(bank, document_id, view=name)) for name, label in one.VIEWS.items()]
    context: dict[str, Any] = {
        **_around(request, bank),
        "document_id": document_id,
        "near": near,
        "extractable": near.entry is not None and extraction.may_extract(near.entry),
        "view": view,
        "tabs": tabs,
        "here": _url(bank, document_id, view=view, page=page),
        "part_url": _url(bank, document_id, now="yes") + "&full=",
        "earlier": _url(bank, document_id, view=view, page=page - 1) if page > 1 else "",
        "later": _url(bank, document_id, view=view, page=page + 1),
    }
    if not asked:
        return context
    if not view:
        part = _number(request.GET.get("full", ""), LAST_PART)
        text = one.text_of(bank, document_id, part)
        return {**context, "text": text, "unread": text.unread}
    sheet = _rows(bank, document_id, view, page)
    return {**context, "sheet": sheet, "unread": sheet.unread}


def _rows(bank: Bank, document_id: str, view: str, page: int) -> one.ListSheet:
    if view == "chunks":
        return one.chunks_of(bank, document_id, page)
    if view == "history":
        return one.history_of(bank, document_id, page)
    return one.facts_of(bank, document_id, page, retired=view == "retired")


def _number(given: str, most: int) -> int:
    """0 for what is no number."""
    return min(int(given), most) if given.isascii() and given.isdigit() and len(given) < 8 else 0


def _around(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    role = access.role_on(request.user, bank)
    return {
        "bank": bank,
        "list_url": _list_url(bank),
        "document_url": f"{reverse('reviews:bank-document', args=[bank.pk])}?document=",
        "may_act": may_decide(role) and bank.addressable,
        "administered": role is not None and role >= Role.ADMIN,
    }
