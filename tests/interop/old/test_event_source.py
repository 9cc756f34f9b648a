"""``GET /sse`` with an EventSource like those of browsers: it follows, comes back, and is told to stay away."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from tests.interop.live_site import Live
from tests.interop.old.clients import HERE, node

SECONDS = 60


async def call(base: str, method: str, params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with httpx.AsyncClient(timeout=SECONDS) as http:
        return (await http.post(base, json=body)).json()["result"]


async def state_of(base: str, task_id: str) -> str:
    return str((await call(base, "tasks/get", {"taskId": task_id}))["status"]["state"])


async def test_an_event_source_follows_a_task_to_its_end_and_stays_away(live: Live) -> None:
    base = live.urls["shop"]
    started = {"message": {"role": "user", "parts": [{"text": "Where is my order?"}]}}
    task = await call(base, "message/send", started)
    command = (node(), "follow.mjs", f"{base}/sse?taskId={task['id']}")
    follower = await asyncio.create_subprocess_exec(
        *command, cwd=HERE / "js", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(SECONDS):
            while await state_of(base, task["id"]) != "input-required":  # noqa: ASYNC110 - over HTTP there is no event
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.5)  # the follower is there before the reply, most of the time; either way is right
            reply = {"taskId": task["id"], "message": {"role": "user", "parts": [{"text": "1003"}]}}
            await call(base, "message/send", reply)
            out, problem = await follower.communicate()
    finally:
        if follower.returncode is None:
            follower.kill()
    assert out, problem.decode()
    report = json.loads(out)
    datas = [each["data"] for each in report["seen"]]
    assert (datas[-1]["state"], datas[-1]["taskId"]) == ("completed", task["id"])
    numbers = [int(each["id"]) for each in report["seen"]]
    assert numbers == sorted(set(numbers))
    assert report["opened"] == 1  # the second time it was told that there is nothing more
    assert report["code"] == 204
