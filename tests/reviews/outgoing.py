"""What the tests of notifications to addresses share."""

from typing import Any

from banks.models import Server
from reviews.models import OutgoingHook

URL, SECRET = "https://chat.example.org/hook/k3y", "secret-of-the-address"


def make_outgoing(server: Server, **values: Any) -> OutgoingHook:
    given = {"name": "Team room", "host": "chat.example.org", "digest": True, "soon": True, **values}
    hook = OutgoingHook(server=server, **given)
    hook.url, hook.secret = URL, SECRET
    hook.save()
    return hook
