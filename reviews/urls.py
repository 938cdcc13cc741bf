from django.urls import URLPattern, URLResolver, path

from reviews.urls_banks import urlpatterns as banks
from reviews.urls_bulk import urlpatterns as bulk
from reviews.urls_facts import urlpatterns as facts
from reviews.urls_imports import urlpatterns as imports
from reviews.urls_recall import urlpatterns as recall
from reviews.urls_search import urlpatterns as search
from reviews.urls_watch import urlpatterns as watch
from reviews.views import (
    card,
    decide,
    edit,
    letters,
    notices,
    outgoing,
    overview,
    queue,
    saved_views,
    screening,
    settings,
    skip,
    sources,
    undo,
    vanished,
)

app_name = "reviews"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("reviews/", queue.entry_list, name="entry-list"),
    path("reviews/next/", queue.entry_next, name="entry-next"),
    path("reviews/views/", saved_views.view_save, name="view-save"),
    path("reviews/views/<int:pk>/remove/", saved_views.view_remove, name="view-remove"),
    path("reviews/<int:pk>/skip/", skip.entry_skip, name="entry-skip"),
    path("reviews/<int:pk>/", card.entry_detail, name="entry-detail"),
    path("reviews/<int:pk>/reload/", card.entry_reload, name="entry-reload"),
    path("reviews/<int:pk>/approve/", decide.entry_approve, name="entry-approve"),
    path("reviews/<int:pk>/delete/", decide.entry_delete, name="entry-delete"),
    path("reviews/<int:pk>/undo/", decide.entry_undo, name="entry-undo"),
    path("reviews/<int:pk>/edit/", edit.entry_edit, name="entry-edit"),
    path("reviews/<int:pk>/close/", vanished.entry_close, name="entry-close"),
    path("reviews/<int:pk>/put-back/", vanished.entry_put_back, name="entry-put-back"),
    path("reviews/<int:pk>/revert/", vanished.entry_revert, name="entry-revert"),
    path("reviews/<int:pk>/reveal/", screening.entry_reveal, name="entry-reveal"),
    path("reviews/<int:pk>/dismiss/", screening.entry_dismiss, name="entry-dismiss"),
    path("undo/", undo.undo, name="undo"),
    path("sources/", sources.source_list, name="source-list"),
    path("sources/<int:pk>/look-back/", sources.source_look_back, name="source-look-back"),
    path("settings/", settings.settings_page, name="settings"),
    path("settings/letters/", letters.letters, name="letters"),
    path("settings/files/", settings.settings_upload, name="settings-upload"),
    path("settings/key/save/", settings.settings_save, name="settings-save"),
    path("settings/key/remove/", settings.settings_remove, name="settings-remove"),
    path("settings/notifications/", notices.notice_settings, name="notice-settings"),
    path("servers/<int:pk>/notify/", outgoing.outgoing_list, name="outgoing-list"),
    path("outgoing/<int:pk>/remove/", outgoing.outgoing_remove, name="outgoing-remove"),
    path("mail/off/<slug:token>", notices.notice_off, name="notice-off"),
    path("log/<int:pk>/put-back/", decide.write_put_back, name="write-put-back"),
    *banks,
    *bulk,
    *facts,
    *imports,
    *recall,
    *search,
    *watch,
]
