"""What every page shows around its content."""

import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from banks.models import Server
from banks.selectors import attention_count, servers_seen_by
from banks.troubles import Trouble, seen_by
from memadmin.counting import Count
from reviews.selectors.queue import pending_count

# Nothing is evaluated, nothing of a bank is kept in the browser's storage, and the answers with a fragment that says
# what went wrong are shown: htmx drops 4xx bodies by default.
HTMX_CONFIG = json.dumps(
    {
        "includeIndicatorStyles": False,
        "allowEval": False,
        "allowScriptTags": False,
        "selfRequestsOnly": True,
        # What htmx puts in works at once. Within its delay of 20 ms a key would send the new card's form without htmx.
        "defaultSettleDelay": 0,
        "historyCacheSize": 0,
        "refreshOnHistoryMiss": True,
        "responseHandling": [
            {"code": "204", "swap": False},
            {"code": "[23]..", "swap": True},
            {"code": "[45]..", "swap": True, "error": True},
        ],
    }
)


@dataclass(frozen=True)
class Rail:
    """Numbers beside the links: a constant number of queries, whatever the size of the tables."""

    pending: Count
    attention: Count
    servers: list[Server]
    troubles: list[Trouble]


def rail_for(user: Any) -> Rail:
    servers = servers_seen_by(user)
    return Rail(
        pending=pending_count(user),
        attention=attention_count(user),
        servers=servers,
        troubles=seen_by(user, servers),
    )


def shell(request: HttpRequest) -> dict[str, Any]:
    return {
        "demo": settings.DEMO,
        "company": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "htmx_config": HTMX_CONFIG,
        # Lazy: a fragment that shows no rail asks nothing.
        "rail": SimpleLazyObject(lambda: rail_for(request.user)),
    }
