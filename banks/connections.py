"""The one place where a registered server becomes a client. Nothing else opens a connection."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial

import httpx
from django.db.models import F
from django.utils import timezone

from banks import measures
from banks.hindsight import HindsightClient, HindsightError, Refused, Timeouts, Unreachable
from banks.models import Server

logger = logging.getLogger(__name__)

# Tests put the demo server's transport here, by base URL.
TRANSPORTS: dict[str, httpx.BaseTransport] = {}

# Circuit breaker: this many connection failures in a row close the door to a server for a while.
FAILURES_BEFORE_PAUSE = 3
LONGEST_PAUSE = timedelta(seconds=60)
REFUSED_PAUSE = timedelta(seconds=15)


def client_for(server: Server, *, read_timeout: float | None = None, within: float | None = None) -> HindsightClient:
    """A client for this server; use it as a context manager.

    `read_timeout` in seconds overrides the server's; `within`: what one call may take in all, for a page that waits.
    """
    connect, read = server.connect_timeout, read_timeout or server.read_timeout
    timeouts = Timeouts(connect=connect, read=read)
    if within is not None:
        timeouts = Timeouts(connect=min(connect, within), read=min(read, within), total=within)
    return HindsightClient(
        server.base_url,
        namespace=server.namespace,
        api_key=server.api_key,
        timeouts=timeouts,
        transport=TRANSPORTS.get(server.base_url),
        told=partial(measures.note, server.pk),
    )


@contextmanager
def talking_to(
    server: Server, *, read_timeout: float | None = None, within: float | None = None
) -> Iterator[HindsightClient]:
    """A client whose connection failures and successes move the server's circuit breaker."""
    try:
        with client_for(server, read_timeout=read_timeout, within=within) as client:
            yield client
    except Unreachable:
        note_failure(server)
        raise
    except Refused as error:
        note_answer(server)
        note_refusal(server, error)
        raise
    except HindsightError:
        note_answer(server)
        raise
    else:
        note_answer(server)


def paused_until(server: Server) -> datetime | None:
    """When this server may be tried again, None when it may be tried now.

    A server that refuses our key is left alone until a probe, or a new key, shows that it takes it.
    """
    if server.health == Server.Health.REFUSED:
        return timezone.now() + REFUSED_PAUSE
    return server.closed_until if server.closed_until and server.closed_until > timezone.now() else None


def note_failure(server: Server) -> None:
    Server.objects.filter(pk=server.pk).update(failures=F("failures") + 1)
    server.refresh_from_db(fields=["failures"])
    if server.failures < FAILURES_BEFORE_PAUSE:
        return
    pause = min(timedelta(seconds=2.0 ** min(server.failures, 10)), LONGEST_PAUSE)
    server.closed_until = timezone.now() + pause
    server.health, server.health_text = Server.Health.UNREACHABLE, "The server does not answer."
    server.save(update_fields=["closed_until", "health", "health_text"])
    logger.warning("server %s: %d connection failures in a row, next try in %s", server.pk, server.failures, pause)


def note_refusal(server: Server, error: Refused) -> None:
    text = f"The server refuses our key (HTTP {error.status})."
    Server.objects.filter(pk=server.pk).update(health=Server.Health.REFUSED, health_text=text)
    server.health, server.health_text = Server.Health.REFUSED, text


def note_answer(server: Server) -> None:
    if not server.failures and server.closed_until is None:
        return  # a healthy server costs no write per call
    if Server.objects.filter(pk=server.pk, failures__gt=0).update(failures=0, closed_until=None):
        server.failures, server.closed_until = 0, None
