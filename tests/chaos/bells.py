"""Whether every process hears the bells of every other one, after all that has happened to the layer between them."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from tests.chaos.doors import Door, Gone, Json, Refused, Silent
from tests.chaos.messages import params
from tests.chaos.stage import Stage

SCRIPT = "slow 20"
#: Events on whose way the fastest counts: on a busy machine others may be late, but without bells all of them are.
LONGEST_WAY = 1.5


async def check(stage: Stage) -> None:
    """Run a task behind every door and read it through all others; note how long the events take at best."""
    doors = list({door.process: door for door in stage.doors}.values())
    ways = await asyncio.gather(*(_ways(stage, door, doors) for door in doors))
    longest = max((seconds for found in ways for seconds in found.values()), default=0.0)
    stage.counts["longest of the ways between two processes, ms"] = round(longest * 1000)
    for door, found in zip(doors, ways, strict=True):
        for name, seconds in found.items():
            if seconds > LONGEST_WAY:
                stage.fault(f"what happens at {door.name} takes {seconds:.2f} s to {name}: it does not hear its bells")


async def _ways(stage: Stage, door: Door, doors: list[Door]) -> dict[str, float]:
    """Return for every other door the shortest time that an event took there."""
    try:
        sent = params("talker", SCRIPT, configuration={"returnImmediately": True})
        task_id = (await door.call("SendMessage", sent))["task"]["id"]
        here, *others = await asyncio.gather(
            _read(door, task_id), *(_read(other, task_id) for other in doors if other is not door)
        )
    except (Gone, Refused, Silent) as error:
        stage.fault(f"{door.name}, in peace: {error!r}")
        return {}
    names = [other.name for other in doors if other is not door]
    return {
        name: min(moments[key] - here[key] for key in moments.keys() & here.keys())
        for name, moments in zip(names, others, strict=True)
    }


async def _read(door: Door, task_id: str) -> dict[str, float]:
    """Return when each chunk came."""
    loop = asyncio.get_running_loop()
    moments: dict[str, float] = {}
    async with aclosing(door.stream("SubscribeToTask", {"tenant": "talker", "id": task_id})) as events:
        async for _, event in events:
            update: Json = event.get("artifactUpdate", {})
            for part in update.get("artifact", {}).get("parts", ()):
                moments[part["text"]] = loop.time()
    return moments
