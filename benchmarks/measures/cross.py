"""From one process to a stream in another: how long an event takes to get there."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import ExitStack

from benchmarks import wire
from benchmarks.contenders import CONSUMERS
from benchmarks.load import Connection, LoadError
from benchmarks.processes import Process, Redis, ServerError
from benchmarks.report import Section, Target
from benchmarks.stage import Stage

PAUSE_MS = 40  # between two events, give or take half of it
MEDIAN_MS = 50.0  # wanted with Redis
LOST_EVENTS = 20  # after Redis came back, until the processes have noticed


def measure_cross(stage: Stage) -> Section:
    """Runs a task in one process, with a stream in the same and one in another."""
    events = stage.effort.cross_events
    section = Section(
        "From process to process",
        f"Two server processes on one database. A task in the first publishes {events} events, one every {PAUSE_MS} ms "
        "give or take half of it, each with the time on the clock that all processes of a machine share. Two streams "
        "read them, one from the process that runs the task, one from the other. The figures are from the agent's "
        "`publish` to the client, so the commit is part of both rows. Every event arrives once and in order (checked). "
        "'Redis, restarted': the same after Redis was killed and started again under the eyes of both processes.",
        ("database, layer, stream from", "median ms", "p90 ms", "p99 ms", "longest ms"),
    )
    if CONSUMERS not in stage.contenders:
        return section
    for kind in stage.kinds:
        for layer, times in _layers(stage, kind, events):
            for where, values in zip(("the task's process", "the other process"), times, strict=True):
                section.rows.append((f"{kind}, {layer}, {where}", *_spread(values)))
            if layer == "Redis":
                median = sorted(times[1])[len(times[1]) // 2]
                section.targets.append(
                    Target(f"Process to process, {kind}, Redis: median ms", MEDIAN_MS, median, False)
                )
    return section


Times = tuple[list[float], list[float]]


def _layers(stage: Stage, kind: str, events: int) -> list[tuple[str, Times]]:
    stage.note(f"cross: {kind}, no layer")
    found = [("no layer", _turn(stage, kind, events))]
    try:
        redis = Redis()
    except ServerError as error:
        stage.note(f"cross: {error}, so the figures with Redis are left out")
        return found
    with redis:
        stage.note(f"cross: {kind}, Redis")
        found.append(("Redis", _turn(stage, kind, events, redis.environment())))
        stage.note(f"cross: {kind}, Redis restarted")
        found.append(("Redis, restarted", _turn(stage, kind, events, redis.environment(), restart=redis)))
    return found


def _turn(
    stage: Stage, kind: str, events: int, environment: Mapping[str, str] | None = None, restart: Process | None = None
) -> Times:
    template = stage.templates.get(CONSUMERS, kind)
    with ExitStack() as stack:
        database = stack.enter_context(stage.databases.copy(template))
        servers = [stack.enter_context(CONSUMERS.serve(database, environment or {})) for _ in range(2)]
        ports = [server.port for server in servers]
        stage.run(_measure(ports, LOST_EVENTS))
        if restart is not None:
            restart.kill()
            stage.run(_measure(ports, LOST_EVENTS))
            restart.start()
            stage.run(_measure(ports, LOST_EVENTS))
        return stage.run(_measure(ports, events))


async def _measure(ports: list[int], events: int) -> Times:
    """Returns the milliseconds that each event took, to the process of the task and to the other."""
    caller, *readers = [await Connection.open(port) for port in (ports[0], *ports)]
    try:
        answer = wire.result(await caller.call(wire.start_clock(CONSUMERS.path, events, PAUSE_MS)))
        here, there = await asyncio.gather(*(_read(line, answer["task"]["id"], events) for line in readers))
    finally:
        for line in (caller, *readers):
            line.close()
    return here, there


async def _read(line: Connection, task_id: str, events: int) -> list[float]:
    published: list[int] = []
    times: list[float] = []
    state = ""
    async for ready in line.stream(wire.subscribe(CONSUMERS.path, task_id, tenant=wire.CLOCK_AGENT)):
        now = time.monotonic_ns()
        for data in ready:
            event = json.loads(data)["result"]
            if "task" in event:
                artifacts = event["task"].get("artifacts", ())
                published += [int(part["text"]) for artifact in artifacts for part in artifact["parts"]]
            elif "artifactUpdate" in event:
                moments = [int(part["text"]) for part in event["artifactUpdate"]["artifact"]["parts"]]
                published += moments
                times += [(now - moment) / 1e6 for moment in moments]
            else:
                state = event["statusUpdate"]["status"]["state"]
    if len(published) != events or published != sorted(set(published)) or state != wire.COMPLETED:
        raise LoadError(f"{len(published)} events of {events}, {len(set(published))} different ones, then {state}")
    return times


def _spread(values: list[float]) -> tuple[str, ...]:
    times = sorted(values)
    places = (len(times) // 2, len(times) * 9 // 10, len(times) * 99 // 100, len(times) - 1)
    return tuple(f"{times[place]:.1f}" for place in places)
