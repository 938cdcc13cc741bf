"""The product over a socket, for a browser, and the least that a swap can be: the same bytes without any work."""

import json
import threading
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.utils.html import escape
from django.views.decorators.csrf import csrf_exempt

from reviews.models import ReviewEntry
from tests.bench.inside.fill import REVIEWER
from tests.bench.inside.pages import client_of

PAGE = """<!doctype html><html lang="en"><head><title>floor</title><meta name="htmx-config" content="{config}">
{styles}<script src="/static/django_htmx/htmx-2.min.js"></script></head>
<body><main id="main"><h1 tabindex="-1" data-focus>floor</h1></main></body></html>"""
STYLES = [f"/static/css/{name}.css" for name in ("tokens", "base", "components", "screens", "narrow")]
_card: list[bytes] = []


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Silent(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


def serve() -> dict[str, str]:
    """Where it listens, the session of a reviewer, and the address of their first card."""
    server = make_server("127.0.0.1", 0, StaticFilesHandler(get_wsgi_application()), _Server, _Silent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = client_of(REVIEWER)
    session = client.cookies["sessionid"].value
    _card.append(_answer())
    return {"url": f"http://127.0.0.1:{server.server_port}", "session": session, "card": "/reviews/next/"}


def size() -> int:
    """Bytes of the answer that holds the next card."""
    return len(_card[0])


def pending() -> int:
    return ReviewEntry.objects.filter(state="pending").count()


def _answer() -> bytes:
    rows = ReviewEntry.objects.filter(
        state="pending", load_state="loaded", danger=False, bank__memberships__user__username=REVIEWER
    )
    pk, version, text_hash = rows.order_by("-pk").values_list("pk", "version", "text_id")[0]
    data = {"version": str(version), "text_hash": text_hash}
    answer = client_of(REVIEWER).post(f"/reviews/{pk}/approve/", data, headers={"HX-Request": "true"})
    assert answer.status_code == 200, answer.status_code
    return answer.content


def page(request: HttpRequest) -> HttpResponse:
    links = "".join(f'<link rel="stylesheet" href="{href}">' for href in STYLES)
    config = escape(json.dumps({"includeIndicatorStyles": False, "defaultSettleDelay": 0, "historyCacheSize": 0}))
    return HttpResponse(PAGE.format(config=config, styles=links))


@csrf_exempt
def card(request: HttpRequest) -> HttpResponse:
    return HttpResponse(_card[0])
