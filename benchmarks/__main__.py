"""`python -m benchmarks`: runs the benchmarks, prints the report, and writes RESULTS.md after a complete run."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import uvloop

from benchmarks.contenders import CONTENDERS, Templates
from benchmarks.databases import SERVER_VARIABLE, Databases, postgres_version, server_url
from benchmarks.machine import head
from benchmarks.measures import MEASURES
from benchmarks.report import Section, targets_markdown
from benchmarks.stage import FULL, QUICK, Stage

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
KINDS = ("sqlite", "postgres")
BUSY = 0.5  # load average before the start from which on a run is of little worth


class _Names:
    """An argument type: names with commas between them, all of them known."""

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known

    def __call__(self, text: str) -> tuple[str, ...]:
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        for name in names:
            if name not in self._known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(self._known)}")
        return names


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"The PostgreSQL server is taken from {SERVER_VARIABLE} (now {server_url()}).",
    )
    servers = [contender.name for contender in CONTENDERS]
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--only", type=_Names(tuple(MEASURES)), default=tuple(MEASURES), help=",".join(MEASURES))
    parser.add_argument("--database", type=_Names(KINDS), help="sqlite,postgres; default: what can be reached")
    parser.add_argument("--servers", type=_Names(servers), default=tuple(servers), help=f"default: {','.join(servers)}")
    parser.add_argument(
        "--output", type=Path, help="also write the report here; a complete run always writes benchmarks/RESULTS.md"
    )
    return parser.parse_args(argv)


def _kinds(asked: tuple[str, ...] | None) -> tuple[str, ...]:
    kinds = asked or KINDS
    if "postgres" in kinds and postgres_version() is None:
        if asked:
            raise SystemExit(f"no PostgreSQL server at {server_url()}; set {SERVER_VARIABLE}")
        Stage.note(f"no PostgreSQL server at {server_url()} (set {SERVER_VARIABLE}): SQLite only")
        return tuple(kind for kind in kinds if kind != "postgres")
    return kinds


def _stop(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)  # so that the `with` blocks stop the servers and drop the databases


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the chosen measurements; returns 0, or 1 when a target was missed."""
    options = _arguments(argv)
    signal.signal(signal.SIGTERM, _stop)
    kinds = _kinds(options.database)
    load_before, started = os.getloadavg()[0], time.monotonic()
    if load_before > BUSY:
        Stage.note(f"others use this machine (load average {load_before:.2f}): do not trust the figures")
    sections: list[Section] = []
    with (
        tempfile.TemporaryDirectory(prefix="bench_") as folder,
        Databases(Path(folder)) as databases,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        stage = Stage(
            databases=databases,
            templates=Templates(databases),
            runner=runner,
            contenders=tuple(contender for contender in CONTENDERS if contender.name in options.servers),
            kinds=kinds,
            effort=QUICK if options.quick else FULL,
        )
        for name in options.only:
            sections.append(MEASURES[name](stage))
            print(f"\n{sections[-1].markdown()}\n", flush=True)
    targets = targets_markdown(sections)
    print(targets)
    command = " ".join(["python -m benchmarks", *(sys.argv[1:] if argv is None else argv)])
    minutes = (time.monotonic() - started) / 60
    report = "\n\n".join([head(command, load_before, minutes), targets, *(s.markdown() for s in sections)]) + "\n"
    complete = (
        not options.quick
        and set(options.only) == set(MEASURES)
        and len(options.servers) == len(CONTENDERS)
        and set(kinds) == set(KINDS)
    )
    for path in filter(None, (RESULTS if complete else None, options.output)):
        path.write_text(report)
        Stage.note(f"written: {path}")
    return 1 if any(target.reached is False for section in sections for target in section.targets) else 0


if __name__ == "__main__":
    sys.exit(main())
