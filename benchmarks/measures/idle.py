"""Idle streams: what a subscription costs on which nothing happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from benchmarks import wire
from benchmarks.contenders import CONSUMERS, OURS
from benchmarks.load import Connection, LoadError
from benchmarks.processes import Process
from benchmarks.report import Section, Target
from benchmarks.stage import Stage

SIZES = (1_000, 5_000)
WARM_UP = 100  # streams opened and closed before the first figure
AT_A_TIME = 50
QUIET_SECONDS = 5.0
MORE_THREADS = 4  # than before the first stream: DATABASE_THREADS, whatever the number of streams
KIB = 1024


def measure_idle(stage: Stage) -> Section:
    """Opens the streams and reads memory, threads and CPU of the server."""
    section = Section(
        "Idle streams",
        "SubscribeToTask to so many tasks that wait for input, one stream each, all on one server process with SQLite. "
        "KiB per stream: resident memory with the streams open less that before the first, by their number, the tasks "
        f"made before. CPU: of the process over {QUIET_SECONDS:g} s in which nothing happens (without a channel layer "
        "the process looks for news of other processes several times a second). Threads and latency of a GetTask "
        "while the streams are open.",
        ("server, streams", "KiB per stream", "threads before", "threads", "CPU % of a core", "GetTask ms"),
    )
    for contender in (OURS, CONSUMERS):
        if contender not in stage.contenders or "sqlite" not in stage.kinds:
            continue
        for size in SIZES:
            stage.note(f"idle: {contender.name}, {size:,} streams")
            with stage.serve(contender, "sqlite") as server:
                kib, before, after, cpu, latency = stage.run(_measure(server, contender.path, size))
            section.rows.append(
                (f"{contender.name}, {size:,}", f"{kib:.1f}", str(before), str(after), f"{cpu:.1f}", f"{latency:.1f}")
            )
            if contender is CONSUMERS:
                what = f"Idle streams, {size:,} on the consumers: more threads than without"
                section.targets.append(Target(what, MORE_THREADS, float(after - before), False))
    return section


async def _measure(server: Process, path: str, size: int) -> tuple[float, int, int, float, float]:
    tasks = await _tasks(server.port, path, size)
    await _close(await _open(server.port, path, tasks[:WARM_UP]))
    await asyncio.sleep(QUIET_SECONDS + 1)  # idle threads have gone by then
    before = server.usage()
    streams = await _open(server.port, path, tasks)
    await asyncio.sleep(QUIET_SECONDS + 1)
    quiet = server.usage()
    await asyncio.sleep(QUIET_SECONDS)
    after = server.usage()
    latency = await _latency(server.port, path, tasks[0])
    await _close(streams)
    kib = (after.rss_bytes - before.rss_bytes) / KIB / size
    cpu = (after.cpu_seconds - quiet.cpu_seconds) / QUIET_SECONDS * 100
    return kib, before.threads, after.threads, cpu, latency


async def _tasks(port: int, path: str, count: int) -> list[str]:
    """Makes tasks that wait for input."""
    line = await Connection.open(port)
    try:
        return [wire.check_asked(await line.call(wire.send_question(path, number))) for number in range(count)]
    finally:
        line.close()


Stream = tuple[Connection, AsyncIterator[list[bytes]]]


async def _open(port: int, path: str, tasks: list[str]) -> list[Stream]:
    """Opens a stream for each task and waits for its first event."""

    async def one(task_id: str) -> Stream:
        async with gate:
            line = await Connection.open(port)
            stream = line.stream(wire.subscribe(path, task_id))
            first: Any = json.loads((await anext(stream))[0])
            if first.get("result", {}).get("task", {}).get("id") != task_id:
                raise LoadError(f"a stream began with {first!r}")
            return line, stream

    gate = asyncio.Semaphore(AT_A_TIME)
    return await asyncio.gather(*map(one, tasks))


async def _close(streams: list[Stream]) -> None:
    for line, _ in streams:
        line.close()
    await asyncio.sleep(0.5)


async def _latency(port: int, path: str, task_id: str) -> float:
    """Milliseconds of a GetTask, the median of some."""
    line = await Connection.open(port)
    loop = asyncio.get_running_loop()
    times = []
    try:
        for _ in range(21):
            started = loop.time()
            wire.result(await line.call(wire.get_task(path, task_id, tenant=wire.ASK_AGENT)))
            times.append((loop.time() - started) * 1000)
    finally:
        line.close()
    return sorted(times)[len(times) // 2]
