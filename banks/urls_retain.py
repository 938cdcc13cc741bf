"""Ways into a bank; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import files, retain, retain_form, transcripts

urlpatterns: list[URLPattern] = [
    path("retain/", retain.item_list, name="retain-list"),
    path("retain/new/", retain_form.retain_new, name="retain-new"),
    path("retain/new/try/", retain_form.retain_try, name="retain-try"),
    path("retain/new/send/", retain_form.retain_send, name="retain-send"),
    path("retain/tried/<int:pk>/", retain_form.retain_tried, name="retain-tried"),
    path("retain/sent/<int:pk>/", retain_form.retain_sent, name="retain-sent"),
    path("retain/<int:pk>/", retain.item_detail, name="retain-detail"),
    path("retain/<int:pk>/discard/", retain.item_discard, name="retain-discard"),
    path("retain/files/", files.files_new, name="retain-files"),
    path("retain/files/confirm/", files.files_confirm, name="retain-files-confirm"),
    path("retain/files/<int:pk>/take-back/", files.files_take_back, name="retain-files-take-back"),
    path("retain/transcript/", transcripts.transcript_new, name="transcript-new"),
    path("retain/transcript/confirm/", transcripts.transcript_confirm, name="transcript-confirm"),
]
