"""The end of a stream of 0.3: what is said last says that it is the last, whatever the operation gives and when."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from a2a_django.bindings.v0_3 import streams
from a2a_django.bindings.v0_3.streams import OldEvents

pytestmark = pytest.mark.spec("A")

TASK = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}


def status(state: str) -> dict[str, Any]:
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": f"TASK_STATE_{state}"}}}


def task(state: str) -> dict[str, Any]:
    return {"task": {**TASK, "status": {"state": f"TASK_STATE_{state}"}}}


CHUNK = {"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}}
MESSAGE = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}


class Given:
    """The events of an operation: lists of events, pauses that last until ``go``, errors."""

    def __init__(self, *steps: Any) -> None:
        self.go = asyncio.Event()
        self.closed = self.cancelled = False
        self._steps = iter(steps)

    def __aiter__(self) -> AsyncIterator[list[str]]:
        return self

    async def __anext__(self) -> list[str]:
        for step in self._steps:
            if step == "pause":
                try:
                    await self.go.wait()
                except asyncio.CancelledError:
                    self.cancelled = True
                    raise
            elif isinstance(step, Exception):
                raise step
            else:
                return [json.dumps(event) for event in step]
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed = True


def said(event: dict[str, Any], final: bool) -> tuple[str, bool]:
    """An event as the tests write it: its state, or its kind in 1.0."""
    ((member, value),) = event.items()
    state = value.get("status", {}).get("state", "").removeprefix("TASK_STATE_")
    return (f"{member} {state}".strip(), final)


def old(*steps: Any, holds: bool = True) -> tuple[Given, OldEvents[tuple[str, bool]]]:
    given = Given(*steps)
    return given, OldEvents(given, said, holds=holds)


async def read(*steps: Any, holds: bool = True) -> list[tuple[str, bool]]:
    __, events = old(*steps, holds=holds)
    async with asyncio.timeout(20):
        found = [event async for batch in events for event in batch]
    with pytest.raises(StopAsyncIteration):
        await anext(events)
    return found


S = "statusUpdate"


@pytest.mark.parametrize("ended", ["COMPLETED", "FAILED", "CANCELED", "REJECTED"])
async def test_the_end_of_a_task_is_final(ended: str) -> None:
    assert await read([task("SUBMITTED")], [status("WORKING"), CHUNK], [status(ended)]) == [
        ("task SUBMITTED", False),
        (f"{S} WORKING", False),
        ("artifactUpdate", False),
        (f"{S} {ended}", True),
    ]


async def test_a_question_is_final_when_it_was_the_last() -> None:
    assert await read([task("SUBMITTED")], [status("INPUT_REQUIRED")]) == [
        ("task SUBMITTED", False),
        (f"{S} INPUT_REQUIRED", True),
    ]


async def test_a_question_that_was_not_the_last_is_told_again() -> None:
    assert await read([status("INPUT_REQUIRED")], [CHUNK]) == [
        (f"{S} INPUT_REQUIRED", False),
        ("artifactUpdate", False),
        (f"{S} INPUT_REQUIRED", True),
    ]
    assert await read([status("INPUT_REQUIRED"), CHUNK], [status("COMPLETED")]) == [
        (f"{S} INPUT_REQUIRED", False),
        ("artifactUpdate", False),
        (f"{S} COMPLETED", True),
    ]


async def test_a_run_that_takes_its_time_after_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HOLD_SECONDS", 0.01)
    given, events = old([status("INPUT_REQUIRED")], "pause", [CHUNK])
    found = []
    async with asyncio.timeout(20):
        async for batch in events:
            found += batch
            if found == [(f"{S} INPUT_REQUIRED", False)]:
                given.go.set()
    assert found == [(f"{S} INPUT_REQUIRED", False), ("artifactUpdate", False), (f"{S} INPUT_REQUIRED", True)]


@pytest.mark.parametrize("state", ["COMPLETED", "CANCELED", "INPUT_REQUIRED"])
async def test_a_stream_of_nothing_but_the_task_gets_an_end(state: str) -> None:
    assert await read([task(state)]) == [(f"task {state}", False), (f"{S} {state}", True)]


async def test_streams_that_end_otherwise_say_nothing_more() -> None:
    """The server's own limit is reached, or the answer was a message."""
    for state in ("SUBMITTED", "WORKING", "AUTH_REQUIRED"):
        assert await read([task("SUBMITTED")], [status(state)]) == [("task SUBMITTED", False), (f"{S} {state}", False)]
    assert await read([MESSAGE]) == [("message", False)]
    assert await read() == []


async def test_a_subscription_goes_on_after_a_question() -> None:
    given, events = old([status("INPUT_REQUIRED")], "pause", [status("COMPLETED")], holds=False)
    assert await anext(events) == [(f"{S} INPUT_REQUIRED", False)]  # at once
    given.go.set()
    assert await anext(events) == [(f"{S} COMPLETED", True)]


async def test_an_error_comes_after_what_was_kept_back() -> None:
    __, events = old([status("INPUT_REQUIRED")], ValueError("x"))
    assert await anext(events) == []
    assert await anext(events) == [(f"{S} INPUT_REQUIRED", False)]
    with pytest.raises(ValueError, match="x"):
        await anext(events)
    __, events = old([task("WORKING")], ValueError("y"))
    await anext(events)
    with pytest.raises(ValueError, match="y"):
        await anext(events)


async def test_easy_events_are_written_from_their_text_and_in_order() -> None:
    given = Given([CHUNK, status("INPUT_REQUIRED")], [CHUNK, status("WORKING"), CHUNK])
    events = OldEvents(given, said, holds=True, quick=lambda text: ("quick", False) if "artifact" in text else None)
    found = [event async for batch in events for event in batch]
    assert [name for name, __ in found] == ["quick", f"{S} INPUT_REQUIRED", "quick", f"{S} WORKING", "quick"]


async def test_who_leaves_ends_the_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HOLD_SECONDS", 0.01)
    given, events = old([status("INPUT_REQUIRED")], "pause", [CHUNK])
    assert await anext(events) == []
    assert await anext(events) == [(f"{S} INPUT_REQUIRED", False)]
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait((waiting,))
    assert not given.cancelled  # whoever was waiting may come back
    await events.aclose()
    assert given.cancelled
    assert given.closed
    with pytest.raises(StopAsyncIteration):
        await anext(events)
