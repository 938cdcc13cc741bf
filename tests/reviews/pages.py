"""What the page tests share: nasty values, and reading a page as a browser would."""

from html.parser import HTMLParser

from django.http import HttpResponse, StreamingHttpResponse

from reviews.models import ReviewEntry

NASTY_IDS = [
    "..",
    "folder/file.md",
    "notes/chunks",
    "журнал/2026-03-09.md",
    "a" * 600,
    "evil\u202egpj.exe",
    "<img src=x onerror=alert(1)>",
    "\"'><script>alert(1)</script>",
    "a?b=c&d#e%2F",
]
XSS = "<script>alert(1)</script><img src=x onerror=\"alert(2)\">' onclick='x"
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/reviews/"}


def bytes_of(answer: HttpResponse | StreamingHttpResponse) -> bytes:
    """All of it; a download comes in pieces."""
    return b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[union-attr]


def text_of(answer: HttpResponse | StreamingHttpResponse) -> str:
    return bytes_of(answer).decode()


def is_html(answer: HttpResponse | StreamingHttpResponse) -> bool:
    return answer["Content-Type"].startswith("text/html")


def shown(entry: ReviewEntry) -> dict[str, object]:
    """What the card's form posts."""
    return {"version": entry.version, "text_hash": entry.text_id}


class Reader(HTMLParser):
    """The elements of a page with their attributes, as a browser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def assert_harmless(page: str) -> None:
    """No markup of a memory became markup of ours, and nothing is inline."""
    for tag, attributes in Reader(page).elements:
        assert tag not in {"img", "style", "iframe"}, tag
        assert tag != "script" or (attributes.get("src") or "").startswith("/static/"), attributes
        assert not [name for name in attributes if name.startswith("on") or name == "style"], attributes


def links(page: str) -> list[str]:
    """Every address the page can lead to or send to."""
    names = ("href", "action", "formaction", "hx-get", "hx-post")
    return [value for _, attributes in Reader(page).elements for name in names if (value := attributes.get(name))]
