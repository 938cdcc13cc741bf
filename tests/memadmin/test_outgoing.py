"""Where notifications may be posted to: the public network alone, as the name is at the moment of connecting."""

import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest

from memadmin import outgoing


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"]
)
def test_addresses_of_the_public_network(address: str) -> None:
    assert outgoing.is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "255.255.255.255", "224.0.0.1", "240.0.0.1", "192.0.2.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1",
        "fd12::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "2002:a00:1::", "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe", "2001:db8::1", "no address", "",
    ],
)  # fmt: skip
def test_addresses_that_are_not(address: str) -> None:
    assert not outgoing.is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "", "ftp://example.org/", "file:///etc/passwd", "//example.org/", "https://", "https:///path",
        "https://user:key@example.org/", "https://example.org/#part", "https://example.org:99999/",
        "https://example.org/a b", "https://example.org/\r\nHost: other", "https://exämple.org/",
        "https://example.org\\@127.0.0.1/", "https://[::1", f"https://example.org/{'x' * 500}", "javascript:alert(1)",
    ],
)  # fmt: skip
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(outgoing.Blocked):
        outgoing.target_of(url)


def test_a_target_keeps_its_path_and_query() -> None:
    assert outgoing.target_of("https://example.org/hook/k?a=1") == outgoing.Target(
        "https", "example.org", 443, "/hook/k?a=1"
    )
    assert outgoing.target_of("http://example.org:8080").port == 8080


@pytest.fixture
def receiver() -> Iterator[Any]:
    """A server on this machine that keeps what it was sent and answers with `answer`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # a name given by http.server
            server.seen.append((self.path, dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))  # type: ignore[attr-defined]
            self.send_response(server.answer)  # type: ignore[attr-defined]
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the same
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen, server.answer = [], 204  # type: ignore[attr-defined]
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def url_of(receiver: Any, host: str = "127.0.0.1") -> str:
    return f"http://{host}:{receiver.server_address[1]}/hook"


def test_this_machine_is_called_only_when_the_operator_allows_it(receiver: Any, settings: Any) -> None:
    with pytest.raises(outgoing.Blocked, match="MEMADMIN_OUTGOING_HOSTS"):
        outgoing.post(url_of(receiver), headers={}, body=b"{}")
    assert receiver.seen == []
    settings.OUTGOING_HOSTS = ["127.0.0.1"]
    assert outgoing.post(url_of(receiver), headers={"X-A": "b"}, body=b"{}")[0] == 204
    ((path, headers, body),) = receiver.seen
    assert (path, headers["X-A"], body) == ("/hook", "b", b"{}")


def test_a_name_that_means_this_machine_at_the_moment_of_connecting_is_refused(
    receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check and the connection use one answer: a second question could have another."""
    port = receiver.server_address[1]
    asked: list[str] = []

    def rebinding(host: str, *args: Any, **more: Any) -> Any:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    with pytest.raises(outgoing.Blocked):
        outgoing.post(url_of(receiver, "public.example.org"), headers={}, body=b"{}")
    assert (asked, receiver.seen) == (["public.example.org"], [])


def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 443)) for ip in ("93.184.216.34", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **more: found)
    with pytest.raises(outgoing.Blocked):
        outgoing.addresses_of(outgoing.target_of("https://example.org/"))


def test_a_redirect_is_an_answer_and_is_not_followed(receiver: Any, settings: Any) -> None:
    settings.OUTGOING_HOSTS, receiver.answer = ["127.0.0.1"], 307
    assert outgoing.post(url_of(receiver), headers={}, body=b"{}")[0] == 307
    assert len(receiver.seen) == 1


def test_nobody_there_and_no_tls_there(receiver: Any, settings: Any) -> None:
    settings.OUTGOING_HOSTS = ["127.0.0.1"]
    with pytest.raises(outgoing.NotSent, match="TLS"):
        outgoing.post(url_of(receiver).replace("http:", "https:"), headers={}, body=b"{}")
    with pytest.raises(outgoing.NotSent, match="connection failed"):
        outgoing.post("http://127.0.0.1:1/", headers={}, body=b"{}")


@pytest.mark.parametrize("drip", [b"HTTP/1.1 100 Continue\r\n\r\n", b"x"])
def test_who_answers_a_little_for_ever_holds_no_worker(drip: bytes, settings: Any, monkeypatch: Any) -> None:
    """Each piece comes in time, and the answer never does."""
    settings.OUTGOING_HOSTS = ["127.0.0.1"]
    monkeypatch.setattr(outgoing, "IN_ALL", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = Event()
        dripping = Thread(target=_drip, args=(listening, drip, over), daemon=True)
        dripping.start()
        with pytest.raises(outgoing.NotSent, match="in time"):
            outgoing.post(f"http://127.0.0.1:{listening.getsockname()[1]}/", headers={}, body=b"{}")
        over.set()
        dripping.join()


def _drip(listening: socket.socket, drip: bytes, over: Event) -> None:
    taken, _ = listening.accept()
    with taken:
        while not over.wait(0.01):
            try:
                taken.sendall(drip)
            except OSError:
                return
