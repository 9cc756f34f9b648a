"""Processes that are killed at work: another one finds it and goes on, without a call and without a word."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.processes.lasting.kit import Lasting, get, send, until
from tests.processes.recovery_time import LEASE_SECONDS, rounds


@pytest.fixture
def site(tmp_path: Path) -> Lasting:
    return Lasting.made(tmp_path)


def test_a_serving_process_takes_up_what_another_was_at(site: Lasting) -> None:
    with site.server("uvicorn", name="one") as one, site.server("uvicorn", name="two") as two:
        tasks = [send(one, agent) for agent in ("steady", "plain", "once")]
        steady, plain, once = tasks
        until(lambda: all(site.runs(task["id"]) for task in tasks))
        one.kill()
        # Nobody calls the other process until it has found out by itself.
        until(lambda: len(site.runs(steady["id"])) == len(site.runs(plain["id"])) == 2)
        failed = until(lambda: (found := get(two, once, "once"))["status"]["state"].endswith("FAILED") and found)
        assert "was lost" in failed["status"]["message"]["parts"][0]["text"]
        site.go()
        for task, agent in ((steady, "steady"), (plain, "plain")):
            done = until(lambda: (found := get(two, task, agent)).get("artifacts") and found)  # noqa: B023
            until(lambda: get(two, task, agent)["status"]["state"] == "TASK_STATE_COMPLETED")  # noqa: B023
            assert [each["parts"] for each in done["artifacts"]] == [[{"text": "done"}]]
        one.start()  # for the end of the block
    log = (site.folder / "two.log").read_text()
    assert log.count("is run again, try 2") == 2
    assert f"Task {once['id']} had lost its process and has failed" in log


def test_a_worker_takes_it_up_while_nobody_serves(site: Lasting) -> None:
    with site.server("uvicorn", name="one") as one, site.worker():
        task = send(one)
        until(lambda: site.runs(task["id"]))
        one.kill()
        until(lambda: len(site.runs(task["id"])) == 2)
        site.go()
        one.start()
        until(lambda: get(one, task)["status"]["state"] == "TASK_STATE_COMPLETED")
    assert "is run again, try 2" in (site.folder / "worker.log").read_text()


def test_it_begins_within_one_lease(tmp_path: Path) -> None:
    """A process that is killed in the moment in which it has renewed its lease, or a busy machine, makes it a little
    longer; so there are some rounds."""
    site = Lasting.made(tmp_path, LASTING_LEASE_SECONDS=str(LEASE_SECONDS))
    found: list[float] = []
    with closing(rounds(site, 8)) as measured:
        for seconds in measured:
            found.append(seconds)
            if seconds <= LEASE_SECONDS:
                break
    assert found[-1] <= LEASE_SECONDS, found
