"""Ways into a bank; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import transcripts

urlpatterns: list[URLPattern] = [
    path("retain/transcript/", transcripts.transcript_new, name="transcript-new"),
    path("retain/transcript/confirm/", transcripts.transcript_confirm, name="transcript-confirm"),
]
