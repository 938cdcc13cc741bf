"""Several people on one queue."""

from django.urls import URLPattern, URLResolver, path

from reviews.views import conflict, watch

urlpatterns: list[URLPattern | URLResolver] = [
    path("reviews/changes/", watch.entry_changes, name="entry-changes"),
    path("reviews/<int:pk>/open/", watch.entry_open, name="entry-open"),
    path("reviews/<int:pk>/leave/", watch.entry_leave, name="entry-leave"),
    path("reviews/<int:pk>/changed/", conflict.entry_changed, name="entry-changed"),
]
