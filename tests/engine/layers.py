"""A channel layer that reaches "other processes": engines of the same process with loops of their own."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, ClassVar

Place = tuple[asyncio.AbstractEventLoop, "asyncio.Queue[dict[str, Any]]"]


class ReachingLayer:
    """Hands every message of a group to all its channels, each in the loop that made it."""

    _places: ClassVar[dict[str, Place]] = {}
    _groups: ClassVar[dict[str, set[str]]] = {}
    _numbers = itertools.count(1)

    async def new_channel(self, prefix: str = "test") -> str:
        name = f"{prefix}.{next(self._numbers)}"
        self._places[name] = (asyncio.get_running_loop(), asyncio.Queue())
        return name

    async def group_add(self, group: str, channel: str) -> None:
        self._groups.setdefault(group, set()).add(channel)

    async def group_discard(self, group: str, channel: str) -> None:
        self._groups[group].discard(channel)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        for channel in list(self._groups.get(group, ())):
            loop, queue = self._places[channel]
            if not loop.is_closed():
                loop.call_soon_threadsafe(queue.put_nowait, message)

    async def receive(self, channel: str) -> dict[str, Any]:
        return await self._places[channel][1].get()
