"""Operations; included by `banks.urls`, in its namespace."""

from django.urls import URLPattern, path

from banks.views import operations

urlpatterns: list[URLPattern] = [
    path("operations/", operations.operation_list, name="operation-list"),
    path("operations/look/", operations.operation_look, name="operation-look"),
    path("operations/retry/", operations.operation_retry, name="operation-retry"),
    path("operations/cancel/", operations.operation_cancel, name="operation-cancel"),
    path("operations/forget/", operations.operation_forget, name="operation-forget"),
    path("operations/acts/<int:pk>/", operations.operation_acts, name="operation-acts"),
]
