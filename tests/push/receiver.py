"""A webhook: a real HTTP server that keeps what it gets and answers as it is told."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

#: How long anything is waited for.
WAIT = 15


class Gate:
    """An answer that is given when somebody says so."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self._opened = threading.Event()

    def open(self) -> None:
        """Let the answer be given; from any thread."""
        self._opened.set()

    async def passed(self) -> int:
        """Wait for that; returns the status."""
        while not self._opened.is_set():  # noqa: ASYNC110 - it is opened in another thread
            await asyncio.sleep(0.01)
        return self.status


class Turnstile:
    """Answers that are given one after the other, in the order of the requests, as many as somebody allows."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._free = asyncio.Semaphore(0)

    def allow(self, count: int) -> None:
        """Let so many more through; from any thread."""
        for _ in range(count):
            self._loop.call_soon_threadsafe(self._free.release)

    async def passed(self) -> int:
        """Wait for that; returns the status."""
        await self._free.acquire()
        return 200


#: What a webhook answers: a status, seconds to wait before 200, a status with headers, or one that waits.
Answer = int | float | tuple[int, dict[str, str]] | Gate | Turnstile


@dataclass
class Post:
    """One POST: what came, and what was answered."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float
    status: int = 0

    @property
    def json(self) -> Any:
        """The body decoded."""
        return json.loads(self.body)

    @property
    def state(self) -> str:
        """The state of a status update without the common prefix, "" for anything else."""
        found = self.json.get("statusUpdate")
        return found["status"]["state"].removeprefix("TASK_STATE_") if found else ""


@dataclass
class Hook:
    """One address of a receiver: its answers in turn, the last for ever."""

    url: str
    answers: list[Answer]
    posts: list[Post] = field(default_factory=list)
    #: The requests that are being answered; and how many there were at a time whose senders were all alive.
    under_way: list[web.Request] = field(default_factory=list)
    most_active: int = 0

    @property
    def active(self) -> int:
        """How many senders are waiting for an answer; one that was killed has closed its connection."""
        return sum(request.transport is not None and not request.transport.is_closing() for request in self.under_way)

    def accepted(self) -> list[Post]:
        """The posts that were answered with 2xx."""
        return [post for post in self.posts if 200 <= post.status < 300]

    def states(self) -> list[str]:
        """The states that were accepted, in order."""
        return [post.state for post in self.accepted() if post.state]

    def texts(self) -> list[str]:
        """The texts of the artifact updates that were accepted, in order."""
        updates = [post.json["artifactUpdate"] for post in self.accepted() if "artifactUpdate" in post.json]
        return [update["artifact"]["parts"][0]["text"] for update in updates]


class Receiver:
    """A server with any number of hooks, on a thread and loop of its own."""

    def __init__(self) -> None:
        self.hooks: dict[str, Hook] = {}
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(WAIT)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT)

    def hook(self, *answers: Answer) -> Hook:
        """A new address."""
        key = f"h{len(self.hooks)}"
        made = self.hooks[key] = Hook(f"http://127.0.0.1:{self.port}/{key}", list(answers or (200,)))
        return made

    def turnstile(self) -> Turnstile:
        """An answer for any number of hooks."""
        return Turnstile(self._loop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/{key}", self._post)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", 0)
        self._loop.run_until_complete(site.start())
        self.port = runner.addresses[0][1]
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _post(self, request: web.Request) -> web.Response:
        hook = self.hooks[request.match_info["key"]]
        hook.under_way.append(request)
        hook.most_active = max(hook.active, hook.most_active)
        try:
            post = Post(request.path_qs, dict(request.headers), await request.read(), time.monotonic())
            hook.posts.append(post)
            answer = hook.answers.pop(0) if len(hook.answers) > 1 else hook.answers[0]
            headers: dict[str, str] = {}
            if isinstance(answer, float):
                await asyncio.sleep(answer)
                answer = 200
            elif isinstance(answer, tuple):
                answer, headers = answer
            elif isinstance(answer, Gate | Turnstile):
                answer = await answer.passed()
            post.status = answer
            return web.Response(status=answer, headers=headers)
        finally:
            hook.under_way.remove(request)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver that runs inside the block."""
    receiver = Receiver()
    receiver.start()
    try:
        yield receiver
    finally:
        receiver.stop()
