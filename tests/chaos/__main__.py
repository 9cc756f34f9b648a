"""``python -m tests.chaos [--seconds 300] [--tasks 500]``: tasks of all kinds of agents over three bindings, and
everything that is under them killed meanwhile.

ASGI servers, a gRPC server and a worker are on a PostgreSQL and a Redis of their own. Clients send messages through
some and read through others, leave, come back elsewhere, read slowly, send again what was not answered; the processes
and Redis are killed, paused, ended and started again, connections to the database cut, and the database interrupted.

Everything that any client has seen is compared with the rows of the task: the events of a stream, and what comes after
a new connection, have to be the journal's, each once and in order, and an answer has to be the task as it was at some
moment. The rows are compared with what the agents have written down of each attempt before they said it, with the
messages that clients have sent, with what webhooks were told, and with the lists. Every task has to end, or to wait for
its sender. In the end every process has to hear the bells of every other one again.

Exit code 1 when anything was wrong; the evidence is kept then.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from tests.chaos import bells, blows
from tests.chaos.cluster import SETTINGS, Cluster, Size, running
from tests.chaos.doors import Door, JsonRpcDoor, RestDoor
from tests.chaos.grpc_door import GrpcDoor
from tests.chaos.inspection import inspect, rest
from tests.chaos.rows import Rows
from tests.chaos.stage import Stage
from tests.chaos.theatre import Theatre
from tests.live import LiveError
from tests.push.receiver import Receiver, receiving

#: Seconds that the rest may take after the last blow, before it counts as hanging; and how many times longer than asked
#: for a busy machine may take until then, for tasks wait while too many are open.
DRAIN_SECONDS = 240.0
LONGER = 3
TASKS_PER_SECOND = 5 / 3
#: What servers may say at ERROR without anything being wrong: the agents' misbehaviour (``boom``), the loss of Redis.
EXPECTED = re.compile(
    r"Agent (talker|clerk) failed at"
    r"|channels_redis\.pubsub Unexpected exception (in receive task|while cleaning-up channel)"
)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="how long processes are killed (300)")
    parser.add_argument("--tasks", type=int, help="how many tasks (500 in 300 seconds, and so on)")
    parser.add_argument("--database", choices=["postgres", "sqlite"], default="postgres")
    parser.add_argument("--asgi", type=int, default=2, help="ASGI processes (2)")
    parser.add_argument("--grpc", type=int, default=1, help="gRPC processes (1)")
    parser.add_argument("--workers", type=int, default=1, help="workers (1)")
    parser.add_argument("--no-redis", action="store_true", help="without Redis: the processes poll")
    parser.add_argument("--seed", type=int, help="for the same choices again, as far as time allows")
    parser.add_argument("--keep", type=Path, help="folder for logs and evidence; default: a temporary one")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Let it happen; returns 0, or 1 when something was wrong."""
    options = arguments(argv)
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it is not news that the database is away
    for number in (signal.SIGINT, signal.SIGTERM):  # so that everything is cleaned up
        signal.signal(number, lambda given, _: sys.exit(128 + given))
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    folder = options.keep or Path(tempfile.mkdtemp(prefix="a2a-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    size = Size(options.asgi, options.grpc, options.workers, not options.no_redis)
    print(f"chaos, --seed {seed}, logs in {folder}", file=sys.stderr, flush=True)
    try:
        with running(options.database, folder, size) as cluster, receiving() as receiver:
            stage = asyncio.run(chaos(options, cluster, receiver, random.Random(seed)))
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


async def chaos(options: argparse.Namespace, cluster: Cluster, receiver: Receiver, chance: random.Random) -> Stage:
    """Play, strike, let everything come to its end, compare."""
    rows = Rows({**cluster.site.environment, "DJANGO_SETTINGS_MODULE": SETTINGS})
    web = [(victim.name, victim.process.port, cluster.key) for victim in cluster.asgi]
    rpc = [(victim.name, victim.process.port, cluster.key) for victim in cluster.grpc]
    doors: list[Door] = [door for found in web for door in (JsonRpcDoor(*found), RestDoor(*found))]
    doors += [GrpcDoor(*found) for found in rpc]
    stage = Stage(doors, rows, receiver, chance, cluster.folder)
    theatre = Theatre(stage, options.tasks or round(options.seconds * TASKS_PER_SECOND))
    talker = asyncio.create_task(talk(stage, theatre))
    limit = options.seconds * LONGER + DRAIN_SECONDS
    try:
        async with asyncio.timeout(limit):
            async with asyncio.TaskGroup() as group:  # should one of them fail, it is over
                group.create_task(theatre.supervise())
                acts = [theatre.play(options.seconds), blows.rage(stage, cluster, options.seconds)]
                if cluster.postgres is not None:
                    acts.append(blows.cut(stage, options.seconds))
                    acts.append(blows.interrupt(stage, cluster, options.seconds))
                await asyncio.gather(*acts)
                stage.note("no more blows, no new tasks")
                stage.over = True
            await rest(stage)
            await inspect(stage, theatre.known)
            if cluster.redis:
                await bells.check(stage)
            if wrong := await rows.check():
                stage.fault(f"rows: {wrong}")
    except TimeoutError:
        stage.fault(f"no end after {limit:.0f} s; {len(theatre.stories)} stories are open")
    finally:
        talker.cancel()
        await rows.close()
    await asyncio.to_thread(cluster.stop)
    for text in cluster.stopped:
        stage.fault(text)
    for victim in [*cluster.servers, *cluster.workers]:
        for line in errors(stage, cluster.folder / f"{victim.name}.log"):
            stage.fault(f"{victim.name} says: {line}")
    return stage


def errors(stage: Stage, log: Path) -> list[str]:
    """Return the lines at ERROR that say of something wrong."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    found = [line for line in lines if re.search(r" (ERROR|CRITICAL) ", line) and not EXPECTED.search(line)]
    return [line for line in found if not stage.in_outage(moment_of(line))]


def moment_of(line: str) -> float:
    """Return when a line was written; 0 for one that does not say it."""
    try:
        return datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S").astimezone().timestamp()
    except ValueError:
        return 0.0


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
    lines = [f"chaos of {stage.now():.0f} s, --seed {seed}"]
    lines += [f"  {name}: {count}" for name, count in sorted(stage.counts.items())]
    if not stage.faults:
        return "\n".join([*lines, "nothing lost, nothing doubled, nothing out of order"])
    lines += ["", "the last blows:", *stage.diary[-40:]]
    lines += ["", f"{len(stage.faults)} FAULTS:", *stage.faults]
    return "\n".join(lines)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONFAULTHANDLER", "1")
    sys.exit(main())
