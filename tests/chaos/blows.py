"""Kills processes with SIGKILL, stops them for a while, ends them in order, and starts them again; cuts connections to
the database and interrupts it."""

from __future__ import annotations

import asyncio
import time

from tests.chaos.cluster import Cluster, Victim
from tests.chaos.stage import Stage
from tests.live import LiveError

#: Seconds between two blows, and how often each kind is chosen.
BETWEEN = (1.0, 4.0)
BLOWS = {"kill": 6, "pause": 2, "stop": 2}
#: Longer than a lease, so that other processes take the tasks of one that is paused, and it comes back after that.
LONGEST_PAUSE = 9.0
LONGEST_ABSENCE = 3.0
#: Redis is there again so soon that it would get most of the blows.
SHARE_OF_REDIS = 0.4
#: Into so many parts the time is divided, and the database is interrupted between them.
INTERRUPTIONS = 2


async def rage(stage: Stage, cluster: Cluster, seconds: float) -> None:
    """Strike for so long, then see that all processes are there."""
    blows: set[asyncio.Task[None]] = set()
    until = stage.now() + seconds
    while stage.now() < until and not stage.over:
        await asyncio.sleep(stage.chance.uniform(*BETWEEN))
        free = [victim for victim in cluster.victims if not victim.hit]
        standing = [victim for victim in cluster.servers if not victim.hit]
        victim = stage.chance.choice(free) if free else None
        if victim is None or (victim in standing and len(standing) == 1):
            continue
        if victim is cluster.redis and stage.chance.random() > SHARE_OF_REDIS:
            continue
        victim.hit = True
        (kind,) = stage.chance.choices(list(BLOWS), list(BLOWS.values()))
        stage.counts[f"{kind} {victim.name}"] += 1
        blows.add(asyncio.create_task(_strike(stage, victim, kind)))
    await asyncio.gather(*blows)


async def cut(stage: Stage, seconds: float) -> None:
    """Cut connections between the servers and PostgreSQL for so long."""
    until = stage.now() + seconds
    while stage.now() < until and not stage.over:
        await asyncio.sleep(stage.chance.uniform(*BETWEEN))
        number = await stage.rows.cut(stage.chance.randint(1, 6))
        stage.counts["connections cut"] += number
        stage.note(f"{number} connections to the database are cut")


async def interrupt(stage: Stage, cluster: Cluster, seconds: float) -> None:
    """Interrupt PostgreSQL a few times, and start it again."""
    assert cluster.postgres is not None
    begun = stage.now()
    for number in range(1, INTERRUPTIONS + 1):
        moment = seconds * (number + stage.chance.uniform(-0.3, 0.3)) / (INTERRUPTIONS + 1)
        await asyncio.sleep(max(0.0, begun + moment - stage.now()))
        stage.outages.append([time.time(), 0.0])
        stage.note("the database is interrupted")
        stage.counts["database interrupted"] += 1
        await asyncio.to_thread(cluster.postgres.interrupt)
        await asyncio.sleep(stage.chance.uniform(0.0, LONGEST_ABSENCE))
        await asyncio.to_thread(cluster.postgres.start)
        stage.outages[-1][1] = time.time()
        stage.note("the database is there again")


async def _strike(stage: Stage, victim: Victim, kind: str) -> None:
    try:
        if kind == "pause":
            victim.pause()
            stage.note(f"{victim.name} is paused")
            await asyncio.sleep(stage.chance.uniform(0.2, LONGEST_PAUSE))
            victim.resume()
            stage.note(f"{victim.name} goes on")
            return
        if kind == "stop":
            stage.note(f"{victim.name} is told to end")
            await asyncio.to_thread(victim.process.stop)
        else:
            stage.note(f"{victim.name} is killed")
            await asyncio.to_thread(victim.process.kill)
        await asyncio.sleep(stage.chance.uniform(0.0, LONGEST_ABSENCE))
        await asyncio.to_thread(victim.process.start)
        stage.note(f"{victim.name} is there again")
    except LiveError as error:
        stage.fault(f"{victim.name}: {error}")
    finally:
        victim.hit = False
