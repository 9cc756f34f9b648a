"""Pruning: what callers notice of it."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import psycopg

from benchmarks import wire
from benchmarks.contenders import OURS
from benchmarks.databases import Database, server_url
from benchmarks.load import Connection, LoadError
from benchmarks.processes import ROOT, run_module
from benchmarks.report import Section, Target, ratio
from benchmarks.stage import Stage

TASKS: Final = 1_000_000
QUICK_TASKS: Final = 200_000
#: Seconds of calls without pruning, before it and after it; of pruning, and of calls without, in turns; pause between
#: two calls.
NORMAL_SECONDS: Final = 15.0
PRUNE_SECONDS: Final = 30.0
BETWEEN_SECONDS: Final = 10.0
PAUSE_SECONDS: Final = 0.02
SLOWER: Final = 1.5


def measure_prune(stage: Stage) -> Section:
    """Calls a server before, while and after many tasks are pruned from its database."""
    count = TASKS if stage.effort.rounds > 2 else QUICK_TASKS
    section = Section(
        f"Calls while {count:,} tasks are pruned",
        f"Blocking SendMessage on one connection with {PAUSE_SECONDS * 1000:.0f} ms between two calls; PostgreSQL, "
        f"{count:,} ended tasks, each with a message, an artifact and its events. `manage.py a2a_prune` runs as it is "
        f"delivered, in a process of its own on the same machine. After {PRUNE_SECONDS:.0f} s it is ended, wherever it "
        f"is, and begun again {BETWEEN_SECONDS:.0f} s later, so that what else happens on the machine is the same for "
        f"both; the calls in between, and {NORMAL_SECONDS:.0f} s of them before and after, are what is normal. "
        "Checked: every answer; that all old tasks and their rows are gone, that those of the calls are not, and that "
        "the tallies are right.",
        ("when", "calls", "p50 ms", "p99 ms", "longest ms"),
    )
    if "postgres" not in stage.kinds:
        return section
    stage.note(f"prune: preparing {count:,} tasks")
    database = stage.databases.empty("postgres", "prune")
    environment = OURS.environment | database.environment()
    run_module("benchmarks.site.fill_ended", str(count), environment=environment)
    with psycopg.connect(f"{server_url()}/{database.name}", autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
    with OURS.serve(database) as server:
        stage.run(_calls(server.port, _for(3.0)))
        stage.note("prune: calls before")
        normal = stage.run(_calls(server.port, _for(NORMAL_SECONDS)))
        meanwhile: list[float] = []
        between: list[float] = []
        seconds = 0.0
        while _old_tasks(database):
            stage.note(f"prune: calls meanwhile; {seconds:.0f} s so far")
            started = time.perf_counter()
            with _pruning(environment) as pruning:
                meanwhile += stage.run(_calls(server.port, _for(PRUNE_SECONDS, pruning)))
            seconds += time.perf_counter() - started
            between += stage.run(_calls(server.port, _for(BETWEEN_SECONDS)))
        stage.note("prune: calls after")
        after = stage.run(_calls(server.port, _for(NORMAL_SECONDS)))
        _check(database)
    for when, times in (
        ("before", normal),
        (f"while {count / seconds:,.0f} tasks/s are pruned ({seconds:.0f} s)", meanwhile),
        ("in between", between),
        ("after", after),
    ):
        ordered = sorted(times)
        if not times:
            continue
        figures = (statistics.median(times), ordered[len(times) * 99 // 100], ordered[-1])
        section.rows.append((when, f"{len(times):,}", *(f"{figure:.1f}" for figure in figures)))
    slower = ratio(statistics.median(meanwhile), statistics.median(normal + between + after))
    section.targets.append(Target(f"Median call while {count:,} tasks are pruned / normal", SLOWER, slower, False))
    return section


def _for(seconds: float, process: subprocess.Popen[bytes] | None = None) -> Callable[[], bool]:
    """Whether to go on: for so long, and while the process lives."""
    end = time.perf_counter() + seconds
    return lambda: time.perf_counter() < end and (process is None or process.poll() is None)


@contextmanager
def _pruning(environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The command, ended with the block unless it has ended by itself. Raises `LoadError` when it has failed."""
    command = [sys.executable, "-m", "django", "a2a_prune", "--days", "1"]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
    try:
        yield process
        if process.poll():
            raise LoadError(f"a2a_prune ended with {process.returncode}")
    finally:
        process.terminate()
        process.wait()


def _old_tasks(database: Database) -> bool:
    """Whether there is something left to prune."""
    with psycopg.connect(f"{server_url()}/{database.name}") as connection:
        row = connection.execute(
            "SELECT EXISTS (SELECT FROM a2a_django_task WHERE status_timestamp < now() - interval '1 day')"
        ).fetchone()
    return bool(row and row[0])


async def _calls(port: int, go_on: Callable[[], bool]) -> list[float]:
    """Calls one after the other; returns the milliseconds of each."""
    line = await Connection.open(port)
    times: list[float] = []
    try:
        while go_on():
            number = len(times)
            started = time.perf_counter()
            body = await line.call(wire.send_message(OURS.path, number))
            times.append((time.perf_counter() - started) * 1000)
            wire.check_sent(number, body)
            await asyncio.sleep(PAUSE_SECONDS)
    finally:
        line.close()
    return times


def _check(database: Database) -> None:
    """Raises `LoadError` unless what is left are tasks that have just ended, whole, and counted."""
    with psycopg.connect(f"{server_url()}/{database.name}") as connection:

        def number(sql: str) -> int:
            row = connection.execute(sql).fetchone()  # type: ignore[arg-type]  # texts of our own
            return int(row[0]) if row else -1

        tasks = number("SELECT count(*) FROM a2a_django_task")
        young = number("SELECT count(*) FROM a2a_django_task WHERE status_timestamp > now() - interval '1 day'")
        messages = number("SELECT count(*) FROM a2a_django_message")
        artifacts = number("SELECT count(*) FROM a2a_django_artifact")
        owned = number("SELECT count(DISTINCT task_id) FROM a2a_django_taskevent")
        tallies = number("SELECT sum(count) FROM a2a_django_tasktally")
    if not tasks == young == messages == artifacts == owned == tallies:
        raise LoadError(f"{tasks} tasks, {young} young, {messages}, {artifacts}, {owned}, {tallies}: not the same")
