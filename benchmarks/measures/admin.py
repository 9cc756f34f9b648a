"""The admin over a million tasks: what the pages of operators cost."""

from __future__ import annotations

import json
import statistics
from typing import Final

from benchmarks.contenders import OURS
from benchmarks.processes import run_module
from benchmarks.report import Section, Target, spread
from benchmarks.stage import Stage

TASKS: Final = 1_000_000
QUICK_TASKS: Final = 100_000
EVENTS: Final = 10_000
#: What the first pages may take.
MILLISECONDS: Final = 300.0
QUERIES: Final = 20
FIRST: Final = ("tasks, first page", "the long task, newest events")


def measure_admin(stage: Stage) -> Section:
    """Asks for pages of the admin, one after the other."""
    tasks = TASKS if stage.effort.rounds > 2 else QUICK_TASKS
    section = Section(
        f"The admin over {tasks:,} tasks",
        f"{tasks:,} tasks of 1,000 owners and 40 tenants in PostgreSQL, each with its message, and one task with "
        f"{EVENTS:,} events. Each page is asked for {stage.effort.rounds * 3} times by Django's test client, with the "
        "middleware of a new project, after one request that counts the queries (those for session and user are "
        "among them). Median (fastest-slowest).",
        ("page", "ms", "CPU ms of Python", "queries"),
    )
    if "postgres" not in stage.kinds:
        return section
    stage.note(f"admin: preparing {tasks:,} tasks")
    database = stage.databases.empty("postgres", "admin")
    environment = OURS.environment | database.environment()
    environment["DJANGO_SETTINGS_MODULE"] = "benchmarks.site.admin_settings"
    arguments = (str(tasks), str(EVENTS), str(stage.effort.rounds * 3))
    printed = run_module("benchmarks.site.admin_pages", *arguments, environment=environment)
    for name, times, cpu, queries in json.loads(printed):
        section.rows.append((name, spread(times, 1), spread(cpu, 1), str(queries)))
        if name in FIRST:
            section.targets.append(Target(f"admin, {name}: ms", MILLISECONDS, statistics.median(times), False))
            section.targets.append(Target(f"admin, {name}: queries", QUERIES, queries, False))
    return section
