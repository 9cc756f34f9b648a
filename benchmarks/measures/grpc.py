"""The same two things over gRPC: blocking SendMessage, and one stream of many chunks."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
from a2a.types import a2a_pb2
from google.protobuf.json_format import MessageToDict

from benchmarks import wire
from benchmarks.contenders import GRPC, SDK_GRPC, Contender
from benchmarks.load import ANSWER_TIMEOUT, LoadError
from benchmarks.measures.stream import check_events
from benchmarks.report import Section, Target, ratio, spread
from benchmarks.stage import Stage

CONNECTIONS = 8
FASTER_CALLS = 4.0
FASTER_STREAM = 10.0
SERVICE = "/lf.a2a.v1.A2AService/"
METADATA = (("a2a-version", "1.0"),)


@dataclass(frozen=True)
class Turn:
    """The figures of one turn."""

    per_second: float
    server_cpu_ms: float
    client_cpu_ms: float
    p50_ms: float
    p99_ms: float
    stream_seconds: float
    stream_cpu_seconds: float


def measure_grpc(stage: Stage) -> Section:
    """Runs the turns and puts the figures together."""
    chunks = stage.effort.stream_chunks
    turns: dict[tuple[str, str], list[Turn]] = defaultdict(list)
    for kind, contender in stage.turns("grpc", stage.effort.rounds):
        turns[kind, contender.name].append(_turn(stage, kind, contender))
    section = Section(
        "gRPC",
        f"Blocking SendMessage at {CONNECTIONS} connections, a closed loop of {stage.effort.send_seconds:g} s, then "
        f"SendStreamingMessage with {chunks:,} chunks on one connection, in each of {stage.effort.rounds} rounds, new "
        "server and new database for each turn. Answers and events are checked as over HTTP. The client is grpc.aio "
        "for both, and costs more than the one for HTTP: it runs beside the server.",
        (
            *("database, server", "calls/s", "server CPU ms/call", "p50 ms", "p99 ms", "client CPU ms/call"),
            *(f"s for {chunks:,} chunks", "CPU s"),
        ),
    )
    for (kind, name), figures in turns.items():
        section.rows.append(
            (
                f"{kind}, {name}",
                spread([turn.per_second for turn in figures], 0),
                spread([turn.server_cpu_ms for turn in figures], 2),
                f"{statistics.median(turn.p50_ms for turn in figures):.1f}",
                f"{statistics.median(turn.p99_ms for turn in figures):.1f}",
                f"{statistics.median(turn.client_cpu_ms for turn in figures):.3f}",
                spread([turn.stream_seconds for turn in figures], 2),
                spread([turn.stream_cpu_seconds for turn in figures], 2),
            )
        )
    for kind in stage.kinds:
        ours, sdk = turns.get((kind, GRPC.name), []), turns.get((kind, SDK_GRPC.name), [])
        calls = ratio(_median([turn.per_second for turn in ours]), _median([turn.per_second for turn in sdk]))
        stream = ratio(_median([turn.stream_seconds for turn in sdk]), _median([turn.stream_seconds for turn in ours]))
        section.targets += [
            Target(f"gRPC SendMessage, {kind}: calls/s, ours / SDK", FASTER_CALLS, calls, True),
            Target(f"gRPC stream of {chunks:,}, {kind}: time, SDK / ours", FASTER_STREAM, stream, True),
        ]
    return section


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None


def _turn(stage: Stage, kind: str, contender: Contender) -> Turn:
    chunks = stage.effort.stream_chunks
    with stage.serve(contender, kind) as server:
        stage.run(_calls(server.port, stage.effort.warm_up_seconds))
        with stage.bill(server) as bill:
            times, seconds, client = stage.run(_calls(server.port, stage.effort.send_seconds))
        stage.run(_stream(server.port, 100))
        with stage.bill(server) as long:
            events = stage.run(_stream(server.port, chunks))
        check_events(events, chunks)
    return Turn(
        len(times) / seconds,
        bill.cost.cpu_seconds / len(times) * 1000,
        client / len(times) * 1000,
        times[len(times) // 2] * 1000,
        times[len(times) * 99 // 100] * 1000,
        long.cost.seconds,
        long.cost.cpu_seconds,
    )


@asynccontextmanager
async def _channel(port: int) -> AsyncIterator[grpc.aio.Channel]:
    options = (("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1))  # its own connection
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        yield channel


def _request(number: int, text: str, *, tenant: str = "") -> bytes:
    message = a2a_pb2.Message(
        message_id=f"bench-{number}", role=a2a_pb2.Role.ROLE_USER, parts=[a2a_pb2.Part(text=text)]
    )
    return a2a_pb2.SendMessageRequest(tenant=tenant, message=message).SerializeToString()


async def _calls(port: int, seconds: float) -> tuple[list[float], float, float]:
    """Returns the sorted latencies, the seconds, and the CPU seconds of this process."""
    times: list[float] = []
    cpu, started = time.process_time(), time.perf_counter()

    async def one(line: int) -> None:
        async with _channel(port) as channel:
            send: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(SERVICE + "SendMessage")
            number = line
            while (begun := time.perf_counter()) - started < seconds:
                answer = a2a_pb2.SendMessageResponse.FromString(
                    await send(_request(number, wire.ECHO), metadata=METADATA)
                )
                times.append(time.perf_counter() - begun)
                task = answer.task
                text = "".join(part.text for artifact in task.artifacts for part in artifact.parts)
                if task.status.state != a2a_pb2.TaskState.TASK_STATE_COMPLETED or text != wire.ECHO:
                    raise LoadError(f"wrong answer to SendMessage {number}: {answer}")
                number += CONNECTIONS

    async with asyncio.timeout(ANSWER_TIMEOUT):
        await asyncio.gather(*(one(line) for line in range(CONNECTIONS)))
    return sorted(times), time.perf_counter() - started, time.process_time() - cpu


async def _stream(port: int, chunks: int) -> list[bytes]:
    """Returns the events in the form they have over HTTP."""
    async with asyncio.timeout(ANSWER_TIMEOUT), _channel(port) as channel:
        stream: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(SERVICE + "SendStreamingMessage")
        request = _request(0, f"chunks {chunks}", tenant=wire.CHUNK_AGENT)
        events = [event async for event in stream(request, metadata=METADATA)]
    return [json.dumps({"result": MessageToDict(a2a_pb2.StreamResponse.FromString(e))}).encode() for e in events]
