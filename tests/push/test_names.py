"""Names to addresses: one silent name server keeps nobody else waiting, and nothing is asked twice."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import pytest

from a2a_django.push.names import Address, Resolver, look_up
from tests.push.servers import LIMIT, eventually

PUBLIC = ipaddress.ip_address("8.8.8.8")


class Servers:
    """Name servers of a kind: those of ``silent`` zones say nothing until they are told to."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.under_way = 0
        self.most = 0
        self.release = threading.Event()
        self._lock = threading.Lock()

    def __call__(self, host: str) -> Sequence[Address]:
        with self._lock:
            self.asked[host] += 1
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        try:
            if "silent" in host:
                self.release.wait(LIMIT)
            if "unknown" in host:
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            if "broken" in host:
                raise UnicodeError("label too long")
            return [PUBLIC]
        finally:
            with self._lock:
                self.under_way -= 1


@pytest.fixture
async def servers() -> AsyncIterator[Servers]:
    made = Servers()
    async with asyncio.timeout(LIMIT):
        yield made
        made.release.set()


def test_the_system_is_asked() -> None:
    assert ipaddress.ip_address("127.0.0.1") in look_up("localhost")
    with pytest.raises(OSError):
        look_up("no-such-name.invalid")


async def test_all_who_ask_at_once_get_the_answer_to_one_question(servers: Servers) -> None:
    resolver = Resolver(servers)
    waiting = [asyncio.ensure_future(resolver.addresses("a.silent.example")) for _ in range(50)]
    await eventually(lambda: servers.asked)
    servers.release.set()
    assert await asyncio.gather(*waiting) == [[PUBLIC]] * 50
    assert servers.asked == {"a.silent.example": 1}


async def test_an_answer_is_remembered_for_a_moment(servers: Servers) -> None:
    resolver = Resolver(servers, remember=60)
    for _ in range(3):
        assert await resolver.addresses("a.example") == [PUBLIC]
        with pytest.raises(socket.gaierror):
            await resolver.addresses("unknown.example")
    assert servers.asked == {"a.example": 1, "unknown.example": 1}
    resolver = Resolver(servers, remember=0)
    for _ in range(3):
        await resolver.addresses("b.example")
    assert servers.asked["b.example"] == 3


async def test_what_is_no_name_is_an_error_like_one_that_nobody_knows(servers: Servers) -> None:
    with pytest.raises(OSError):
        await Resolver(servers).addresses("broken.example")


async def test_one_who_gives_up_takes_the_answer_from_nobody(servers: Servers) -> None:
    resolver = Resolver(servers)
    patient = asyncio.ensure_future(resolver.addresses("silent.example"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(resolver.addresses("silent.example"), 0.05)
    servers.release.set()
    assert await patient == [PUBLIC]
    assert servers.asked == {"silent.example": 1}


async def test_a_silent_zone_keeps_no_other_waiting(servers: Servers) -> None:
    resolver = Resolver(servers, threads=8, per_zone=2)
    silent = [asyncio.ensure_future(resolver.addresses(f"{n}.silent.example")) for n in range(20)]
    await eventually(lambda: servers.under_way == 2)
    others = [f"a.zone{n}" for n in range(50)]
    assert await asyncio.gather(*map(resolver.addresses, others)) == [[PUBLIC]] * 50
    assert servers.most <= 8
    assert sum(servers.asked[f"{n}.silent.example"] for n in range(20)) == 2
    servers.release.set()
    assert await asyncio.gather(*silent) == [[PUBLIC]] * 20


async def test_many_silent_zones_keep_others_waiting_only_once(servers: Servers) -> None:
    resolver = Resolver(servers, threads=4, slow_threads=2, slow=0.0, remember=0)
    silent = [f"silent.zone{n}" for n in range(4)]
    first = [asyncio.ensure_future(resolver.addresses(host)) for host in silent]
    await eventually(lambda: servers.under_way == 4)
    servers.release.set()
    await asyncio.gather(*first)
    servers.release.clear()
    second = [asyncio.ensure_future(resolver.addresses(host)) for host in silent]
    await eventually(lambda: servers.under_way == 2)
    assert await asyncio.gather(*[resolver.addresses(f"a.other{n}") for n in range(20)]) == [[PUBLIC]] * 20
    assert servers.under_way == 2
    servers.release.set()
    assert await asyncio.gather(*second) == [[PUBLIC]] * 4


async def test_a_zone_that_is_quick_again_is_no_longer_slow(servers: Servers) -> None:
    resolver = Resolver(servers, threads=1, slow_threads=1, slow=0.1, remember=0)
    slow = asyncio.ensure_future(resolver.addresses("silent.example"))
    await eventually(lambda: servers.under_way)
    await asyncio.sleep(0.2)
    servers.release.set()
    await slow
    assert resolver._slow.keys() == {"silent.example"}
    await resolver.addresses("silent.example")
    assert not resolver._slow


async def test_no_more_threads_than_allowed(servers: Servers) -> None:
    resolver = Resolver(servers, threads=3)
    waiting = [asyncio.ensure_future(resolver.addresses(f"silent.zone{n}")) for n in range(10)]
    await eventually(lambda: servers.under_way == 3)
    servers.release.set()
    assert await asyncio.gather(*waiting) == [[PUBLIC]] * 10
    assert servers.most == 3


async def test_what_nobody_waits_for_any_more_is_not_asked(servers: Servers) -> None:
    resolver = Resolver(servers, per_zone=1)
    first = asyncio.ensure_future(resolver.addresses("1.silent.example"))
    await eventually(lambda: servers.under_way == 1)
    given_up = asyncio.ensure_future(resolver.addresses("2.silent.example"))
    third = asyncio.ensure_future(resolver.addresses("3.silent.example"))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait([given_up])
    servers.release.set()
    await asyncio.gather(first, third)
    assert set(servers.asked) == {"1.silent.example", "3.silent.example"}
    assert await resolver.addresses("2.silent.example") == [PUBLIC]


async def test_what_is_remembered_is_bounded(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("a2a_django.push.names._ENTRIES", 10)
    resolver = Resolver(servers, remember=60)
    waiting = asyncio.ensure_future(resolver.addresses("silent.example"))
    for n in range(50):
        await resolver.addresses(f"a.zone{n}")
    assert len(resolver._entries) <= 11
    servers.release.set()
    assert await waiting == [PUBLIC]


def test_loops_and_threads_share_a_resolver() -> None:
    servers = Servers()
    servers.release.set()
    resolver = Resolver(servers, remember=60)
    for _ in range(3):
        assert asyncio.run(resolver.addresses("a.example")) == [PUBLIC]
    assert servers.asked == {"a.example": 1}


async def test_no_thread_to_be_had_is_an_error(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    resolver = Resolver(servers, remember=0)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none_left)
        with pytest.raises(OSError):
            await resolver.addresses("a.example")
    assert await resolver.addresses("a.example") == [PUBLIC]
