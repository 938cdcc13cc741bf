"""One approval after the other, posted as a browser without script does, or as htmx does."""

import time
from collections.abc import Iterator
from urllib.parse import urlencode

from reviews.models import ReviewEntry
from tests.bench.inside.fill import REVIEWER
from tests.bench.inside.pages import client_of

_waiting: dict[str, Iterator[tuple[int, int, str]]] = {}


def _next() -> tuple[int, int, str]:
    if not _waiting:
        loaded = ReviewEntry.objects.filter(
            state="pending", load_state="loaded", bank__memberships__user__username=REVIEWER
        )
        _waiting["all"] = iter(list(loaded.order_by("pk").values_list("pk", "version", "text_id")))
    return next(_waiting["all"])


def approve() -> float:
    """Milliseconds until the redirect to the next memory."""
    pk, version, text_hash = _next()
    return _post(f"/reviews/{pk}/approve/", {"version": str(version), "text_hash": text_hash}, 303)


def approve_and_see_the_next() -> float:
    """Milliseconds until the next memory's card is there, in the same answer."""
    pk, version, text_hash = _next()
    return _post(f"/reviews/{pk}/approve/", {"version": str(version), "text_hash": text_hash}, 200, htmx=True)


def floor() -> float:
    pk, *_ = _next()
    return _post(f"/floor/{pk}/approve/", {}, 204)


def _post(path: str, data: dict[str, str], expected: int, *, htmx: bool = False) -> float:
    client, headers = client_of(REVIEWER), {"HX-Request": "true"} if htmx else {}
    body = urlencode(data)
    client.cookies.pop("messages", None)  # the page in between has shown it
    start = time.perf_counter()
    answer = client.post(path, body, content_type="application/x-www-form-urlencoded", headers=headers)
    taken = (time.perf_counter() - start) * 1000
    assert answer.status_code == expected, (path, answer.status_code)
    return taken
