"""Memory of our server over many calls."""

from __future__ import annotations

from benchmarks import wire
from benchmarks.contenders import OURS
from benchmarks.load import closed_loop
from benchmarks.measures.send import CONNECTIONS
from benchmarks.report import Section, Target
from benchmarks.stage import Stage

SAMPLES = 10
FLAT = 1.05  # at most 5 % more resident memory after all calls than after the first tenth


def measure_memory(stage: Stage) -> Section:
    """Sends the calls in ten portions and reads the resident memory after each."""
    portion = stage.effort.memory_calls // SAMPLES
    section = Section(
        f"Memory over {stage.effort.memory_calls:,} calls",
        f"Resident memory of our server after every {portion:,} blocking SendMessage calls at {CONNECTIONS} "
        f"connections, one server process all the time. Flat means here: at the end not above {FLAT:g} times the "
        f"figure after the first {portion:,} calls.",
        ("database, calls", "RSS MiB", "threads"),
    )
    if OURS not in stage.contenders:
        return section
    for kind in stage.kinds:
        stage.note(f"memory: {kind}, {stage.effort.memory_calls:,} calls")
        sizes = []
        with stage.serve(OURS, kind) as server:
            for sample in range(1, SAMPLES + 1):
                with stage.bill(server) as bill:
                    stage.run(_calls(server.port, portion))
                sizes.append(bill.usage.rss_bytes)
                row = (f"{kind}, {sample * portion:,}", f"{sizes[-1] / 2**20:.1f}", str(bill.usage.threads))
                section.rows.append(row)
        what = f"Memory, {kind}: after {stage.effort.memory_calls:,} calls / after {portion:,}"
        section.targets.append(Target(what, FLAT, sizes[-1] / sizes[0], False))
    return section


async def _calls(port: int, calls: int) -> None:
    await closed_loop(
        port,
        connections=CONNECTIONS,
        make=lambda number: wire.send_message(OURS.path, number),
        check=wire.check_sent,
        calls=calls,
    )
