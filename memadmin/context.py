"""What every page shows around its content."""

import json
from dataclasses import dataclass
from functools import cached_property
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


@dataclass
class Rail:
    """Numbers beside the links: a constant number of queries, whatever the size of the tables.

    Each is asked for when it is shown: the fragments that follow a decision show two of them.
    """

    user: Any

    @cached_property
    def pending(self) -> Count:
        return pending_count(self.user)

    @cached_property
    def attention(self) -> Count:
        return attention_count(self.user)

    @cached_property
    def servers(self) -> list[Server]:
        return servers_seen_by(self.user)

    @cached_property
    def troubles(self) -> list[Trouble]:
        return seen_by(self.user, self.servers)


def shell(request: HttpRequest) -> dict[str, Any]:
    return {
        "demo": settings.DEMO,
        "company": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "htmx_config": HTMX_CONFIG,
        # Lazy: a fragment that shows no rail asks nothing.
        "rail": SimpleLazyObject(lambda: Rail(request.user)),
    }
