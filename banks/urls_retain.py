"""Ways into a bank; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import files, retain, transcripts

urlpatterns: list[URLPattern] = [
    path("retain/", retain.item_list, name="retain-list"),
    path("retain/<int:pk>/", retain.item_detail, name="retain-detail"),
    path("retain/<int:pk>/discard/", retain.item_discard, name="retain-discard"),
    path("retain/files/", files.files_new, name="retain-files"),
    path("retain/files/confirm/", files.files_confirm, name="retain-files-confirm"),
    path("retain/transcript/", transcripts.transcript_new, name="transcript-new"),
    path("retain/transcript/confirm/", transcripts.transcript_confirm, name="transcript-confirm"),
]
