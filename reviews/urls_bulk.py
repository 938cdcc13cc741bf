"""One verdict on many memories."""

from django.urls import path

from reviews.views import bulk

urlpatterns = [
    path("reviews/bulk/approve/", bulk.bulk_approve, name="bulk-approve"),
    path("reviews/bulk/delete/", bulk.bulk_delete, name="bulk-delete"),
    path("reviews/bulk/<int:pk>/", bulk.bulk_job, name="bulk-job"),
    path("reviews/bulk/<int:pk>/stop/", bulk.bulk_stop, name="bulk-stop"),
    path("reviews/bulk/<int:pk>/undo/", bulk.bulk_undo, name="bulk-undo"),
]
