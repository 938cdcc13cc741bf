"""Undo: a person's last actions, taken back one by one, the newest first."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from banks.models import Job
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.access import get_entry
from reviews.errors import NotDecided
from reviews.selectors.filters import Filters
from reviews.undoing import acts
from reviews.undoing.judging import Judged, judge
from reviews.undoing.steps import ABOUT_FACTS, Step, stack, top
from reviews.views.answers import Notice, card_url, show_card
from reviews.views.bulk import job_url

SHOWN = 20
# In the session: steps that were refused, and said so to this person. The next undo is of the one before.
PASSED, MOST_PASSED = "undo_passed", 50
NOTHING_NAMED = "The request did not say what to take back, so nothing was. Press the button of what you mean."


@dataclass(frozen=True)
class Refusal:
    """Why a step was not taken back; `judged` where there is another way."""

    said: str
    judged: Judged | None = None


@require_http_methods(["GET", "HEAD", "POST"])
def undo(request: PersonRequest) -> HttpResponse:
    """The stack; by post its newest step is taken back, which the post names."""
    if request.method != "POST":
        return _page(request)
    name = request.POST.get("step", "")
    if not name:
        return _refused(request, Refusal(NOTHING_NAMED), status=422)
    try:
        return _undone(request, acts.undo(user=request.user, name=name, passed=passed_by(request)))
    except acts.NotUndone as refused:
        judged = refused.judged
        if refused.passes:
            _pass(request, judged.step)
        return _refused(request, Refusal(f"Not taken back: {judged.step.said}. {judged.why}", judged))
    except NotDecided as refused:
        return _refused(request, Refusal(str(refused)))


def passed_by(request: HttpRequest) -> frozenset[str]:
    return frozenset(request.session.get(PASSED, []))


def _pass(request: HttpRequest, step: Step) -> None:
    passed = [name for name in request.session.get(PASSED, []) if name != step.name]
    request.session[PASSED] = [*passed, step.name][-MOST_PASSED:]


def _page(request: PersonRequest) -> HttpResponse:
    steps = stack(request.user)
    judged = judge(request.user, steps[:SHOWN])
    context = {
        "steps": judged,
        "top": next((each for each in judged if each.ready), None),
        "more": len(steps) - len(judged),
        "filters": Filters(),
    }
    return render(request, "reviews/undo_list.html", context)


def _undone(request: PersonRequest, undone: acts.Undone) -> HttpResponse:
    """Where the thing is: its card, the work that takes a bulk action back, or the row of the log."""
    said, filters = _said(request, undone), Filters.parse(request.GET)
    if undone.entry is not None and wants_fragment(request):
        entry = get_entry(request.user, undone.entry)
        return show_card(request, entry, filters, notice=Notice(said, "none"), announce=said)
    messages.success(request, said)
    if undone.job is not None:
        url = job_url(Job.objects.get(pk=undone.job))
    elif undone.entry is not None:
        facts = undone.step is not None and undone.step.kind in ABOUT_FACTS
        url = card_url(undone.entry, filters) + ("#facts" if facts else "")
    else:
        url = reverse("banks:write-detail", args=[undone.write])
    return HttpResponseClientRedirect(url) if wants_fragment(request) else SeeOther(url)


def _said(request: PersonRequest, undone: acts.Undone) -> str:
    said = acts.AGAIN if undone.step is None else f"Taken back: {undone.step.said}."
    before = top(request.user, passed_by(request))
    return f"{said} Before that: {before.said} (u)." if before else said


def _refused(request: PersonRequest, refusal: Refusal, *, status: int = 409) -> HttpResponse:
    """In the place of the button, with the next one; without htmx the stack, which has the reasons as well."""
    filters = Filters.parse(request.GET)
    if wants_fragment(request):
        context = {"refusal": refusal, "filters": filters}
        response = render(request, "reviews/_undo_answer.html", context, status=status)
        response["HX-Retarget"] = "#undo"
        return response
    messages.warning(request, refusal.said)
    return SeeOther(reverse("reviews:undo"))
