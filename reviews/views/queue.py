from django.http import HttpResponse
from django.shortcuts import render

from memadmin.htmx import PersonRequest, signed_in


@signed_in
def entry_list(request: PersonRequest) -> HttpResponse:
    return render(request, "reviews/entry_list.html")
