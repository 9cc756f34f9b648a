"""A sender that is killed in the middle of its work, again and again: nothing is lost, nothing comes out of order."""

from __future__ import annotations

import os
import random
import sys
from itertools import groupby
from pathlib import Path

import pytest

from tests.live import LiveProcess, Site
from tests.push.kit import until
from tests.push.receiver import Hook, receiving

HOOKS, EVENTS = 10, 100
KILLS = int(os.environ.get("A2A_TEST_KILLS", "6"))

SETTINGS = """
from example_project.scripted.settings import *

A2A = {
    **A2A,
    "WEBHOOK_ALLOWED_HOSTS": ["127.0.0.1"],
    "PUSH_IN_PROCESS": False,
    "LEASE_SECONDS": 2,
    "PUSH_TIMEOUT_SECONDS": 60,  # answers wait until a worker has begun again
}
"""

FILL = """
from tests.push.kit import Told
from a2a_django import engine

for url in {urls!r}:
    Told(url).say_all([str(number) for number in range({events})])
engine.shutdown()
"""


class Worker(LiveProcess):
    """``manage.py a2a_worker``; ready when it says so."""

    def __init__(self, site: Site, name: str = "worker") -> None:
        super().__init__(
            [sys.executable, "manage.py", "a2a_worker"],
            cwd=site.root,
            environment=site._environment(),
            log=site.folder / f"{name}.log",
        )
        self._starts = 0

    def start(self) -> None:
        self._starts += 1
        super().start()

    def _is_ready(self) -> bool:
        return self.log.exists() and self.log.read_text(errors="replace").count("at work") == self._starts


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "own_settings.py").write_text(SETTINGS)
    environment = {
        "EXAMPLE_DATABASE_URL": os.environ.get("A2A_TEST_KILLS_DATABASE", f"sqlite:///{tmp_path / 'site.sqlite3'}"),
        "EXAMPLE_DATA_DIR": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
    }
    made = Site("own_settings", tmp_path, environment)
    made.manage("migrate", "--verbosity", "0")
    return made


def fill(site: Site, hooks: list[Hook]) -> None:
    """A task with a webhook for each hook, and the events that wait for it."""
    site.manage("shell", "--no-imports", "--command", FILL.format(urls=[hook.url for hook in hooks], events=EVENTS))


def arrived(hooks: list[Hook]) -> int:
    return sum(len(set(hook.texts())) for hook in hooks)


def check(hooks: list[Hook], kills: int) -> None:
    """Everything, in order; what came twice came at once again: it was under way when its sender was killed."""
    for hook in hooks:
        groups = [(text, len(list(same))) for text, same in groupby(hook.texts())]
        assert [text for text, _ in groups] == [str(number) for number in range(EVENTS)]
        assert sum(count - 1 for _, count in groups) <= kills
        assert hook.most_active == 1


@pytest.mark.parametrize("names", [["one"], ["one", "two"]], ids=["alone", "of two"])
def test_a_sender_that_is_killed_over_and_over(site: Site, names: list[str]) -> None:
    rng = random.Random(KILLS)
    total = HOOKS * EVENTS
    with receiving() as receiver:
        turnstile = receiver.turnstile()
        hooks = [receiver.hook(turnstile) for _ in range(HOOKS)]
        fill(site, hooks)
        workers = [Worker(site, name) for name in names]
        for worker in workers:
            worker.start()
        allowed = 0
        try:
            for _ in range(KILLS):  # each in the middle: there is more to deliver, and the next answers do not come
                count = rng.randrange(1, total // (KILLS + 1))
                allowed += count
                turnstile.allow(count)
                until(lambda: sum(len(hook.texts()) for hook in hooks) == allowed, 30)  # noqa: B023
                worker = rng.choice(workers)
                worker.kill()
                worker.start()
            turnstile.allow(2 * total)
            until(lambda: arrived(hooks) == total, 60)
        finally:
            for worker in workers:
                worker.stop()
        check(hooks, KILLS)
