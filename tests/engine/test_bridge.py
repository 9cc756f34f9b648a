"""The background loop ends when it is told to, whatever runs on it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from a2a_django.engine import bridge


@pytest.mark.parametrize("deaf", [0, 1, 2, bridge.CANCEL_ROUNDS + 1])
def test_the_loop_ends_although_a_task_does_not_listen(monkeypatch: pytest.MonkeyPatch, deaf: int) -> None:
    monkeypatch.setattr(bridge, "CANCEL_SECONDS", 0.05)
    started, heard = threading.Event(), []

    async def stubborn() -> None:
        started.set()
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                heard.append(1)
                if len(heard) > deaf:
                    raise

    bridge.spawn(stubborn)
    assert started.wait(10)
    thread = next(one for one in threading.enumerate() if one.name == "a2a-loop")
    bridge.shutdown()
    thread.join(10)
    assert not thread.is_alive()
    assert len(heard) == min(deaf + 1, bridge.CANCEL_ROUNDS)
