"""Imports and parked lines; included by `reviews.urls`, in its namespace."""

from django.urls import URLPattern, path

from reviews.views import import_log, imports

urlpatterns: list[URLPattern] = [
    path("imports/", imports.import_list, name="import-list"),
    path("imports/new/", imports.import_new, name="import-new"),
    path("imports/log/", import_log.import_log, name="import-log"),
    path("imports/<int:pk>/", imports.import_detail, name="import-detail"),
    path("imports/<int:pk>/skipped/", imports.import_skipped, name="import-skipped"),
    path("imports/parked/", imports.parked_list, name="parked-list"),
    path("imports/parked/assign/", imports.parked_assign, name="parked-assign"),
]
