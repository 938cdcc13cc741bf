from django.http import HttpResponse
from django.shortcuts import render

from memadmin.htmx import PersonRequest, signed_in


@signed_in
def overview(request: PersonRequest) -> HttpResponse:
    return render(request, "reviews/overview.html")
