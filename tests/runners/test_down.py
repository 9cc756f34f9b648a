"""The queue is away, forgets, or comes back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runners.brokers import Broker
from tests.runners.conftest import MakeSite
from tests.runners.kit import KINDS, Caller, until

WITH_BROKER = [kind for kind, (_, broker) in KINDS.items() if broker]


@pytest.fixture(params=WITH_BROKER)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def broker(kind: str, brokers: dict[str, Broker]) -> Iterator[Broker]:
    """The broker of the kind; at work again after the test."""
    found = brokers[str(KINDS[kind][1])]
    yield found
    found.start()


def test_tasks_wait_for_the_queue(kind: str, broker: Broker, make_site: MakeSite) -> None:
    site = make_site(kind, RUNNERS_WHEN_DOWN="wait")
    with site.server("uvicorn") as server:
        caller = Caller(server)
        asked = caller.send("asker")
        with site.worker():
            until(lambda: caller.state("asker", asked) == "INPUT_REQUIRED")
        broker.stop()
        tasks = [caller.send("asker", str(number)) for number in range(5)]
        assert {caller.state("asker", task) for task in tasks} == {"SUBMITTED"}
        caller.send("asker", "Ada", asked)
        broker.start()
        with site.worker(name="after"):
            for task in tasks:
                until(lambda: caller.state("asker", task) == "INPUT_REQUIRED")  # noqa: B023
            until(lambda: len(site.noted(asked["id"])) == 2)
    log = (site.folder / "site.log").read_text()
    assert log.count("queue of the agents is not to be had; until it is, tasks wait") == 1
    assert log.count("queue of the agents is there again") == 1


def test_calls_are_refused_and_leave_nothing(kind: str, broker: Broker, make_site: MakeSite) -> None:
    site = make_site(kind, RUNNERS_WHEN_DOWN="refuse")
    with site.server("uvicorn") as server:
        caller = Caller(server)
        with site.worker():
            asked = caller.send("asker", returnImmediately=False)
        broker.stop()
        before = caller.get("asker", asked)
        for task in (None, asked, None):
            refused = caller.post("SendMessage", caller.message("asker", "Ada", task))["error"]
            assert "cannot be reached" in refused["message"]
            assert refused["data"][0]["reason"] == "UNAVAILABLE"
        assert caller.get("asker", asked) == before
        assert site.task_ids() == [asked["id"]]
        broker.start()
        with site.worker(name="after"):
            again = until(lambda: caller.post("SendMessage", caller.message("asker", "Ada", asked)).get("result"))
            until(lambda: len(site.noted(again["task"]["id"])) == 2)


def test_what_the_queue_has_lost_is_sent_again(broker: Broker, kind: str, make_site: MakeSite) -> None:
    if kind == "celery-rabbitmq":
        pytest.skip("it keeps its messages")
    site = make_site(kind)
    with site.server("uvicorn") as server:
        caller = Caller(server)
        task = caller.send("asker")
        broker.stop()
        broker.start()
        with site.worker():
            until(lambda: caller.state("asker", task) == "INPUT_REQUIRED")
