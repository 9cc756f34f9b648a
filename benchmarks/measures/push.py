"""Webhooks: how fast events reach many of them, some of them bad, and what a bad one costs the agents."""

from __future__ import annotations

import asyncio
import statistics
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from benchmarks import wire
from benchmarks.contenders import PUSH, SDK_PUSH, Contender
from benchmarks.load import Connection
from benchmarks.measures.stream import check_events
from benchmarks.receivers import FAILURE, OK, Webhook
from benchmarks.report import Section, Target, ratio, spread
from benchmarks.stage import Cost, Stage

WEBHOOKS = 50
CHUNKS = 200
PATIENCE = 300.0
FASTER = 5.0
SLOWER = 1.1


@dataclass(frozen=True)
class Turn:
    """What it cost to tell the good webhooks everything, and how many deliveries that were."""

    cost: Cost
    deliveries: int


def measure_push(stage: Stage) -> Section:
    """Runs the turns and puts the figures together."""
    turns: dict[tuple[str, str, str], list[Turn]] = defaultdict(list)
    for kind, contender in stage.turns("push", stage.effort.list_rounds):
        for case, bad in (("all well", 0), ("two bad", 1)):
            with stage.serve(contender, kind) as server, stage.bill(server) as bill:
                deliveries = stage.run(_tell(server.port, contender, bad))
            turns[kind, contender.name, case].append(Turn(bill.cost, deliveries))
    section = Section(
        f"{WEBHOOKS * CHUNKS:,} events to {WEBHOOKS} webhooks",
        f"{WEBHOOKS} tasks are started at once, each with a webhook of its own (one port each, keep-alive, answers "
        f"200 at once); each agent appends {CHUNKS} chunks as fast as it can. 'two bad': one webhook never answers, "
        "one always answers 500; the time is that of the others. Checked: every chunk arrives once and in order, then "
        "COMPLETED. The SDK sends with its BasePushNotificationSender and its database store for configs.",
        ("database, server, case", "seconds", "deliveries/s", "server CPU ms/delivery"),
    )
    for (kind, name, case), found in turns.items():
        section.rows.append(
            (
                f"{kind}, {name}, {case}",
                spread([turn.cost.seconds for turn in found], 2),
                f"{statistics.median(turn.deliveries / turn.cost.seconds for turn in found):,.0f}",
                f"{statistics.median(turn.cost.cpu_seconds / turn.deliveries for turn in found) * 1000:.2f}",
            )
        )
    for kind in stage.kinds:
        for case in ("all well", "two bad"):
            ours, sdk = turns.get((kind, PUSH.name, case), []), turns.get((kind, SDK_PUSH.name, case), [])
            rate = [
                statistics.median(turn.deliveries / turn.cost.seconds for turn in found) if found else None
                for found in (ours, sdk)
            ]
            what = f"Webhooks, {kind}, {case}: deliveries/s, ours / SDK"
            section.targets.append(Target(what, FASTER, ratio(*rate), True))
    return section


def measure_push_cost(stage: Stage) -> Section:
    """A stream of chunks, without webhooks and beside ones that hang."""
    chunks = stage.effort.stream_chunks
    section = Section(
        "What a webhook that hangs costs the agents",
        f"A stream of {chunks:,} chunks of our server: alone; while another task's webhook hangs and {chunks:,} events "
        "wait for it; and with a webhook that hangs for the very task, so that every event goes into the outbox, too.",
        ("database, case", "seconds", "us/chunk", "CPU us/chunk"),
    )
    if PUSH not in stage.contenders:
        return section
    cases = ("alone", "beside one that hangs", "with one that hangs")
    for kind in stage.kinds:
        found: dict[str, list[Cost]] = defaultdict(list)
        for round_ in range(max(stage.effort.stream_rounds, 3)):
            stage.note(f"push cost: {kind}, round {round_ + 1}")
            for case in cases:
                found[case].append(_stream_turn(stage, kind, case, chunks))
        for case in cases:
            seconds = [cost.seconds for cost in found[case]]
            cpu = statistics.median(cost.cpu_seconds for cost in found[case])
            section.rows.append(
                (
                    f"{kind}, {case}",
                    spread(seconds, 2),
                    f"{statistics.median(seconds) / chunks * 1e6:.0f}",
                    f"{cpu / chunks * 1e6:.0f}",
                )
            )
        alone = statistics.median(cost.seconds for cost in found["alone"])
        for case in cases[1:]:
            got = statistics.median(cost.seconds for cost in found[case]) / alone
            section.targets.append(Target(f"Stream {case}, {kind}: time / alone", SLOWER, got, False))
    return section


def _stream_turn(stage: Stage, kind: str, case: str, chunks: int) -> Cost:
    with stage.serve(PUSH, kind) as server:
        hook = Webhook(answer=None)
        stage.run(hook.start())
        stage.run(_run_stream(server.port, 100, ""))
        if case == "beside one that hangs":
            stage.run(_fill(server.port, chunks, hook.url))
        with stage.bill(server) as bill:
            stage.run(_run_stream(server.port, chunks, hook.url if case == "with one that hangs" else ""))
        stage.run(hook.close())
    return bill.cost


async def _run_stream(port: int, chunks: int, url: str) -> None:
    line = await Connection.open(port)
    try:
        events: list[bytes] = []
        async for ready in line.stream(wire.stream_chunks(PUSH.path, 0, chunks, url)):
            events += ready
    finally:
        line.close()
    check_events(events, chunks)


async def _fill(port: int, chunks: int, url: str) -> None:
    """Have a task done whose webhook hangs."""
    line = await Connection.open(port)
    try:
        await line.call(wire.start_chunks(PUSH.path, 1, chunks, url, immediately=False))
    finally:
        line.close()


async def _tell(port: int, contender: Contender, bad: bool) -> int:
    """Start the tasks, wait until the good webhooks know the end; returns the number of their deliveries."""
    async with AsyncExitStack() as stack:
        hooks = [await stack.enter_async_context(_listening(Webhook())) for _ in range(WEBHOOKS)]
        if bad:
            hooks[0].answer, hooks[1].answer = None, FAILURE
        lines = [await Connection.open(port) for _ in hooks]
        for line in lines:
            stack.callback(line.close)
        starts = [
            line.call(wire.start_chunks(contender.path, number, CHUNKS, hook.url))
            for number, (line, hook) in enumerate(zip(lines, hooks, strict=True))
        ]
        good = [hook for hook in hooks if hook.answer is OK]
        async with asyncio.timeout(PATIENCE):
            for answer in await asyncio.gather(*starts):
                wire.result(answer)
            await asyncio.gather(*(hook.ended.wait() for hook in good))
        return sum(hook.check(CHUNKS) for hook in good)


@asynccontextmanager
async def _listening(hook: Webhook) -> AsyncIterator[Webhook]:
    await hook.start()
    try:
        yield hook
    finally:
        await hook.close()
