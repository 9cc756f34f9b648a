"""The measurements: each takes a `Stage` and gives a `Section` of the report."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.measures.admin import measure_admin
from benchmarks.measures.cross import measure_cross
from benchmarks.measures.grpc import measure_grpc
from benchmarks.measures.idle import measure_idle
from benchmarks.measures.listing import measure_listing
from benchmarks.measures.memory import measure_memory
from benchmarks.measures.owners import measure_owners
from benchmarks.measures.prune import measure_prune
from benchmarks.measures.push import measure_push, measure_push_cost
from benchmarks.measures.scale import measure_scale
from benchmarks.measures.send import measure_send
from benchmarks.measures.stream import measure_stream
from benchmarks.measures.v03 import measure_v03
from benchmarks.report import Section
from benchmarks.stage import Stage

MEASURES: dict[str, Callable[[Stage], Section]] = {
    "send": measure_send,
    "stream": measure_stream,
    "list": measure_listing,
    "memory": measure_memory,
    "idle": measure_idle,
    "grpc": measure_grpc,
    "push": measure_push,
    "push-cost": measure_push_cost,
    "cross": measure_cross,
    "scale": measure_scale,
    "owners": measure_owners,
    "prune": measure_prune,
    "v03": measure_v03,
    "admin": measure_admin,
}
