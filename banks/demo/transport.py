"""The demo server without a network."""

import httpx

from banks.demo.server import DemoServer


class DemoTransport(httpx.BaseTransport):
    """Hands the client's requests to a DemoServer in this process. Closing it leaves the server as it is."""

    def __init__(self, server: DemoServer) -> None:
        self.server = server

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        target = request.url.raw_path.decode("ascii")
        status, headers, body = self.server.handle(request.method, target, dict(request.headers), request.read())
        return httpx.Response(status, headers=headers, content=body)
