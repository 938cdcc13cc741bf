"""Pages, timed through the whole of Django: middleware, session, person, view, template."""

import time
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memadmin.accounts.models import User
from memadmin.paging import Cursor
from reviews.selectors.filters import Filters
from reviews.selectors.queue import entries

_clients: dict[str, Client] = {}


def client_of(username: str) -> Client:
    if username not in _clients:
        _clients[username] = Client(raise_request_exception=True)
        _clients[username].force_login(User.objects.get(username=username))
    return _clients[username]


def get(path: str, user: str, times: int = 1) -> float:
    """Milliseconds of one of `times` requests."""
    client = client_of(user)
    start = time.perf_counter()
    for _ in range(times):
        answer = client.get(path)
        assert answer.status_code == 200, (path, answer.status_code)
    return (time.perf_counter() - start) * 1000 / times


def read(path: str, user: str) -> str:
    return client_of(user).get(path).content.decode()


def queries(path: str, user: str) -> list[list[Any]]:
    """(seconds, SQL) of each query of a page."""
    with CaptureQueriesContext(connection) as captured:
        client_of(user).get(path)
    return [[query["time"], query["sql"]] for query in captured]


def middle(user: str) -> str:
    """The address of the page in the middle of this person's queue."""
    found = entries(User.objects.get(username=user), Filters()).filter(expires_at__isnull=False)
    row = found.order_by("expires_at", "pk")[found.count() // 2]
    return f"/reviews/?page={Cursor(row.expires_at, row.pk)}"
