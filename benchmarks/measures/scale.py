"""Two server processes against one: what a second process brings."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass

from benchmarks import wire
from benchmarks.contenders import CONSUMERS, OURS, Contender
from benchmarks.load import closed_loop
from benchmarks.processes import machine_busy_seconds
from benchmarks.report import Section, Target, ratio, spread
from benchmarks.stage import Stage

CONNECTIONS = 32  # altogether: enough for each of two processes to have full batches to commit
KIND = "postgres"
WANTED = 1.7


@dataclass(frozen=True)
class Turn:
    """The figures of one turn, all processes together."""

    per_second: float
    server_cpu_ms: float
    client_cpu_ms: float
    cores: float  # that the servers kept busy
    machine: float  # cores that everything together kept busy


def measure_scale(stage: Stage) -> Section:
    """Runs the turns and puts the figures together."""
    turns: dict[tuple[str, int], list[Turn]] = defaultdict(list)
    contenders = [contender for contender in (OURS, CONSUMERS) if contender in stage.contenders]
    for round_ in range(stage.effort.rounds if KIND in stage.kinds else 0):
        for contender in contenders:
            for processes in (1, 2):
                stage.note(f"scale: round {round_ + 1} of {stage.effort.rounds}, {contender.name}, {processes}")
                turns[contender.name, processes].append(_turn(stage, contender, processes))
    section = Section(
        "Two processes against one",
        f"Blocking SendMessage over JSON-RPC as above, on PostgreSQL, {CONNECTIONS} keep-alive connections, shared out "
        "evenly over one or two server processes on one database, no channel layer. The load generator and PostgreSQL "
        f"run on the same {os.cpu_count()} cores. 'Server cores' is what the server processes kept busy, 'machine "
        "cores' what everything together did: where one process and what belongs to it keep most of the machine busy, "
        "a second one has no room, and the ratio says nothing of what it would bring on cores of its own. So the CPU "
        "time of a call is compared as well: twice that with one process over that with two is the ratio that the "
        "servers' cost allows for; waiting for one another does not show in it.",
        ("server, processes", "calls/s", "server CPU ms/call", "server cores", "machine cores", "client CPU ms/call"),
    )
    for (name, processes), figures in turns.items():
        section.rows.append(
            (
                f"{name}, {processes}",
                spread([turn.per_second for turn in figures], 0),
                spread([turn.server_cpu_ms for turn in figures], 2),
                spread([turn.cores for turn in figures], 2),
                spread([turn.machine for turn in figures], 2),
                f"{statistics.median(turn.client_cpu_ms for turn in figures):.3f}",
            )
        )
    for contender in contenders:
        one, two = (turns.get((contender.name, processes), []) for processes in (1, 2))
        what = f"Two processes / one, {contender.name}, {KIND}"
        calls = ratio(_median([turn.per_second for turn in two]), _median([turn.per_second for turn in one]))
        cpu = ratio(_median([turn.server_cpu_ms for turn in one]), _median([turn.server_cpu_ms for turn in two]))
        section.targets += [
            Target(f"{what}: calls/s", WANTED, calls, True),
            Target(f"{what}: by server CPU per call", WANTED, cpu and 2 * cpu, True),
        ]
    return section


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None


def _turn(stage: Stage, contender: Contender, processes: int) -> Turn:
    template = stage.templates.get(contender, KIND)
    with ExitStack() as stack:
        database = stack.enter_context(stage.databases.copy(template))
        servers = [stack.enter_context(contender.serve(database)) for _ in range(processes)]
        ports = [server.port for server in servers]
        stage.run(_load(ports, contender.path, stage.effort.warm_up_seconds))
        with stage.bill(*servers) as bill:
            busy = machine_busy_seconds()
            calls, seconds, client = stage.run(_load(ports, contender.path, stage.effort.send_seconds))
            busy = machine_busy_seconds() - busy
    cpu = bill.cost.cpu_seconds
    return Turn(calls / seconds, cpu / calls * 1000, client / calls * 1000, cpu / seconds, busy / seconds)


async def _load(ports: list[int], path: str, seconds: float) -> tuple[int, float, float]:
    """Returns the calls to all ports, the seconds they took, and the CPU seconds of this process."""
    cpu, started = time.process_time(), time.perf_counter()
    loads = await asyncio.gather(
        *(
            closed_loop(
                port,
                connections=CONNECTIONS // len(ports),
                make=lambda number: wire.send_message(path, number),
                check=wire.check_sent,
                seconds=seconds,
            )
            for port in ports
        )
    )
    return sum(load.calls for load in loads), time.perf_counter() - started, time.process_time() - cpu
