"""The only place where foreign ids become URL paths.

An id is hostile data: `..` as a document id would turn "delete this document" into "delete this bank", because HTTP
clients resolve dot segments before sending, and a `/` in a bank id reaches the routes of another bank. What cannot be
addressed safely is refused before any call; what is built is compared with what the HTTP library is about to send.
"""

from urllib.parse import quote, urlencode

import httpx

from banks.hindsight.errors import NotAddressable

LONGEST_BANK_ID = 192  # bytes of UTF-8, the server's own limit
LONGEST_PATH = 60_000  # bytes as sent; httpx refuses URLs above 65,536

Query = dict[str, str | int | bool | list[str]]


def bank_path(namespace: str, bank_id: str, *rest: str) -> bytes:
    """`/v1/<namespace>/banks/<bank id>/…`; `rest` are our own fixed words or segments made by this module."""
    return b"/".join([b"", b"v1", _segment("namespace", namespace), b"banks", bank_segment(bank_id), *_words(rest)])


def banks_path(namespace: str) -> bytes:
    """`/v1/<namespace>/banks`"""
    return b"/".join([b"", b"v1", _segment("namespace", namespace), b"banks"])


def document_path(namespace: str, bank_id: str, document_id: str) -> bytes:
    return bank_path(namespace, bank_id, "documents") + b"/" + document_segment(document_id)


def fact_path(namespace: str, bank_id: str, fact_id: str) -> bytes:
    return bank_path(namespace, bank_id, "memories") + b"/" + _segment("fact id", fact_id)


def entity_path(namespace: str, bank_id: str, entity_id: str) -> bytes:
    return bank_path(namespace, bank_id, "entities") + b"/" + _segment("entity id", entity_id)


def directive_path(namespace: str, bank_id: str, directive_id: str) -> bytes:
    return bank_path(namespace, bank_id, "directives") + b"/" + _segment("directive id", directive_id)


def model_path(namespace: str, bank_id: str, model_id: str, *rest: str) -> bytes:
    path = bank_path(namespace, bank_id, "mental-models") + b"/" + _segment("mental model id", model_id)
    return b"/".join([path, *_words(rest)])


def operation_path(namespace: str, bank_id: str, operation_id: str, *rest: str) -> bytes:
    path = bank_path(namespace, bank_id, "operations") + b"/" + _segment("operation id", operation_id)
    return b"/".join([path, *_words(rest)])


def webhook_path(namespace: str, bank_id: str, webhook_id: str) -> bytes:
    return bank_path(namespace, bank_id, "webhooks") + b"/" + _segment("webhook id", webhook_id)


def document_segment(document_id: str) -> bytes:
    """A document id as exactly one path segment; slashes inside are allowed and encoded."""
    return _encoded("document id", document_id)


def bank_segment(bank_id: str) -> bytes:
    """A bank id as one path segment: the server routes it decoded, so `/` can never be part of it."""
    segment = _segment("bank id", bank_id)
    if len(bank_id.encode()) > LONGEST_BANK_ID:
        raise NotAddressable(f"A bank id has at most {LONGEST_BANK_ID} bytes.")
    return segment


def check_document_id(document_id: str) -> None:
    """Raises NotAddressable for a document id that could be stored but never read or deleted again."""
    document_segment(document_id)


def check_bank_id(bank_id: str) -> None:
    """Raises NotAddressable for a bank id that this API cannot address."""
    bank_segment(bank_id)


def check_fact_id(fact_id: str) -> None:
    """Raises NotAddressable for a fact id that no call can name."""
    _segment("fact id", fact_id)


def check_model_id(model_id: str) -> None:
    """Raises NotAddressable for the id of a mental model that no call can name."""
    _segment("mental model id", model_id)


def is_shadowed(document_id: str) -> bool:
    """Whether reading this document meets another route of the server. Deleting it works."""
    return document_id.endswith(("/chunks", "/history"))


def is_addressable(bank_id: str, document_id: str | None = None) -> bool:
    """Whether this bank, and this document in it when one is given, can be named in a call."""
    try:
        check_bank_id(bank_id)
        if document_id is not None:
            check_document_id(document_id)
    except NotAddressable:
        return False
    return True


def url_of(base: httpx.URL, path: bytes, query: Query | None = None) -> httpx.URL:
    """The URL to send to. Raises NotAddressable unless httpx will send exactly these bytes."""
    raw = base.raw_path.rstrip(b"/") + path
    if query:
        text = {key: _words_of(value) for key, value in query.items()}
        try:
            raw += b"?" + urlencode(text, doseq=True, quote_via=quote, safe="").encode("ascii")
        except UnicodeEncodeError as error:
            raise NotAddressable("The text holds half a character (a lone surrogate).") from error
    if len(raw) > LONGEST_PATH:
        raise NotAddressable(f"The id is too long for a URL ({len(raw):,} bytes, at most {LONGEST_PATH:,}).")
    url = base.copy_with(raw_path=raw)
    if url.raw_path != raw or (url.scheme, url.host, url.port) != (base.scheme, base.host, base.port):
        raise NotAddressable("The id would reach another path than its own.")
    return url


def _words_of(value: str | int | bool | list[str]) -> str | list[str]:
    """As a query says it; a list says its name again for each of its words."""
    if isinstance(value, list):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def _segment(name: str, value: str) -> bytes:
    if "/" in value:
        raise NotAddressable(f"A {name} with a slash would reach another route of the server.")
    return _encoded(name, value)


def _encoded(name: str, value: str) -> bytes:
    if value in {"", ".", ".."}:
        raise NotAddressable(f"The {name} {value!r} would reach another route of the server.")
    if "\0" in value:
        raise NotAddressable(f"The {name} holds a NUL character, which the server cannot store.")
    try:
        return quote(value, safe="").encode("ascii")
    except UnicodeEncodeError as error:
        raise NotAddressable(f"The {name} holds half a character (a lone surrogate).") from error


def _words(rest: tuple[str, ...]) -> list[bytes]:
    return [word.encode("ascii") for word in rest]
