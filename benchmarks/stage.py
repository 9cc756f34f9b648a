"""What a measurement needs: databases, servers that take turns, an event loop, and how much to do."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from benchmarks.contenders import Contender, Templates
from benchmarks.databases import Databases
from benchmarks.processes import Process, Usage

T = TypeVar("T")
SETTLE_SECONDS = 0.3  # what a server does after its last answer belongs to the bill as well


@dataclass(frozen=True)
class Effort:
    """How much to do."""

    rounds: int
    send_seconds: float
    warm_up_seconds: float
    stream_rounds: int
    stream_chunks: int
    list_rounds: int
    list_sizes: tuple[int, int]
    list_walks: int
    memory_calls: int
    cross_events: int


FULL = Effort(5, 5.0, 1.5, 3, 3000, 3, (1_000, 100_000), 5, 20_000, 500)
QUICK = Effort(2, 2.0, 1.0, 1, 3000, 1, (1_000, 100_000), 3, 20_000, 200)


@dataclass(frozen=True)
class Cost:
    """What something cost: time on the clock and CPU time of the server's processes."""

    seconds: float
    cpu_seconds: float


class Bill:
    """Filled when the block of `Stage.bill` ends."""

    cost: Cost
    usage: Usage


@dataclass(frozen=True)
class Stage:
    """Where the measurements are made."""

    databases: Databases
    templates: Templates
    runner: asyncio.Runner
    contenders: tuple[Contender, ...]
    kinds: tuple[str, ...]
    effort: Effort

    def turns(self, what: str, rounds: int) -> Iterator[tuple[str, Contender]]:
        """Database kind and contender for every turn: A B A B ... on each kind."""
        for kind in self.kinds:
            for round_ in range(rounds):
                for contender in self.contenders:
                    if what not in contender.measures or kind not in contender.kinds:
                        continue
                    self.note(f"{what}: {kind}, round {round_ + 1} of {rounds}, {contender.name}")
                    yield kind, contender

    @contextmanager
    def serve(self, contender: Contender, kind: str, tasks: int = 0) -> Iterator[Process]:
        """A fresh server on a fresh copy of the prepared database."""
        template = self.templates.get(contender, kind, tasks)
        with self.databases.copy(template) as database, contender.serve(database) as server:
            yield server

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs the load generator's part."""
        return self.runner.run(work)

    @contextmanager
    def bill(self, *servers: Process) -> Iterator[Bill]:
        """Measures what the block costs the servers."""
        bill = Bill()
        before, started = Usage.of(servers), time.perf_counter()
        yield bill
        seconds = time.perf_counter() - started
        time.sleep(SETTLE_SECONDS)
        bill.usage = Usage.of(servers)
        bill.cost = Cost(seconds, bill.usage.cpu_seconds - before.cpu_seconds)

    @staticmethod
    def note(text: str) -> None:
        """Progress, for the person who waits."""
        print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)
