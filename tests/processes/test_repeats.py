"""The same message to several processes, and again after one of them was killed: it is worked on once, and once more
only when nothing can have come of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, NamedTuple

import pytest

from tests.live import LiveProcess
from tests.processes.lasting.kit import WAIT, Lasting, call, until

#: Agents that make a task, that reply, and that may do either.
MAKES, REPLIES, EITHER = "sure", "sure-message", "sure-auto"


class Two(NamedTuple):
    """A site in two processes."""

    site: Lasting
    one: LiveProcess
    two: LiveProcess


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    folder: Path = tmp_path_factory.mktemp("repeats")
    site = Lasting.made(
        folder,
        LASTING_OWNER_RESOLVER="tests.processes.lasting.kit.somebody",
        LASTING_AUTO_GRACE_SECONDS="600",
    )
    with site.server("uvicorn", name="one") as one, site.server("uvicorn", name="two") as two:
        yield Two(site, one, two)


def send(live: LiveProcess, agent: str, name: str, text: str = "go") -> Any:
    """What a blocking call is answered with."""
    message = {"messageId": name, "role": "ROLE_USER", "parts": [{"text": text}]}
    return call(live, "SendMessage", {"tenant": agent, "message": message})


def test_processes_that_get_the_same_at_the_same_moment_answer_the_same(processes: Two) -> None:
    site, one, two = processes
    names = [f"{agent} {number}" for number in range(6) for agent in (MAKES, REPLIES, EITHER)]
    barrier = Barrier(4)

    def work(live: LiveProcess) -> list[Any]:
        found = []
        for name in names:
            barrier.wait(WAIT)
            found.append(send(live, name.split()[0], name))
        return found

    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(work, (one, two, one, two))
    assert all(each == first for each in others)
    assert [len(site.runs(name)) for name in names] == [1] * len(names)


def test_what_a_killed_process_was_at_is_taken_over_unless_it_is_a_task(processes: Two) -> None:
    """The agent may not be run again, so a task fails; whoever asks again learns that."""
    site, one, two = processes
    agents = (MAKES, REPLIES, EITHER)
    with ThreadPoolExecutor(6) as threads:
        lost = [threads.submit(send, one, agent, agent, "wait") for agent in agents]
        until(lambda: all(site.runs(agent) for agent in agents))
        again = [threads.submit(send, two, agent, agent, "wait") for agent in agents]
        one.kill()
        assert all(each.exception(WAIT) is not None for each in lost)
        until(lambda: len(site.runs(REPLIES)) == len(site.runs(EITHER)) == 2)
        site.go()
        answers = [each.result(WAIT) for each in again]
    made, reply, task = answers
    assert made["task"]["status"]["state"] == "TASK_STATE_FAILED"
    assert "was lost" in made["task"]["status"]["message"]["parts"][0]["text"]
    assert reply["message"]["parts"] == [{"text": str(site.runs(REPLIES)[1])}]
    assert task["task"]["artifacts"][0]["parts"] == [{"text": str(site.runs(EITHER)[1])}]
    one.start()
    for live in (one, two):
        assert [send(live, agent, agent, "wait") for agent in agents] == answers
    assert [len(site.runs(agent)) for agent in agents] == [1, 2, 2]
