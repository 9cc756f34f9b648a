"""``python -m tests.processes.recovery_time [rounds]``: how long after the death of a process its task is begun again.

With leases of 2 s; the other process is idle meanwhile. Prints the seconds of each round and their median.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.processes.lasting.kit import Lasting, send, until

LEASE_SECONDS = 2


def rounds(site: Lasting, most: int) -> Iterator[float]:
    """Kill a process at work, again and again; yield how long after it another one has begun its task."""
    with site.server("uvicorn", name="one") as one, site.server("uvicorn", name="two"):
        for _ in range(most):
            task = send(one)
            until(lambda: site.runs(task["id"]))  # noqa: B023
            time.sleep(random.uniform(0, LEASE_SECONDS / 3))  # the lease is renewed as often as that
            killed = time.time()
            one.kill()
            until(lambda: len(site.runs(task["id"])) == 2)  # noqa: B023
            seconds = (site.folder / f"{task['id']}.runs").stat().st_mtime - killed
            one.start()
            yield seconds


def main() -> None:
    """Measure and print."""
    most = int(sys.argv[1]) if sys.argv[1:] else 20
    with tempfile.TemporaryDirectory() as folder:
        site = Lasting.made(Path(folder), LASTING_LEASE_SECONDS=str(LEASE_SECONDS))
        found = []
        for seconds in rounds(site, most):
            found.append(seconds)
            print(f"{seconds:.2f}", end=" ", flush=True)
        print(f"\n{len(found)} rounds: {min(found):.2f} to {max(found):.2f} s, median {statistics.median(found):.2f} s")


if __name__ == "__main__":
    main()
