"""Tasks under the id of the request that asked for them."""

import time
from typing import Any

from celery import Task
from structlog.contextvars import bound_contextvars, get_contextvars

from memadmin import log

HEADER = "request_id"


class TracedTask(Task):  # type: ignore[type-arg]  # of any task
    """Goes on under the id of the request that asked for it, and says what it did: ids and a short word, no content."""

    def apply_async(self, args: Any = None, kwargs: Any = None, **options: Any) -> Any:  # type: ignore[override]
        if request := get_contextvars().get("request"):
            options["headers"] = {**(options.get("headers") or {}), HEADER: request}
        return super().apply_async(args, kwargs, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        request = self.request.get(HEADER) or (self.request.headers or {}).get(HEADER) or ""
        with bound_contextvars(request=request, task=(self.request.id or "")[:8]):
            began = time.monotonic()
            said = super().__call__(*args, **kwargs)
            took = round((time.monotonic() - began) * 1000)
            ids = [each for each in args if isinstance(each, int | str)]
            log.tasks.info("%s %s: %s", self.name, ids, said, extra={"took_ms": took})
            return said
