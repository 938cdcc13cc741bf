"""What our log lines carry: the request that something was done for, and the task that did it, from web to worker.

Lines for people by default; `MEMADMIN_LOG_FORMAT=json` writes one object a line, for programs that collect logs.
"""

import logging

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

requests = logging.getLogger("memadmin.requests")
tasks = logging.getLogger("memadmin.tasks")

_NAMES = ("request", "task")  # what a line for people shows of the context


def formatter(kind: str) -> logging.Formatter:
    """`kind`: line or json."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(["took_ms", "status", "route"]),
        _of_its_request,
    ]
    if kind == "json":
        shared += [structlog.processors.TimeStamper(fmt="iso"), structlog.processors.format_exc_info]
        last: Processor = structlog.processors.JSONRenderer(sort_keys=True)
    else:
        shared += [structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S"), structlog.processors.format_exc_info]
        last = _line
    drop = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[drop, last])


def _of_its_request(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Django's own lines know their request although its context is over: the number that the error page shows."""
    record = event.get("_record")
    if not event.get("request") and (found := getattr(getattr(record, "request", None), "request_id", "")):
        event["request"] = found
    return {name: value for name, value in event.items() if value != ""}


def _line(logger: WrappedLogger, method: str, event: EventDict) -> str:
    about = "".join(f" [{name} {event[name]}]" for name in _NAMES if event.get(name))
    trouble = f"\n{event['exception']}" if event.get("exception") else ""
    return f"{event['timestamp']} {event['level'].upper()} {event['logger']}: {event['event']}{about}{trouble}"
