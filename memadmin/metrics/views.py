import secrets
from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from memadmin.metrics import collect


class Everything(Collector):
    def collect(self) -> Iterator[Metric]:
        return collect.everything()


@login_not_required
@never_cache
@require_safe
@sensitive_variables()
def metrics(request: HttpRequest) -> HttpResponse:
    """Only where MEMADMIN_METRICS_TOKEN is set, and only for who has it; for all others there is no such page."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    wanted = settings.METRICS_TOKEN
    if not wanted or not secrets.compare_digest(given.encode(), wanted.encode()):
        raise Http404
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Everything())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
