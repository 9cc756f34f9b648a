"""Agents on workers, called as ever: every kind of queue, with a real worker."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from tests.runners.conftest import MakeSite
from tests.runners.kit import KINDS, Caller, RunnersSite, Worker, until


@dataclass(frozen=True)
class Running:
    """A site with a server and a worker."""

    site: RunnersSite
    worker: Worker
    caller: Caller

    def ran_elsewhere(self, task: dict[str, str]) -> bool:
        """Whether each run of a task was in another process than the server's."""
        return self.caller.pid not in self.site.noted(task["id"])


@pytest.fixture(scope="module", params=KINDS)
def running(request: pytest.FixtureRequest, make_site: MakeSite) -> Iterator[Running]:
    site = make_site(request.param)
    with site.server("uvicorn") as server, site.worker() as worker:
        yield Running(site, worker, Caller(server))


def test_calls_that_wait_and_messages_that_follow(running: Running) -> None:
    caller = running.caller
    task = caller.send("asker", "hello", returnImmediately=False)
    assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    task = caller.send("asker", "Ada", task, returnImmediately=False)
    assert task["status"]["message"]["parts"] == [{"text": "colour?"}]
    task = caller.send("asker", "blue", task, returnImmediately=False)
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert task["artifacts"][0]["parts"] == [{"text": "blue!"}]
    asked = [message["parts"][0]["text"] for message in task["history"]]
    assert asked == ["hello", "name?", "Ada", "colour?", "blue"]
    assert len(running.site.noted(task["id"])) == 3
    assert running.ran_elsewhere(task)


def test_a_stream_tells_what_a_worker_does(running: Running) -> None:
    with running.caller.stream("teller", "hello") as events:
        task = next(events)["task"]
        assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
        told: list[str] = []
        for event in events:
            told += [part["text"] for part in event.get("artifactUpdate", {}).get("artifact", {}).get("parts", ())]
            if len(told) == 2:  # while the run goes on
                running.site.go(task["id"])
        assert told == ["hello ", "None ", "end"]
        assert event["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert running.ran_elsewhere(task)


@pytest.mark.parametrize("agent", ["steady", "plain"])
def test_a_cancel_reaches_the_run(running: Running, agent: str) -> None:
    task = running.caller.send(agent)
    until(lambda: running.site.noted(task["id"]))
    cancelled = running.caller.call("CancelTask", tenant=agent, id=task["id"])
    assert cancelled["status"]["state"] == "TASK_STATE_CANCELED"
    if agent == "steady":
        assert until(lambda: running.site.noted(task["id"], "cancelled")) == running.site.noted(task["id"])
    # The thread of a plain agent cannot be stopped, but the worker is free at once.
    again = running.caller.send(agent)
    running.site.go(again["id"])
    assert running.caller.ended(agent, again)["status"]["state"] == "TASK_STATE_COMPLETED"
    running.site.go(task["id"])


def test_a_message_to_a_run_at_work_is_run_after_it(running: Running) -> None:
    caller = running.caller
    task = caller.send("asker", "one", returnImmediately=False)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(caller.send, "asker", text, task) for text in ("two", "three")]
        assert all(each.result()["id"] == task["id"] for each in both)
    done = caller.ended("asker", task)
    assert done["status"]["state"] == "TASK_STATE_COMPLETED"
    assert len(running.site.noted(task["id"])) == 3


def test_nothing_is_run_twice(running: Running) -> None:
    caller = running.caller
    with ThreadPoolExecutor(4) as pool:
        tasks = list(pool.map(lambda number: caller.send("teller", f"{number}"), range(12)))
    ended = until(lambda: [task for task in tasks if running.site.noted(task["id"])])[0]
    others = [task for task in tasks if task is not ended]
    running.site.go(ended["id"])
    caller.ended("teller", ended)
    running.site.enqueue(ended["id"], *(task["id"] for task in others[:2]))
    for task in others:
        running.site.go(task["id"])
    for number, task in enumerate(tasks):
        done = caller.ended("teller", task)
        assert [part["text"] for part in done["artifacts"][0]["parts"]] == [f"{number} ", "None ", "end"]
    after = caller.send(
        "asker", returnImmediately=False
    )  # behind the messages for tasks that had ended or were at work
    assert after["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert [len(running.site.noted(task["id"])) for task in tasks] == [1] * 12


def test_answers_without_a_task_come_from_the_server(running: Running) -> None:
    reply = running.caller.call("SendMessage", **running.caller.message("greeter", "hello"))["message"]
    assert reply["parts"] == [{"text": str(running.caller.pid)}]
