"""The bells of a task's page under ASGI: they ring, they end, and nobody hears them who may not see the task."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from a2a_django.bindings.sse import places
from a2a_django.engine.journal import Journal
from tests.admin.kit import at, made, operator
from tests.engine.kit import WAIT
from tests.engine.writing import journal, says, status

pytestmark = pytest.mark.usefixtures("sound_rows")


def signed_in(*permissions: str) -> AsyncClient:
    """A member of staff."""
    client = AsyncClient()
    client.cookies = operator(*permissions).cookies
    return client


async def rung(content: Any) -> dict[str, Any]:
    """The next bell."""
    async with asyncio.timeout(WAIT):
        while True:
            frame = (await anext(content)).decode()
            if frame.startswith("data:"):
                found: dict[str, Any] = json.loads(frame[5:])
                return found


async def test_a_bell_rings_for_what_is_new_and_the_last_one_says_so(settings: Any) -> None:
    from a2a_django import engine

    client = await sync_to_async(signed_in)("view_task")
    writer: Journal = engine.get().journal
    task = await sync_to_async(made)(writer)
    response = await client.get(at("live", task.pk), {"after": "0"})
    assert response.status_code == 200
    assert response["Content-Type"] == "text/event-stream"
    content = aiter(response.streaming_content)
    taken = places.taken
    next_one = asyncio.ensure_future(rung(content))
    await writer.submit(says(task, status(task, "WORKING")))
    assert await next_one == {"seq": 1, "over": False}
    await writer.submit(says(task, status(task, "WORKING", "more")))
    await writer.submit(says(task, status(task, "COMPLETED")))
    bells = [await rung(content)]
    while not bells[-1]["over"]:
        bells.append(await rung(content))
    assert bells[-1] == {"seq": 3, "over": True}
    async with asyncio.timeout(WAIT):
        assert [frame async for frame in content if frame.startswith(b"data:")] == []
    assert places.taken == taken - 1
    assert not engine.get().feed._readers


async def test_a_page_that_is_behind_is_told_at_once(settings: Any) -> None:
    def prepared() -> Any:
        with journal() as (writer, _):
            task = made(writer)
            writer.write(says(task, status(task, "WORKING")))
            writer.write(says(task, status(task, "FAILED")))
            return task

    client = await sync_to_async(signed_in)("view_task")
    task = await sync_to_async(prepared)()
    for after in ("0", "1", "2", "99", "x"):
        response = await client.get(at("live", task.pk), {"after": after})
        assert await rung(aiter(response.streaming_content)) == {"seq": 2, "over": True}
        response.close()


async def test_nobody_hears_of_a_task_without_the_permission(settings: Any) -> None:
    def prepared() -> Any:
        with journal() as (writer, _):
            return made(writer)

    task = await sync_to_async(prepared)()
    client = await sync_to_async(signed_in)("cancel_task")
    for name in ("live", "news", "whole"):
        assert (await client.get(at(name, task.pk))).status_code == 403, name
        answer = await AsyncClient().get(at(name, task.pk))
        assert answer.status_code == 302, name
        assert "login" in answer["Location"]


async def test_a_server_that_is_full_says_so(settings: Any) -> None:
    def prepared() -> Any:
        with journal() as (writer, _):
            return made(writer)

    task = await sync_to_async(prepared)()
    client = await sync_to_async(signed_in)("view_task")
    settings.A2A = {**settings.A2A, "MAX_STREAMS": 0}
    answer = await client.get(at("live", task.pk))
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0


def test_where_nothing_streams_the_page_says_nothing_of_a_stream() -> None:
    with journal() as (writer, _):
        task = made(writer)
    client = operator("view_task")
    assert "data-live" not in client.get(at("change", task.pk)).content.decode()
    assert client.get(at("live", task.pk)).status_code == 406
