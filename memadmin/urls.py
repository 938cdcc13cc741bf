from django.urls import URLPattern, URLResolver, include, path

from memadmin import errors
from memadmin.api import root as api
from memadmin.health import healthz, readyz
from memadmin.metrics.views import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", include((api.urls(), "api"))),  # first: an address is compared with all that stand before it
    path("", include("reviews.urls")),
    path("", include("banks.urls")),
    path("accounts/", include("memadmin.accounts.urls")),
    path("accounts/", include("memadmin.accounts.signin_urls")),
    path("api", api.nothing),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler429 = errors.too_many
handler500 = errors.server_error
