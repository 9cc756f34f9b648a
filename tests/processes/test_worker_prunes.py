"""``manage.py a2a_worker`` on a site that does not keep everything."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.live import Site
from tests.processes.test_push_kills import Worker
from tests.push.kit import until

SETTINGS = """
from example_project.scripted.settings import *

A2A = {**A2A, "RETENTION": {"completed": 0}, "STREAM_SECONDS": 0.001, "PRUNE_SECONDS": 0.2}
"""

FILL = """
from tests.engine.writing import journal
from tests.retention.kit import made

with journal() as (writer, _):
    for state in ("COMPLETED", "COMPLETED", "FAILED", ""):
        made(writer, state)
"""


def test_old_tasks_go_while_it_is_at_work(tmp_path: Path) -> None:
    (tmp_path / "own_settings.py").write_text(SETTINGS)
    database = tmp_path / "site.sqlite3"
    environment = {
        "EXAMPLE_DATABASE_URL": f"sqlite:///{database}",
        "EXAMPLE_DATA_DIR": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
    }
    site = Site("own_settings", tmp_path, environment)
    site.manage("migrate", "--verbosity", "0")
    worker = Worker(site)

    def states() -> list[str]:
        with closing(sqlite3.connect(database)) as connection:
            return [state for (state,) in connection.execute("SELECT state FROM a2a_django_task ORDER BY state")]

    worker.start()
    try:
        for _ in range(2):
            site.manage("shell", "--no-imports", "--command", FILL)
            until(lambda: "TASK_STATE_COMPLETED" not in states())
    finally:
        worker.stop()
    left = states()
    assert len(left) == 4
    # The two that are at work are nobody's: a slow machine may have found that out by now.
    assert set(left) <= {"TASK_STATE_FAILED", "TASK_STATE_WORKING"}
