"""Worker processes share what waits: each task is run by one of them, and a killed one's are run by the others.

How much waits is in A2A_TEST_BACKLOG; the database is that of A2A_TEST_KILLS_DATABASE.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.processes.lasting.kit import Lasting, until

BACKLOG = int(os.environ.get("A2A_TEST_BACKLOG", "300"))
WORKERS = 3


def ended(site: Lasting, count: int) -> dict[str, Any]:
    """Wait until so many tasks have ended; what has become of all."""
    seconds = 60 + count / 5
    found: dict[str, Any] = json.loads(site.manage("backlog", "--ended", str(count), "--seconds", str(seconds)))
    return found


def fill(site: Lasting, count: int) -> None:
    """Leave tasks waiting, most of them of one owner."""
    site.manage("backlog", "--owners", json.dumps({"many": count - 6, "few": 5, "single": 1}))


def begun(site: Lasting) -> int:
    """How many tasks have been begun."""
    return len(list(site.folder.glob("*.runs")))


def test_each_task_of_a_backlog_is_run_once(tmp_path: Path) -> None:
    site = Lasting.made(tmp_path, LASTING_LEASE_SECONDS="60", LASTING_HELD="1")
    fill(site, BACKLOG)
    with ExitStack() as stack:
        for number in range(WORKERS):
            stack.enter_context(site.worker("--runs", "8", name=f"worker {number}"))
        until(lambda: begun(site) == WORKERS * 8)  # all have begun, and nobody has got further
        site.go()
        start = time.monotonic()
        found = ended(site, BACKLOG)
    assert found["states"] == {"COMPLETED": BACKLOG}
    assert (found["runs"], found["tasks"], found["waiting"]) == (BACKLOG, BACKLOG, 0)
    assert len(found["processes"]) == WORKERS
    print(f"{BACKLOG} tasks in {time.monotonic() - start:.1f} s, by process: {found['processes']}")


def test_what_waits_outlives_its_processes(tmp_path: Path) -> None:
    count, runs = 40, 4
    site = Lasting.made(tmp_path, LASTING_ATTEMPTS="5", LASTING_HELD="1", LASTING_LEASE_SECONDS="5")
    fill(site, count)
    with site.worker("--runs", str(runs), name="one") as one, site.worker("--runs", str(runs), name="two") as two:
        until(lambda: begun(site) == 2 * runs)
        one.kill()
        two.kill()
        site.go()
        one.start()
        two.start()
        found = ended(site, count)
    assert found["states"] == {"COMPLETED": count}
    assert (found["tasks"], found["waiting"]) == (count, 0)
    assert found["attempts"] == found["runs"], "no attempt is run twice"
    assert found["runs"] <= count + 2 * runs, "nothing is run again but what was at work"
