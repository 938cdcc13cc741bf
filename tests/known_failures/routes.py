"""Every address of ours, found by itself: a page that is added tomorrow is tested tomorrow."""

import re
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

# Sign-in, the API (tests/api/test_access.py), what servers call (tests/banks/test_webhook_receive.py) and the way out
# of mails (tests/reviews/test_notices_page.py) have tests of their own; health is for everybody.
NOT_OURS = ("accounts/", "api", "hooks/", "mail/", "healthz", "readyz", "metrics", "static/")


def addresses(resolver: URLResolver, prefix: str = "", space: str = "") -> Iterator[tuple[str, str, list[str]]]:
    """(path with placeholders, name, placeholders) of every view."""
    for each in resolver.url_patterns:
        path = f"{prefix}{each.pattern}"
        if isinstance(each, URLResolver):
            yield from addresses(each, path, f"{each.namespace}:" if each.namespace else space)
        elif isinstance(each, URLPattern) and not path.startswith(NOT_OURS):
            yield path, f"{space}{each.name}", list(each.pattern.converters)


ADDRESSES = sorted(addresses(get_resolver()))
NAMES = [name for _, name, _ in ADDRESSES]


def address_of(path: str, names: list[str], things: dict[str, int]) -> str:
    """The path with our primary keys in it. An address of a new kind fails here: it belongs into `things`."""
    for name in names:
        found = re.search(rf"(\w+/)<[^>]*\b{name}>", path)
        assert found is not None
        assert found[1] in things, f"{path} names something that the fixture `things` does not have yet"
        path = re.sub(rf"<[^>]*\b{name}>", str(things[found[1]]), path, count=1)
    return f"/{path}"
