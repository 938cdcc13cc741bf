"""Which kinds exist, and who wants to know when a write of a kind has ended."""

from collections import defaultdict
from collections.abc import Callable

from banks.models import Write
from banks.writes.kind import Kind

Listener = Callable[[Write], None]

_kinds: dict[str, Kind] = {}
_listeners: dict[str, list[Listener]] = defaultdict(list)


def register(kind: type[Kind]) -> type[Kind]:
    """Class decorator: makes the kind known to the door."""
    if not kind.name or kind.name in _kinds:
        raise ValueError(f"a kind needs a name of its own, not {kind.name!r}")
    _kinds[kind.name] = kind()
    return kind


def get(name: str) -> Kind:
    """The kind of this name. Raises KeyError for a name nobody registered."""
    return _kinds[name]


def names() -> list[str]:
    """Of all kinds."""
    return sorted(_kinds)


def after(*names: str) -> Callable[[Listener], Listener]:
    """Decorator: `listener(write)` runs in the transaction that stores the end (or the trouble) of such a write.

    It must be quick and idempotent and must not call the bank.
    """

    def subscribe(listener: Listener) -> Listener:
        for name in names:
            _listeners[name].append(listener)
        return listener

    return subscribe


def tell(write: Write) -> None:
    for listener in _listeners[write.kind]:
        listener(write)
