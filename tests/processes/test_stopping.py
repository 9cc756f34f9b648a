"""Servers that are stopped at work: runs have a while to end, and what is left goes on elsewhere at once."""

from __future__ import annotations

import signal
from pathlib import Path
from threading import Timer

import pytest

from tests.processes.lasting.kit import Lasting, get, send, until

#: Longer than any of these tests: whoever goes on did not wait for a lease.
FOR_EVER = "600"
SERVERS = ["runserver", "daphne", "uvicorn", "hypercorn", "granian", "wsgi"]


def lasting(folder: Path, seconds: float) -> Lasting:
    return Lasting.made(folder, LASTING_LEASE_SECONDS=FOR_EVER, LASTING_SHUTDOWN_SECONDS=str(seconds))


@pytest.mark.parametrize("server", SERVERS)
def test_another_process_goes_on_at_once(tmp_path: Path, server: str) -> None:
    site = lasting(tmp_path, 0.2)
    with site.server(server, name="one") as one:
        tasks = [send(one, agent) for agent in ("steady", "plain", "once")]
        steady, plain, once = tasks
        until(lambda: all(site.runs(task["id"]) for task in tasks))
    with site.server("uvicorn", name="two") as two:
        until(lambda: len(site.runs(steady["id"])) == len(site.runs(plain["id"])) == 2)
        failed = get(two, once, "once")["status"]
        assert failed["state"] == "TASK_STATE_FAILED"
        assert "was stopped" in failed["message"]["parts"][0]["text"]
        site.go()
        for task, agent in ((steady, "steady"), (plain, "plain")):
            until(lambda: get(two, task, agent)["status"]["state"] == "TASK_STATE_COMPLETED")  # noqa: B023


@pytest.mark.parametrize("server", ["uvicorn", "hypercorn", "granian", "wsgi"])
def test_runs_come_to_their_end(tmp_path: Path, server: str) -> None:
    site = lasting(tmp_path, 10)
    with site.server(server, name="one") as one:
        tasks = [send(one, agent) for agent in ("steady", "plain", "once")]
        until(lambda: all(site.runs(task["id"]) for task in tasks))
        one.signal(signal.SIGTERM)
        Timer(1, site.go).start()
    with site.server("uvicorn", name="two") as two:
        for task, agent in zip(tasks, ("steady", "plain", "once"), strict=True):
            assert get(two, task, agent)["status"]["state"] == "TASK_STATE_COMPLETED"
            assert len(site.runs(task["id"])) == 1


def test_a_worker_hands_over_what_it_was_at(tmp_path: Path) -> None:
    site = lasting(tmp_path, 0)
    with site.worker():
        with site.server("uvicorn", name="one") as one:
            task = send(one)
            until(lambda: site.runs(task["id"]))
        until(lambda: len(site.runs(task["id"])) == 2)
    with site.server("uvicorn", name="two") as two:
        until(lambda: len(site.runs(task["id"])) == 3)
        site.go()
        until(lambda: get(two, task)["status"]["state"] == "TASK_STATE_COMPLETED")
