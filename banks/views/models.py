"""The mental models of a bank: their list, one with its text, what it rests on, and what it said before."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from banks import access, selectors_models
from banks.diffs import diff
from banks.markdown import blocks_of
from banks.mental.acts import MOST_REFRESHED
from banks.mental.looking import automatic, seen_of
from banks.models import Bank, Role
from banks.paper import paper
from banks.reading import Unread
from banks.selectors_models import ModelRow, Version
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, wants_fragment
from memadmin.retention import first_of

EVIDENCE_SHOWN = 200
VERSIONS_SHOWN = 50
MODEL_ID = 2_000  # characters of an id
MOST_LOOKS = 40  # a page takes by itself at a text that is being written, and then no more


@require_safe
def model_list(request: PersonRequest, pk: int) -> HttpResponse:
    """The page asks for its list by itself; without script a link brings both in one."""
    bank = access.get_bank(request.user, pk)
    context = around(request, bank)
    if wants_fragment(request) or "now" in request.GET:
        context["sheet"] = selectors_models.sheet_of(bank)
    page = "banks/_bank_models.html" if wants_fragment(request) else "banks/bank_models.html"
    return render(request, page, context)


@require_safe
def model_detail(request: PersonRequest, pk: int) -> HttpResponse:
    """One model with its text: as it is, or with `as=page` with its headings and lists."""
    bank = access.get_bank(request.user, pk)
    model_id = named(request)
    context = {**around(request, bank), "model_id": model_id}
    if not (wants_fragment(request) or "now" in request.GET):
        return render(request, "banks/model_detail.html", context)
    found = selectors_models.read(bank, model_id)
    context["read"] = found
    if found.row is not None:
        context |= {"row": found.row, **_text_of(request, found.row.model.content)}
        context |= {"seen": seen_of(found.row.model), "automatic": automatic(found.row.model)}
        context["again"] = _again(request, found.row)
    page = "banks/_model.html" if wants_fragment(request) else "banks/model_detail.html"
    status = 404 if found.gone and not wants_fragment(request) else 200
    return render(request, page, context, status=status)


@require_safe
def model_evidence(request: PersonRequest, pk: int) -> HttpResponse:
    """What its text rests on, which may be much: asked for by itself."""
    bank = access.get_bank(request.user, pk)
    found = selectors_models.read(bank, named(request), evidence=True)
    context = {**around(request, bank), "model_id": named(request), "read": found}
    if found.row is not None:
        rests = found.row.model.evidence
        context["row"] = found.row
        context["evidence"] = None if rests is None else first_of(rests, EVIDENCE_SHOWN)
    page = "_model_evidence" if wants_fragment(request) else "model_evidence"
    return render(request, f"banks/{page}.html", context)


@require_safe
def model_history(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk)
    context: dict[str, Any] = {**around(request, bank), "model_id": named(request)}
    try:
        found = selectors_models.history_of(bank, named(request))
    except Unread as unread:
        context["unread"] = unread
    else:
        context["versions"] = [_with_diff(each) for each in found[:VERSIONS_SHOWN]]
        context["more"] = max(len(found) - VERSIONS_SHOWN, 0)
    page = "_model_history" if wants_fragment(request) else "model_history"
    return render(request, f"banks/{page}.html", context)


def named(request: PersonRequest) -> str:
    """The id of the model that is meant, from query or body; "" for what is none. A part of an id is another's.

    None has NUL in it, and no database stores that.
    """
    given = (request.POST if request.method == "POST" else request.GET).get("model", "")
    return "" if "\x00" in given or len(given) > MODEL_ID else given


def address_of(view: str, bank: Bank, model_id: str) -> str:
    return f"{reverse(f'banks:{view}', args=[bank.pk])}?{urlencode({'model': model_id})}"


def around(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    role = access.role_on(request.user, bank)
    return {
        "bank": bank,
        "administered": role is not None and role >= Role.ADMIN,
        "may_refresh": role is not None and role >= Role.REVIEWER and bank.addressable,
        "may_change": role is not None and role >= Role.ADMIN and bank.addressable,
        "most_refreshed": MOST_REFRESHED,
    }


def _again(request: PersonRequest, row: ModelRow) -> str:
    """What the page asks next by itself, "" when nothing is under way or it has asked often enough."""
    looks = number_of(request.GET.get("looks", ""), digits=5)
    if looks >= MOST_LOOKS or not (row.writing or (row.write and row.write.is_open)):
        return ""
    as_page = {"as": "page"} if request.GET.get("as") == "page" else {}
    return urlencode({"model": row.model.id, **as_page, "looks": str(looks + 1)})


def _text_of(request: PersonRequest, content: str | None) -> dict[str, Any]:
    if content is None:
        return {}
    as_page = request.GET.get("as") == "page"
    about = {"as": "page"} if as_page else {}
    return {
        "paper": paper(content, number_of(request.GET.get("part", ""), digits=5)),
        "blocks": blocks_of(content) if as_page else None,
        "part_url": f"?{urlencode({'model': named(request), 'now': '1', **about, 'part': ''})}",
    }


def _with_diff(version: Version) -> dict[str, Any]:
    """What the change did to the text; of a failed refresh there is none."""
    if version.failed:
        return {"version": version, "diff": None}
    return {"version": version, "diff": diff(version.before or "", version.after or "")}
