"""The example site as one that others notify."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import override_settings

from a2a_django.push.signing import headers_for
from tests.key_server import key_server
from tests.keys import pem
from tests.live import Site

TOKEN = "the-token-of-this-test"
SENDER = {"BASE_URL": "https://sender.example", "SIGNING_KEYS": [pem()], "WEBHOOK_SIGNATURES": ["jwt", "hmac"]}


def body_of(number: int) -> bytes:
    status = {"state": "TASK_STATE_WORKING", "timestamp": "2026-11-30T00:00:00Z"}
    return json.dumps({"statusUpdate": {"taskId": f"t-{number}", "contextId": "c", "status": status}}).encode()


def post(base: str, body: bytes, headers: dict[str, str]) -> int:
    return httpx.post(f"{base}/notifications/", content=body, headers=headers, timeout=20).status_code


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The receiver: asks for the token, and for a token signed by the sender."""
    folder = tmp_path_factory.mktemp("receiver")
    with override_settings(A2A=SENDER), key_server() as (url, __):
        environment = {
            "EXAMPLE_DATA_DIR": str(folder),
            "EXAMPLE_DATABASE_URL": "",
            "EXAMPLE_WEBHOOK_TOKEN": TOKEN,
            "EXAMPLE_WEBHOOK_JWKS_URL": url,
        }
        site = Site("example_project.settings", folder, environment)
        site.manage("migrate", "--verbosity", "0")
        with site.server("runserver") as server:
            yield server.url


def signed(base: str, body: bytes, number: int) -> dict[str, str]:
    return headers_for(f"{base}/notifications/", body, f"t-{number}", token=TOKEN, now=time.time())


def test_what_is_proven_is_shown_once(base: str) -> None:
    body = body_of(1)
    assert post(base, body, signed(base, body, 1)) == 204
    assert post(base, body, signed(base, body, 1)) == 204  # delivered again
    page = httpx.get(f"{base}/").text
    assert page.count("t-1") == 1
    assert "statusUpdate" in page


@pytest.mark.parametrize("missing", ["A2A-Notification-JWT", "A2A-Notification-Signature"])
def test_what_is_not_proven_is_refused(base: str, missing: str) -> None:
    body = body_of(2)
    headers = signed(base, body, 2)
    del headers[missing]
    assert post(base, body, headers) == 403
    assert post(base, body + b" ", signed(base, body, 2)) == 403
    assert "t-2" not in httpx.get(f"{base}/").text


def test_what_is_no_notification_is_refused(base: str) -> None:
    assert post(base, b"{}", signed(base, b"{}", 3)) == 400
    assert httpx.get(f"{base}/notifications/").status_code == 405


def test_the_newest_are_kept(base: str) -> None:
    for number in range(100, 160):
        body = body_of(number)
        assert post(base, body, signed(base, body, number)) == 204
    page: Any = httpx.get(f"{base}/").text
    assert [number for number in range(100, 160) if f"t-{number}" in page] == list(range(152, 160))


def test_by_default_the_token_is_enough(tmp_path: Path) -> None:
    site = Site(
        "example_project.settings", tmp_path, {"EXAMPLE_DATA_DIR": str(tmp_path), "EXAMPLE_WEBHOOK_TOKEN": TOKEN}
    )
    site.manage("migrate", "--verbosity", "0")
    with site.server("runserver") as server:
        assert post(server.url, body_of(1), {"X-A2A-Notification-Token": TOKEN}) == 204
        assert post(server.url, body_of(1), {"X-A2A-Notification-Token": "x"}) == 403


def test_without_a_way_to_know_the_sender_there_is_no_address(tmp_path: Path) -> None:
    environment = {"EXAMPLE_DATA_DIR": str(tmp_path), "EXAMPLE_DATABASE_URL": "", "EXAMPLE_WEBHOOK_TOKEN": ""}
    site = Site("example_project.settings", tmp_path, environment)
    site.manage("migrate", "--verbosity", "0")
    with site.server("runserver") as server:
        assert post(server.url, body_of(1), {}) == 404
