"""Where the public keys of the test's own site are fetched from."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from a2a_django.signing import public_jwks


class KeyServer:
    """Counts how often it was asked; gives ``answer``, or the key set."""

    def __init__(self) -> None:
        self.asked = 0
        self.answer: bytes | None = None


@contextmanager
def key_server() -> Iterator[tuple[str, KeyServer]]:
    """Serve on a free port inside the ``with`` block: the address, and what is known of it."""
    state = KeyServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked += 1
            body = json.dumps(public_jwks()).encode() if state.answer is None else state.answer
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/jwks.json", state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
