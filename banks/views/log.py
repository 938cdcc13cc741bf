from django.http import HttpResponse
from django.shortcuts import render

from memadmin.htmx import PersonRequest, signed_in


@signed_in
def write_list(request: PersonRequest) -> HttpResponse:
    return render(request, "banks/write_list.html")
