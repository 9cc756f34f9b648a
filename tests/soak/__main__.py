"""``python -m tests.soak [--seconds 600]``: many tasks, many readers, and processes that are killed meanwhile.

Several ASGI processes, a gRPC process and Redis serve one database. Clients send messages through some and read
through others, leave, come back elsewhere, read slowly; the processes and Redis are killed, paused, ended and started
again. Everything that any client has seen is compared with the rows of the task: the events of a stream, and what
comes after a new connection, have to be the journal's, each once and in order, and an answer has to be the task as it
was at some moment. Tasks whose process was killed have to be taken up by another. In the end every process has to hear
the bells of every other one again.

Exit code 1 when anything was wrong; the evidence is kept then.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.acceptance.servers import database
from tests.live import LiveError
from tests.soak import bells, chaos
from tests.soak.cluster import SETTINGS, Cluster, running
from tests.soak.doors import Door, GrpcDoor, HttpDoor
from tests.soak.rows import Rows
from tests.soak.stage import Stage
from tests.soak.stories import PATIENCE
from tests.soak.theatre import Theatre

#: Seconds that the rest may take after the last blow, before the soak counts as hanging.
DRAIN_SECONDS = 180.0
#: What servers may say at ERROR without anything being wrong: the agent's misbehaviour (``boom``), the loss of Redis.
EXPECTED = re.compile(
    r"Agent scripted-agent failed at"
    r"|channels_redis\.pubsub Unexpected exception (in receive task|while cleaning-up channel)"
)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="how long processes are killed (600)")
    parser.add_argument("--database", choices=["postgres", "sqlite"], default="postgres")
    parser.add_argument("--asgi", type=int, default=3, help="ASGI processes (3)")
    parser.add_argument("--grpc", type=int, default=1, help="gRPC processes (1)")
    parser.add_argument("--no-redis", action="store_true", help="without Redis: the processes poll")
    parser.add_argument("--cut", action="store_true", help="also cut connections between servers and PostgreSQL")
    parser.add_argument("--tasks", type=int, default=12, help="tasks at a time (12)")
    parser.add_argument("--seed", type=int, help="for the same choices again, as far as time allows")
    parser.add_argument("--keep", type=Path, help="folder for logs and evidence; default: a temporary one")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the soak; returns 0, or 1 when something was wrong."""
    options = arguments(argv)
    if options.cut and options.database != "postgres":
        raise SystemExit("--cut is for PostgreSQL")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that everything is cleaned up
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    folder = options.keep or Path(tempfile.mkdtemp(prefix="a2a-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with (
            database(options.database, folder, "soak") as address,
            running(address, folder, asgi=options.asgi, grpc=options.grpc, redis=not options.no_redis) as cluster,
        ):
            stage = asyncio.run(soak(options, cluster, random.Random(seed)))
    except LiveError as error:
        print(error, file=sys.stderr)
        return 1
    print(report(stage, seed))
    if stage.faults:
        print(f"evidence and logs: {folder}")
        return 1
    if not options.keep:
        shutil.rmtree(folder)
    return 0


async def soak(options: argparse.Namespace, cluster: Cluster, chance: random.Random) -> Stage:
    """Play, strike, let everything come to its end, compare."""
    rows = Rows({**cluster.site.environment, "DJANGO_SETTINGS_MODULE": SETTINGS})
    doors: list[Door] = [HttpDoor(victim.name, victim.process.port) for victim in cluster.asgi]
    doors += [GrpcDoor(victim.name, victim.process.port) for victim in cluster.grpc]
    stage = Stage(doors, rows, chance, cluster.folder)
    theatre = Theatre(stage, options.tasks)
    talker = asyncio.create_task(talk(stage, theatre))
    try:
        async with asyncio.timeout(options.seconds + DRAIN_SECONDS):
            supervisor = asyncio.create_task(theatre.supervise())
            blows = [chaos.rage(stage, cluster, options.seconds)]
            if options.cut:
                blows.append(chaos.cut(stage, options.seconds))
            await asyncio.gather(theatre.play(options.seconds), *blows)
            stage.note("no more blows, no new tasks")
            stage.over = True
            await supervisor
            await rest(stage)
            if cluster.redis:
                await bells.check(stage)
            if wrong := await rows.check():
                stage.fault(f"rows: {wrong}")
    except TimeoutError:
        stage.fault(f"no end {DRAIN_SECONDS:.0f} s after the last blow; {len(theatre.stories)} stories are open")
    finally:
        talker.cancel()
        await rows.close()
    await asyncio.to_thread(cluster.stop)
    for text in cluster.stopped:
        stage.fault(text)
    for victim in cluster.servers:
        for line in errors(cluster.folder / f"{victim.name}.log"):
            stage.fault(f"{victim.name} says: {line}")
    return stage


async def rest(stage: Stage) -> None:
    """Wait until no task is at work, those that nobody watches among them: all processes are there."""
    deadline = stage.now() + PATIENCE
    while left := await stage.rows.at_work():
        if stage.now() > deadline:
            stage.fault(f"{len(left)} tasks do not end, {left[0]} among them")
            return
        await asyncio.sleep(0.5)


def errors(log: Path) -> list[str]:
    """Return the lines at ERROR that say of something wrong."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return [line for line in lines if re.search(r" (ERROR|CRITICAL) ", line) and not EXPECTED.search(line)]


async def talk(stage: Stage, theatre: Theatre) -> None:
    """Say now and then how far it is."""
    while True:
        await asyncio.sleep(20)
        counts = stage.counts
        print(
            f"[{time.strftime('%H:%M:%S')}] {stage.now():.0f} s: {counts['tasks']} tasks, {len(theatre.stories)} open, "
            f"{counts['connections']} connections, {counts['events']} events, {len(stage.faults)} faults",
            file=sys.stderr,
            flush=True,
        )


def report(stage: Stage, seed: int) -> str:
    """Return what happened."""
    lines = [f"soak of {stage.now():.0f} s, --seed {seed}"]
    lines += [f"  {name}: {count}" for name, count in sorted(stage.counts.items())]
    if not stage.faults:
        return "\n".join([*lines, "nothing missed, nothing doubled, nothing out of order"])
    lines += ["", "the last blows:", *stage.diary[-40:]]
    lines += ["", f"{len(stage.faults)} FAULTS:", *stage.faults]
    return "\n".join(lines)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONFAULTHANDLER", "1")
    sys.exit(main())
