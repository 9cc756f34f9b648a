"""One stream of many artifact chunks: how long, how much CPU, and whether a late chunk costs more than an early one."""

from __future__ import annotations

import json
import statistics
import time
from collections import defaultdict
from dataclasses import dataclass

from benchmarks import wire
from benchmarks.contenders import OURS, SDK, Contender
from benchmarks.load import Connection, LoadError
from benchmarks.report import Section, Target, ratio, spread
from benchmarks.stage import Cost, Stage

SHORT = 100
FASTER = 10.0
GROWTH = 1.3


@dataclass(frozen=True)
class Turn:
    """What one long stream cost, and as many chunks in short streams."""

    long: Cost
    short: Cost
    late: float  # time of the last third of the chunks / time of the first third


def measure_stream(stage: Stage) -> Section:
    """Runs the turns and puts the figures together."""
    chunks = stage.effort.stream_chunks
    turns: dict[tuple[str, str], list[Turn]] = defaultdict(list)
    for kind, contender in stage.turns("stream", stage.effort.stream_rounds):
        turns[kind, contender.name].append(_turn(stage, kind, contender))
    section = Section(
        f"One stream of {chunks:,} artifact chunks",
        f"SendStreamingMessage on one connection; the agent appends {chunks:,} chunks of {len(wire.chunk_text(0))} "
        f"characters to one artifact as fast as it can, {stage.effort.stream_rounds} rounds, new server for each turn. "
        "Checked: every chunk arrives once and in order as an event of its own (or in the first snapshot), the stream "
        "ends with COMPLETED, and GetTask afterwards gives the whole text. "
        f"'us/chunk at {SHORT}' comes from {chunks // SHORT} streams of {SHORT} chunks one after the other, their "
        "calls included. 'last/first third': time of the last third of the chunks over that of the first third.",
        (
            *("database, server", "seconds", "CPU seconds", "us/chunk", f"us/chunk at {SHORT}"),
            *("CPU us/chunk", f"CPU us/chunk at {SHORT}", "last/first third"),
        ),
    )
    for (kind, name), figures in turns.items():
        section.rows.append(
            (
                f"{kind}, {name}",
                spread([turn.long.seconds for turn in figures], 2),
                spread([turn.long.cpu_seconds for turn in figures], 2),
                f"{statistics.median(turn.long.seconds for turn in figures) / chunks * 1e6:.0f}",
                f"{statistics.median(turn.short.seconds for turn in figures) / chunks * 1e6:.0f}",
                f"{statistics.median(turn.long.cpu_seconds for turn in figures) / chunks * 1e6:.0f}",
                f"{statistics.median(turn.short.cpu_seconds for turn in figures) / chunks * 1e6:.0f}",
                f"{statistics.median(turn.late for turn in figures):.2f}",
            )
        )
    for kind in stage.kinds:
        section.targets += _targets(kind, chunks, turns.get((kind, OURS.name), []), turns.get((kind, SDK.name), []))
    return section


def _targets(kind: str, chunks: int, ours: list[Turn], sdk: list[Turn]) -> list[Target]:
    def median(values: list[float]) -> float | None:
        return statistics.median(values) if values else None

    time_ours, time_sdk = median([t.long.seconds for t in ours]), median([t.long.seconds for t in sdk])
    grown_time = median([t.long.seconds / t.short.seconds for t in ours])
    grown_cpu = median([t.long.cpu_seconds / t.short.cpu_seconds for t in ours])
    cost = f"Stream, {kind}: cost of a chunk, ours, at {chunks:,} / at {SHORT}"
    return [
        Target(f"Stream of {chunks:,}, {kind}: time, SDK / ours", FASTER, ratio(time_sdk, time_ours), True),
        Target(f"{cost}, time", GROWTH, grown_time, False),
        Target(f"{cost}, CPU", GROWTH, grown_cpu, False),
    ]


def _turn(stage: Stage, kind: str, contender: Contender) -> Turn:
    chunks, path = stage.effort.stream_chunks, contender.path
    with stage.serve(contender, kind) as server:
        stage.run(_streams(server.port, path, 5, SHORT))
        with stage.bill(server) as short:
            stage.run(_streams(server.port, path, chunks // SHORT, SHORT))
        with stage.bill(server) as long:
            task_ids, marks = stage.run(_streams(server.port, path, 1, chunks))
        stage.run(_check_stored(server.port, path, task_ids[0], chunks))
    third = len(marks) // 3
    return Turn(long.cost, short.cost, (marks[-1] - marks[-third]) / (marks[third] - marks[0]))


async def _streams(port: int, path: str, streams: int, chunks: int) -> tuple[list[str], list[float]]:
    """Runs streams one after the other; returns the task ids, and when each event of the last stream came."""
    line = await Connection.open(port)
    task_ids: list[str] = []
    marks: list[float] = []
    try:
        for number in range(streams):
            marks = []
            events: list[bytes] = []
            async for ready in line.stream(wire.stream_chunks(path, number, chunks)):
                events += ready
                marks += [time.perf_counter()] * len(ready)
            task_ids.append(check_events(events, chunks))
    finally:
        line.close()
    return task_ids, marks


def check_events(events: list[bytes], chunks: int) -> str:
    """Every chunk once, in order, and the end; returns the task id."""
    texts: list[str] = []
    task_id = state = ""
    for event in events:
        body = json.loads(event).get("result", {})
        if "task" in body:
            task_id, state = body["task"]["id"], body["task"]["status"]["state"]
            texts.append(wire.artifact_text(body["task"]))
        elif "artifactUpdate" in body:
            texts.append("".join(part["text"] for part in body["artifactUpdate"]["artifact"]["parts"]))
        elif "statusUpdate" in body:
            state = body["statusUpdate"]["status"]["state"]
        else:
            raise LoadError(f"an event that is none: {event[:300]!r}")
    if "".join(texts) != _whole(chunks) or state != wire.COMPLETED or len(texts) < chunks // 2:
        raise LoadError(f"a stream of {len(events)} events with {len(texts)} pieces of text, last state {state!r}")
    return task_id


async def _check_stored(port: int, path: str, task_id: str, chunks: int) -> None:
    line = await Connection.open(port)
    try:
        task = wire.result(await line.call(wire.get_task(path, task_id, tenant=wire.CHUNK_AGENT)))
    finally:
        line.close()
    if task["status"]["state"] != wire.COMPLETED or wire.artifact_text(task) != _whole(chunks):
        raise LoadError("the stored task is not what was streamed")


def _whole(chunks: int) -> str:
    return "".join(wire.chunk_text(number) for number in range(chunks))
