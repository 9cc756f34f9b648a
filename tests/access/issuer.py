"""An OpenID Connect issuer on this machine: real keys, real addresses, and ways for both to go wrong."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, Key, RSAKey
from joserfc.jws import JWSRegistry


class Issuer:
    """Signs tokens and answers for its keys. ``asked`` counts how often it was asked for keys."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.keys: list[Key] = [new_key("k1")]
        self.asked = 0
        self.status = 200
        self.jwks: bytes | None = None
        #: What it sends in the place of an answer of HTTP.
        self.raw: bytes | None = None
        self.document: dict[str, Any] = {"issuer": self.url, "jwks_uri": self.url + "/keys"}
        self.pause = 0.0

    def answer(self, path: str) -> bytes:
        """Return the body for a path."""
        if path == "/.well-known/openid-configuration":
            return json.dumps(self.document).encode()
        self.asked += 1
        time.sleep(self.pause)
        if self.jwks is not None:
            return self.jwks
        return json.dumps({"keys": [key.as_dict(private=False) for key in self.keys]}).encode()

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return good claims for Alice, with changes; None leaves one out."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": "shop", "sub": "alice", "exp": now + 300, "iat": now, **changes}
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, *, key: Key | None = None, header: dict[str, Any] | None = None, **changes: Any) -> str:
        """Return a token, signed with the newest key."""
        key = key or self.keys[-1]
        algorithm = "ES256" if isinstance(key, ECKey) else "RS256"
        made = {"alg": algorithm, "kid": key.get("kid"), **(header or {})}
        made = {name: value for name, value in made.items() if value is not None}
        registry = JWSRegistry(algorithms=[made["alg"]], strict_check_header=False)
        return jwt.encode(made, self.claims(**changes), key, registry=registry)


def new_key(kid: str | None, kind: type[Key] = RSAKey, **parameters: Any) -> Key:
    """Return a new private key."""
    size: Any = "P-256" if kind is ECKey else 2048
    parameters |= {"kid": kid} if kid is not None else {}
    return kind.generate_key(size, parameters, private=True, auto_kid=False)


@contextmanager
def issuer() -> Iterator[Issuer]:
    """Run an issuer on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = made.answer(self.path)
            if made.raw is not None:
                self.wfile.write(made.raw)
                return
            self.send_response(made.status)
            if made.status == 302:
                self.send_header("Location", made.url + "/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Issuer(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
