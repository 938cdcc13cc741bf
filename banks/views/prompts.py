"""What a row of the write log keeps private: one look, by an admin of its bank, who says so in the log."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from banks.paper import PART, paper
from banks.services import prompts
from memadmin.htmx import PersonRequest, wants_fragment
from memadmin.retention import Omitted


@require_POST
def write_prompt(request: PersonRequest, pk: int) -> HttpResponse:
    write, text = prompts.look(user=request.user, write_id=pk)
    context = {
        "write": write,
        "paper": paper(text, 1) if text is not None else None,
        "omitted": Omitted("exact", len(text) - PART) if text and len(text) > PART else None,
    }
    template = "banks/_write_prompt.html" if wants_fragment(request) else "banks/write_prompt.html"
    response = render(request, template, context)
    response["Cache-Control"] = "no-store"
    return response
