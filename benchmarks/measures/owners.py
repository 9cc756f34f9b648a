"""ListTasks on a site with many owners: what a page of one of them costs beside the tasks of all others."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from typing import Final

import psycopg

from benchmarks import wire
from benchmarks.contenders import OURS
from benchmarks.databases import Database, server_url
from benchmarks.load import Connection, LoadError
from benchmarks.processes import Process, run_module
from benchmarks.report import Section, Target, ratio, spread
from benchmarks.stage import Stage

PAGE_SIZE: Final = 50
PAGES: Final = 10
GROWTH: Final = 1.5
PER_OWNER: Final = 1_000
MANY: Final = 1_000
QUICK_MANY: Final = 100
#: Owners whose lists are walked, a different set in each round: some pages are in no cache.
WALKED: Final = 10

#: What is asked for besides the page, and how many tasks of an owner fit.
FILTERS: Final = {
    "all": ({}, PER_OWNER),
    "by state": ({"status": wire.COMPLETED}, PER_OWNER),
    "since a moment": ({"statusTimestampAfter": "2026-01-01T00:00:00Z"}, PER_OWNER),
}


def measure_owners(stage: Stage) -> Section:
    """Walks lists on a site with one owner and on one with many, in turns."""
    many = MANY if stage.effort.rounds > 2 else QUICK_MANY
    section = Section(
        f"ListTasks of one of {many:,} owners",
        f"{many * PER_OWNER:,} tasks of {many:,} owners in PostgreSQL, mixed in time, beside a database with the "
        f"{PER_OWNER:,} tasks of one. One connection walks the first {PAGES} pages of {PAGE_SIZE} of an owner's list; "
        f"{WALKED} owners in each of {stage.effort.rounds} rounds, other ones each time, both databases in turns. "
        "Checked on every page: number of tasks, their state, totalSize, no task twice. Median (fastest-slowest page).",
        ("owners, what", "ms/page", "server CPU ms/page"),
    )
    if "postgres" not in stage.kinds:
        return section
    times: dict[tuple[str, int], list[float]] = defaultdict(list)
    cpu: dict[tuple[str, int], list[float]] = defaultdict(list)
    named = {"BENCH_CALLERS": "Named"}
    with OURS.serve(_prepared(stage, 1), named) as one, OURS.serve(_prepared(stage, many), named) as all_:
        for round_ in range(stage.effort.rounds):
            stage.note(f"owners: round {round_ + 1} of {stage.effort.rounds}")
            for what in FILTERS:
                for owners, server in ((1, one), (many, all_)):
                    chosen = [(round_ * WALKED + number) * 7 % owners for number in range(WALKED)]
                    with stage.bill(server) as bill:
                        found = stage.run(_walks(server, what, chosen))
                    if round_:  # the first one warms up what every request needs
                        times[what, owners] += found
                        cpu[what, owners].append(bill.cost.cpu_seconds / len(found) * 1000)
    for (what, owners), found in times.items():
        section.rows.append(
            (f"{owners:,}, {what}", spread(found, 2), f"{statistics.median(cpu[what, owners]):.2f}"),
        )
    for what in FILTERS:
        of_many, of_one = (statistics.median(times[what, owners]) for owners in (many, 1))
        section.targets.append(
            Target(f"ListTasks {what}: one of {many:,} owners / the only one", GROWTH, ratio(of_many, of_one), False)
        )
    return section


def _prepared(stage: Stage, owners: int) -> Database:
    stage.note(f"owners: preparing {owners * PER_OWNER:,} tasks of {owners:,} owners")
    database = stage.databases.empty("postgres", "owners")
    environment = OURS.environment | database.environment()
    run_module("benchmarks.site.fill_owners", str(owners * PER_OWNER), environment=environment)
    with psycopg.connect(f"{server_url()}/{database.name}", autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
    return database


async def _walks(server: Process, what: str, owners: list[int]) -> list[float]:
    """Walks the first pages of some owners; returns the milliseconds of each page."""
    more, total = FILTERS[what]
    line = await Connection.open(server.port)
    times = []
    try:
        for owner in owners:
            token, seen = "", set[str]()
            for _ in range(PAGES):
                request = wire.list_tasks(
                    OURS.path, page_size=PAGE_SIZE, page_token=token, more=more, caller=f"owner-{owner}"
                )
                started = time.perf_counter()
                body = await line.call(request)
                times.append((time.perf_counter() - started) * 1000)
                ids, token = wire.check_page(body, page_size=PAGE_SIZE, total=total)
                seen.update(ids)
            if len(seen) != PAGES * PAGE_SIZE:
                raise LoadError(f"{len(seen)} different tasks on {PAGES} pages of {PAGE_SIZE}")
    finally:
        line.close()
    return times
