"""Workers that are killed or stopped at work: another one goes on."""

from __future__ import annotations

import signal
from threading import Timer

import pytest

from tests.runners.conftest import MakeSite
from tests.runners.kit import KINDS, WAIT, Caller, until

#: Longer than any of these tests: whoever goes on did not wait for a lease.
FOR_EVER = "600"
#: Kinds and pools of workers; those of rq are told by the signal to their process, not to that of the worker.
POOLS = [
    ("tasks-db", ""),
    ("celery-redis", "prefork"),
    ("celery-redis", "threads"),
    ("celery-redis", "solo"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_another_worker_takes_up_what_a_killed_one_was_at(kind: str, make_site: MakeSite) -> None:
    site = make_site(kind)
    with site.server("uvicorn") as server:
        caller = Caller(server)
        with site.worker(name="one") as one:
            task = caller.send("steady")
            until(lambda: site.noted(task["id"]))
            site.kill(one, task["id"])
            one.start()
            until(lambda: len(site.noted(task["id"])) == 2)
            site.go(task["id"])
            done = caller.ended("steady", task)
            assert done["status"]["state"] == "TASK_STATE_COMPLETED"
            assert [each["parts"] for each in done["artifacts"]] == [[{"text": "done"}]]


def test_what_may_not_be_run_again_fails(make_site: MakeSite) -> None:
    site = make_site("celery-redis")
    with site.server("uvicorn") as server:
        caller = Caller(server)
        with site.worker(name="one") as one:
            task = caller.send("once")
            until(lambda: site.noted(task["id"]))
            site.kill(one, task["id"])
            failed = caller.ended("once", task)["status"]
            assert failed["state"] == "TASK_STATE_FAILED"
            assert "was lost" in failed["message"]["parts"][0]["text"]
            one.start()  # for the end of the block
    assert len(site.noted(task["id"])) == 1


@pytest.mark.parametrize(("kind", "pool"), POOLS)
def test_a_stopped_worker_leaves_its_runs_to_others_at_once(kind: str, pool: str, make_site: MakeSite) -> None:
    site = make_site(kind, RUNNERS_LEASE_SECONDS=FOR_EVER, RUNNERS_SHUTDOWN_SECONDS="0.2")
    with site.server("uvicorn") as server:
        caller = Caller(server)
        with site.worker(pool, name="one"):
            task = caller.send("steady")
            until(lambda: site.noted(task["id"]))
        with site.worker(pool, name="two"):
            until(lambda: len(site.noted(task["id"])) == 2)
            site.go(task["id"])
            assert caller.ended("steady", task)["status"]["state"] == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize(("kind", "pool"), POOLS)
def test_a_stopped_worker_lets_its_runs_come_to_their_end(kind: str, pool: str, make_site: MakeSite) -> None:
    site = make_site(kind, RUNNERS_LEASE_SECONDS=FOR_EVER, RUNNERS_SHUTDOWN_SECONDS="30")
    with site.server("uvicorn") as server:
        caller = Caller(server)
        with site.worker(pool, name="one") as one:
            task = caller.send("plain")
            until(lambda: site.noted(task["id"]))
            one.signal(signal.SIGTERM)
            Timer(1, site.go, (task["id"],)).start()
            one.wait(WAIT)
        assert caller.state("plain", task) == "COMPLETED"
        assert len(site.noted(task["id"])) == 1
