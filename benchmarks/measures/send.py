"""Durable blocking SendMessage: calls per second and CPU per call."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass

from benchmarks import wire
from benchmarks.contenders import CONSUMERS, OURS, SDK, SDK_MEMORY, Contender
from benchmarks.load import Load, closed_loop
from benchmarks.report import Section, Target, ratio, spread
from benchmarks.stage import Stage

CONNECTIONS = 8
#: (database, this server, that server, times as many calls per second)
WANTED = (
    ("sqlite", OURS, SDK, 4.0),
    ("postgres", OURS, SDK, 2.5),
    ("sqlite", CONSUMERS, SDK, 8.0),
    ("sqlite", CONSUMERS, SDK_MEMORY, 1.0),
)


@dataclass(frozen=True)
class Turn:
    """The figures of one turn."""

    per_second: float
    server_cpu_ms: float
    client_cpu_ms: float
    p50_ms: float
    p99_ms: float
    rss_mib: float


def measure_send(stage: Stage) -> Section:
    """Runs the turns and puts the figures together."""
    turns: dict[tuple[str, str], list[Turn]] = defaultdict(list)
    for kind, contender in stage.turns("send", stage.effort.rounds):
        turns[kind, contender.name].append(_turn(stage, kind, contender))
    section = Section(
        f"SendMessage at {CONNECTIONS} connections",
        f"Blocking SendMessage over JSON-RPC, {CONNECTIONS} keep-alive connections, a closed loop of "
        f"{stage.effort.send_seconds:g} s in each of {stage.effort.rounds} rounds, new server and new database for "
        "each turn. Every answer is checked: COMPLETED, one artifact with the text. a2a-django answers through "
        "Django's views, a2a-django-consumers through the Channels consumers; a2a-sdk keeps its tasks in the database, "
        "a2a-sdk-memory in memory. Median (lowest-highest round). CPU is user + system time of the server's process "
        "tree; the client's is that of the load generator.",
        ("database, server", "calls/s", "server CPU ms/call", "p50 ms", "p99 ms", "RSS MiB", "client CPU ms/call"),
    )
    for (kind, name), figures in turns.items():
        section.rows.append(
            (
                f"{kind}, {name}",
                spread([turn.per_second for turn in figures], 0),
                spread([turn.server_cpu_ms for turn in figures], 2),
                f"{statistics.median(turn.p50_ms for turn in figures):.1f}",
                f"{statistics.median(turn.p99_ms for turn in figures):.1f}",
                f"{statistics.median(turn.rss_mib for turn in figures):.0f}",
                f"{statistics.median(turn.client_cpu_ms for turn in figures):.3f}",
            )
        )
    for kind, ours, peer, wanted in WANTED:
        if kind not in stage.kinds:
            continue
        faster = ratio(*(_median(turns, kind, each, "per_second") for each in (ours, peer)))
        cheaper = ratio(*(_median(turns, kind, each, "server_cpu_ms") for each in (peer, ours)))
        what = f"{kind}, {ours.name} / {peer.name}"
        section.targets.append(Target(f"SendMessage calls/s, {what}", wanted, faster, True))
        if faster is not None and cheaper is not None:
            section.rows.append((what, f"{faster:.2f}", f"1/{cheaper:.2f}", "", "", "", ""))
    return section


def _median(turns: dict[tuple[str, str], list[Turn]], kind: str, contender: Contender, figure: str) -> float | None:
    figures = [getattr(turn, figure) for turn in turns.get((kind, contender.name), [])]
    return statistics.median(figures) if figures else None


def _turn(stage: Stage, kind: str, contender: Contender) -> Turn:
    with stage.serve(contender, kind) as server:
        stage.run(_load(server.port, contender.path, stage.effort.warm_up_seconds))
        with stage.bill(server) as bill:
            load = stage.run(_load(server.port, contender.path, stage.effort.send_seconds))
    times = sorted(load.latencies)
    return Turn(
        load.per_second,
        bill.cost.cpu_seconds / load.calls * 1000,
        load.client_cpu_seconds / load.calls * 1000,
        times[len(times) // 2] * 1000,
        times[len(times) * 99 // 100] * 1000,
        bill.usage.rss_bytes / 2**20,
    )


async def _load(port: int, path: str, seconds: float) -> Load:
    return await closed_loop(
        port,
        connections=CONNECTIONS,
        make=lambda number: wire.send_message(path, number),
        check=wire.check_sent,
        seconds=seconds,
    )
