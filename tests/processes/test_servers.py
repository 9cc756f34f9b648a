"""The example site under every server that the README names: it answers, streams, and stops with a stream open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.live import Site

VERSION = {"A2A-Version": "1.0"}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site("example_project.settings", tmp_path, {"EXAMPLE_DATA_DIR": str(tmp_path), "EXAMPLE_DATABASE_URL": ""})
    made.manage("preparedemo")
    return made


def call(method: str, text: str) -> dict[str, Any]:
    message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}]}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}


def results(response: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if line.startswith("data:"):
            yield json.loads(line[5:])["result"]


@pytest.mark.parametrize("server", ["runserver", "daphne", "uvicorn", "hypercorn", "granian"])
def test_it_answers_streams_and_stops_while_a_stream_is_open(site: Site, server: str) -> None:
    with site.server(server) as live:
        rpc = f"{live.url}/a2a/"
        answer = httpx.post(rpc, json=call("SendMessage", "order 1003"), headers=VERSION).json()
        assert answer["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
        client = httpx.Client(timeout=20)
        streaming = client.stream("POST", rpc, json=call("SendStreamingMessage", "stocktake"), headers=VERSION)
        events = results(streaming.__enter__())
        assert "task" in next(events)
        assert any("artifactUpdate" in event for event in (next(events), next(events)))
        # Leaving the block sends SIGTERM; the client still reads. LiveProcess raises if the server stays.
    client.close()


def test_under_wsgi_all_but_the_streams_works_and_the_card_says_so(site: Site) -> None:
    with site.server("wsgi") as live:
        rpc = f"{live.url}/a2a/"
        assert httpx.get(f"{live.url}/.well-known/agent-card.json").json()["capabilities"]["streaming"] is False
        answer = httpx.post(rpc, json=call("SendMessage", "order 1003"), headers=VERSION).json()
        task = answer["result"]["task"]
        assert task["status"]["state"] == "TASK_STATE_COMPLETED"
        for request in (
            call("SendStreamingMessage", "stocktake"),
            {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task["id"]}},
        ):
            assert httpx.post(rpc, json=request, headers=VERSION).json()["error"]["code"] == -32004
