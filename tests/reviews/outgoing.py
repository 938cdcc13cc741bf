"""What the tests of notifications to addresses share."""

from typing import Any

from banks.models import Server
from reviews.models import OutgoingHook

SECRET = "secret-of-the-address"


def make_outgoing(server: Server, **values: Any) -> OutgoingHook:
    given = {"name": "Team room", "url": "https://chat.example.org/hook/k3y", "digest": True, "soon": True, **values}
    hook = OutgoingHook(server=server, **given)
    hook.secret = SECRET
    hook.save()
    return hook
