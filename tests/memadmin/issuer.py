"""An OpenID Connect issuer on this machine, which says what a test has it say."""

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from django.utils import timezone


class Issuer:
    """`claims` is what it says about the person; `seen` are the requests it got."""

    def __init__(self) -> None:
        self.url = ""
        self.claims: dict[str, Any] = {"sub": "42", "email": "lena@example.org", "email_verified": True}
        self.userinfo: dict[str, Any] | None = None  # None: the same
        self.with_token = True
        self.audience = "memadmin"
        self.seen: list[str] = []
        self.challenges: dict[str, str] = {}

    def agree(self, address: str) -> str:
        """What the person's browser does there: returns the address it is sent back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        code = f"code{len(self.challenges)}"
        self.challenges[code] = asked["code_challenge"]
        return f"{urlsplit(asked['redirect_uri']).path}?code={code}&state={asked['state']}"

    def answer(self, path: str, body: dict[str, list[str]]) -> dict[str, Any] | None:
        self.seen.append(path)
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "userinfo_endpoint": f"{self.url}/userinfo",
                "jwks_uri": f"{self.url}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        if path == "/userinfo":
            return self.claims if self.userinfo is None else self.userinfo
        verifier = hashlib.sha256(body["code_verifier"][0].encode()).digest()
        proof = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        if self.challenges.pop(body["code"][0], None) != proof or body["client_secret"] != ["hush"]:
            return None
        now = int(timezone.now().timestamp())
        said = {**self.claims, "iss": self.url, "aud": self.audience, "iat": now, "exp": now + 60}
        token = {"id_token": jwt.encode(said, "k" * 32, algorithm="HS256")} if self.with_token else {}
        return {"access_token": "access", "token_type": "Bearer", **token}


@contextmanager
def running() -> Iterator[Issuer]:
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply({})

        def do_POST(self) -> None:
            self.reply(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))

        def reply(self, body: dict[str, list[str]]) -> None:
            said = issuer.answer(urlsplit(self.path).path, body)
            self.send_response(200 if said else 400)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(said or {"error": "invalid_grant"}).encode())

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        issuer.url = f"http://127.0.0.1:{http.server_address[1]}"
        Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield issuer
        http.shutdown()
