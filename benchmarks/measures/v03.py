"""What it costs to speak version 0.3: the same calls over JSON-RPC in both versions, on the same server."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks import wire
from benchmarks.contenders import CONSUMERS, OURS, Contender
from benchmarks.load import Connection, LoadError, closed_loop, request_bytes
from benchmarks.measures.stream import check_events
from benchmarks.report import Section, Target, spread
from benchmarks.stage import Stage

CONNECTIONS = 8
#: Calls, and streams of so many chunks, in one block; blocks of the two versions follow each other.
CALLS = 600
STREAMS, CHUNKS = 10, 500
#: Pairs of blocks in each round: the machine's moods last longer than a block.
PAIRS = 4
WANTED = 1.10


@dataclass
class Pairs:
    """CPU seconds of the blocks, in pairs: version 0.3 beside 1.0."""

    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """How much more version 0.3 costs: of all pairs the median."""
        return statistics.median(old / new for old, new in zip(self.old, self.new, strict=True))


def measure_v03(stage: Stage) -> Section:
    """Runs the turns and puts the figures together."""
    sends: dict[tuple[str, str], Pairs] = defaultdict(Pairs)
    streams: dict[tuple[str, str], Pairs] = defaultdict(Pairs)
    for kind, contender in stage.turns("v03", stage.effort.rounds):
        _turn(stage, kind, contender, sends[kind, contender.name], streams[kind, contender.name])
    section = Section(
        "Version 0.3 beside 1.0",
        f"message/send and SendMessage ({CALLS} blocking calls over {CONNECTIONS} connections), message/stream and "
        f"SendStreamingMessage ({STREAMS} streams of {CHUNKS} chunks), in turns on one server: {PAIRS} pairs of blocks "
        f"in each of {stage.effort.rounds} rounds. CPU is that of the server's process tree, median (lowest-highest "
        "block); the ratio is the median over the pairs. Answers are checked as in the other measurements.",
        ("database, server", "ms/call 1.0", "ms/call 0.3", "ratio", "us/chunk 1.0", "us/chunk 0.3", "ratio "),
    )
    for (kind, name), calls in sends.items():
        chunks = streams[kind, name]
        section.rows.append(
            (
                f"{kind}, {name}",
                spread([seconds / CALLS * 1e3 for seconds in calls.new], 3),
                spread([seconds / CALLS * 1e3 for seconds in calls.old], 3),
                f"{calls.ratio:.3f}",
                spread([seconds / (STREAMS * CHUNKS) * 1e6 for seconds in chunks.new], 0),
                spread([seconds / (STREAMS * CHUNKS) * 1e6 for seconds in chunks.old], 0),
                f"{chunks.ratio:.3f}",
            )
        )
    for kind in stage.kinds:
        for contender in (OURS, CONSUMERS):
            for what, pairs in (("message/send", sends), ("message/stream", streams)):
                got = pairs[kind, contender.name].ratio if (kind, contender.name) in pairs else None
                target = f"CPU of {what} over that of 1.0, {kind}, {contender.name}"
                section.targets.append(Target(target, WANTED, got, False))
    return section


def _turn(stage: Stage, kind: str, contender: Contender, sends: Pairs, streams: Pairs) -> None:
    with stage.serve(contender, kind) as server:

        def block(old: bool, streaming: bool) -> float:
            with stage.bill(server) as bill:
                if streaming:
                    stage.run(_streams(server.port, contender.path, old))
                else:
                    stage.run(_calls(server.port, contender.path, old))
            return bill.cost.cpu_seconds

        for streaming, pairs in ((False, sends), (True, streams)):
            for old in (False, True):
                block(old, streaming)  # warms up
            for number in range(PAIRS):
                for old in (True, False) if number % 2 else (False, True):
                    (pairs.old if old else pairs.new).append(block(old, streaming))


async def _calls(port: int, path: str, old: bool) -> None:
    make: Callable[[int], bytes] = (lambda n: old_send(path, n)) if old else (lambda n: wire.send_message(path, n))
    check = check_old_sent if old else wire.check_sent
    await closed_loop(port, connections=CONNECTIONS, make=make, check=check, calls=CALLS)


async def _streams(port: int, path: str, old: bool) -> None:
    line = await Connection.open(port)
    try:
        for number in range(STREAMS):
            request = old_stream(path, number, CHUNKS) if old else wire.stream_chunks(path, number, CHUNKS)
            events = [event async for ready in line.stream(request) for event in ready]
            check_events([_renamed(event) for event in events] if old else events, CHUNKS)
    finally:
        line.close()


def old_send(path: str, number: int) -> bytes:
    """A blocking message/send to the echo agent, as clients of 0.3 write it."""
    return _rpc(path, number, "message/send", {"message": _message(number, wire.ECHO), **_BLOCKING})


def old_stream(path: str, number: int, chunks: int) -> bytes:
    """A message/stream that is answered with `chunks` artifact chunks."""
    params = {"tenant": wire.CHUNK_AGENT, "message": _message(number, f"chunks {chunks}"), **_BLOCKING}
    return _rpc(path, number, "message/stream", params, accept="text/event-stream")


_BLOCKING = {"configuration": {"acceptedOutputModes": [], "blocking": True}}


def _rpc(path: str, number: int, method: str, params: Any, accept: str = "application/json") -> bytes:
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return request_bytes(path, json.dumps(body, separators=(",", ":")).encode("ascii"), accept=accept, version="")


def _message(number: int, text: str) -> dict[str, Any]:
    parts = [{"kind": "text", "text": text}]
    return {"kind": "message", "messageId": f"bench-{number}", "role": "user", "parts": parts}


def check_old_sent(number: int, body: bytes) -> None:
    """The answer to `old_send` must be a completed task of 0.3 with the echoed text."""
    answer = json.loads(body)
    task = answer.get("result", {})
    state = task.get("status", {}).get("state")
    if answer.get("id") != number or state != "completed" or wire.artifact_text(task) != wire.ECHO:
        raise LoadError(f"wrong answer to message/send {number}: {body[:500]!r}")


_MEMBERS = {"task": "task", "status-update": "statusUpdate", "artifact-update": "artifactUpdate"}


def _renamed(event: bytes) -> bytes:
    """An event of 0.3 in the form that `check_events` knows."""
    found = json.loads(event).get("result", {})
    if "status" in found:
        found["status"]["state"] = f"TASK_STATE_{found['status']['state'].upper()}"
    return json.dumps({"result": {_MEMBERS.get(found.get("kind"), "?"): found}}).encode("ascii")
