"""ListTasks: what a page costs with few and with many stored tasks."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from dataclasses import dataclass, field

from benchmarks import wire
from benchmarks.contenders import OURS, SDK, Contender
from benchmarks.load import Connection, LoadError
from benchmarks.report import Section, Target, ratio, spread
from benchmarks.stage import Stage

PAGE_SIZE = 50
PAGES = 10
GROWTH = 1.5


@dataclass
class Figures:
    """Times of single pages in milliseconds, and CPU milliseconds per page of each turn."""

    times: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.times)


def measure_listing(stage: Stage) -> Section:
    """Runs the turns and puts the figures together."""
    effort = stage.effort
    figures: dict[tuple[str, str, int, bool], Figures] = defaultdict(Figures)
    for size in effort.list_sizes:
        for kind in stage.kinds:
            for contender in stage.contenders:
                if "list" not in contender.measures:
                    continue
                stage.note(f"list: preparing {size:,} tasks for {contender.name} on {kind}")
                stage.templates.get(contender, kind, size)
    for kind, contender in stage.turns("list", effort.list_rounds):
        for size in effort.list_sizes:
            for everything, found in _turn(stage, kind, contender, size).items():
                of_all = figures[kind, contender.name, size, everything]
                of_all.times += found.times
                of_all.cpu += found.cpu
    few, many = effort.list_sizes
    section = Section(
        f"ListTasks, pages of {PAGE_SIZE}",
        f"One connection walks the first {PAGES} pages by their tokens, {effort.list_walks} times in each of "
        f"{effort.list_rounds} rounds. The {few:,} or {many:,} tasks (one message and one artifact each, all of one "
        "caller) were put into the tables by bulk inserts. Checked on every page: number of tasks, their state, "
        "totalSize, no task twice. 'plain' asks for the page size only, 'whole' for history and artifacts too. "
        "Median over all pages (fastest-slowest page).",
        ("database, server, stored tasks, what", "ms/page", "server CPU ms/page"),
    )
    for (kind, name, size, everything), found in sorted(figures.items(), key=lambda item: item[0][:1] + item[0][3:]):
        what = "whole" if everything else "plain"
        section.rows.append(
            (f"{kind}, {name}, {size:,}, {what}", spread(found.times, 2), f"{statistics.median(found.cpu):.2f}")
        )
    for kind in stage.kinds:
        for everything in (False, True):
            medians = {
                (name, size): figures[kind, name, size, everything].median
                for name in (OURS.name, SDK.name)
                for size in (few, many)
                if (kind, name, size, everything) in figures
            }
            ours_few, ours_many = (medians.get((OURS.name, size)) for size in (few, many))
            sdk_few, sdk_many = (medians.get((SDK.name, size)) for size in (few, many))
            what = f"ListTasks {'whole' if everything else 'plain'}, {kind}"
            section.targets += [
                Target(f"{what}: ours at {many:,} / at {few:,}", GROWTH, ratio(ours_many, ours_few), False),
                Target(f"{what}: SDK / ours at {many:,}", 1.0, ratio(sdk_many, ours_many), True),
                Target(f"{what}: SDK / ours at {few:,}", 1.0, ratio(sdk_few, ours_few), True),
            ]
    return section


def _turn(stage: Stage, kind: str, contender: Contender, size: int) -> dict[bool, Figures]:
    found = {}
    with stage.serve(contender, kind, size) as server:
        for everything in (False, True):
            stage.run(_walks(server.port, contender.path, 1, size, everything))
            with stage.bill(server) as bill:
                times = stage.run(_walks(server.port, contender.path, stage.effort.list_walks, size, everything))
            found[everything] = Figures(times, [bill.cost.cpu_seconds / len(times) * 1000])
    return found


async def _walks(port: int, path: str, walks: int, total: int, everything: bool) -> list[float]:
    """Walks the first pages; returns the milliseconds of each page."""
    line = await Connection.open(port)
    times = []
    try:
        for _ in range(walks):
            token, seen = "", set[str]()
            for _ in range(PAGES):
                request = wire.list_tasks(path, page_size=PAGE_SIZE, page_token=token, everything=everything)
                started = time.perf_counter()
                body = await line.call(request)
                times.append((time.perf_counter() - started) * 1000)
                ids, token = wire.check_page(body, page_size=PAGE_SIZE, total=total, everything=everything)
                seen.update(ids)
            if len(seen) != PAGES * PAGE_SIZE:
                raise LoadError(f"{len(seen)} different tasks on {PAGES} pages of {PAGE_SIZE}")
    finally:
        line.close()
    return times
