"""Agents that are switched off or renamed in the database: known without asking, and at once where it was changed."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from django.db import OperationalError, transaction
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.agents import directory as module
from a2a_django.agents.directory import Directory, Entry, directory
from a2a_django.models import AgentSetting
from tests.engine.kit import when

pytestmark = pytest.mark.django_db(transaction=True)


class Some(Agent):
    """As the code has it."""

    abstract = True


SOME = Some(name="Some")


class Reads:
    """Counts the readings of the rows, and holds them up where a test wants it."""

    def __init__(self, rows: Callable[[], dict[str, Entry]]) -> None:
        self.count = 0
        self.held: list[threading.Event] = []
        self.begun = threading.Event()
        self._rows = rows

    def __call__(self) -> dict[str, Entry]:
        self.count += 1
        found = self._rows()
        self.begun.set()
        if self.held:
            assert self.held.pop(0).wait(20)
        return found


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reads]:
    """A process that has not looked yet."""
    counting = Reads(module._rows)
    monkeypatch.setattr(module, "_rows", counting)
    directory.forget()
    return counting


async def has() -> bool:
    await directory.refresh()
    return directory.has(SOME)


def say(**values: object) -> None:
    AgentSetting.objects.update_or_create(slug="some", defaults=values)


async def test_without_rows_everything_is_as_the_code_has_it(reads: Reads) -> None:
    assert await has()
    assert directory.presented(SOME) is SOME
    assert directory.changed_at == 0


async def test_many_calls_are_one_query(reads: Reads) -> None:
    await asyncio.gather(*(has() for _ in range(3)))
    before = reads.count
    for _ in range(50):
        await has()
    assert reads.count == before <= 3


async def test_a_change_in_this_process_counts_at_once(reads: Reads, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "AGENT_CACHE_SECONDS": 3600}
    for enabled in (True, False, True):
        await asyncio.to_thread(say, enabled=enabled)
        assert await has() is enabled
    await asyncio.to_thread(say, enabled=False)
    assert not await has()
    await AgentSetting.objects.all().adelete()
    assert await has()


async def test_a_change_counts_from_its_commit_on(reads: Reads, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "AGENT_CACHE_SECONDS": 3600}

    def change(commit: bool) -> None:
        try:
            with transaction.atomic():
                say(enabled=False)
                if not commit:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            pass

    await asyncio.to_thread(change, False)
    assert await has()
    await asyncio.to_thread(change, True)
    assert not await has()


async def test_a_change_elsewhere_is_seen_when_what_is_known_is_too_old(reads: Reads, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "AGENT_CACHE_SECONDS": 3600}
    await asyncio.to_thread(say, enabled=True)
    assert await has()
    await AgentSetting.objects.aupdate(enabled=False)  # sends no signal here, as if another process had done it
    assert await has()
    settings.A2A = {**settings.A2A, "AGENT_CACHE_SECONDS": 0}
    directory._until = time.monotonic()
    assert not await has()
    await AgentSetting.objects.aupdate(enabled=True)
    assert await has()


async def test_while_one_reads_the_others_go_on_with_what_is_known(reads: Reads, settings: Settings) -> None:
    assert await has()
    await AgentSetting.objects.abulk_create([AgentSetting(slug="some", enabled=False)])
    directory._until = time.monotonic()
    gate = threading.Event()
    reads.held.append(gate)
    reading = asyncio.ensure_future(has())
    await when(lambda: reads.held == [])
    assert await has()
    gate.set()
    assert not await reading
    assert not await has()


async def test_nobody_goes_on_with_what_has_changed_here(reads: Reads) -> None:
    """The rows change while somebody has read the old ones and not yet told: he has to read again."""
    gate = threading.Event()
    reads.held.append(gate)
    reading = asyncio.ensure_future(has())
    await when(lambda: reads.held == [])
    await asyncio.to_thread(say, enabled=False)
    assert not await has()  # this one comes after the change
    gate.set()
    assert not await reading
    assert not await has()
    assert reads.count == 2  # the first one has what the second one read


async def test_a_reader_who_leaves_does_not_keep_the_others_from_reading(reads: Reads, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "AGENT_CACHE_SECONDS": 3600}
    assert await has()
    await AgentSetting.objects.abulk_create([AgentSetting(slug="some", enabled=False)])
    directory._until = time.monotonic()
    gate = threading.Event()
    reads.held.append(gate)
    reading = asyncio.ensure_future(has())
    await when(lambda: reads.held == [])
    reading.cancel()
    await asyncio.wait([reading])
    assert not await has()
    gate.set()


async def test_a_change_is_not_missed_while_the_database_does_not_answer(
    reads: Reads, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """It becomes known in the moment in which a reader fails; nobody waits for the next try then."""
    settings.A2A = {**settings.A2A, "AGENT_CACHE_SECONDS": 3600}
    assert await has()
    directory._until = time.monotonic()
    rows = module._rows

    def fails_once() -> dict[str, Entry]:
        monkeypatch.setattr(module, "_rows", rows)
        say(enabled=False)
        raise OperationalError("away")

    monkeypatch.setattr(module, "_rows", fails_once)
    assert not await has()


async def test_a_database_that_does_not_answer_changes_nothing(
    reads: Reads, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await asyncio.to_thread(say, enabled=False)
    assert not await has()

    def away() -> dict[str, Entry]:
        raise OperationalError("away")

    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING, "a2a_django"):
        patched.setattr(module, "_rows", away)
        patched.setattr(module, "RETRY_SECONDS", 0.0)
        directory._until = time.monotonic()
        assert not await has()
        assert "could not be read" in caplog.text
    assert not await has()


def test_a_presented_agent_is_a_copy(reads: Reads) -> None:
    known = Directory()
    known._take({"some": Entry(True, "Shown", "")})
    shown = known.presented(SOME)
    assert (shown.name, shown.description, shown.slug) == ("Shown", "As the code has it.", "some")
    assert SOME.name == "Some"
    known._take({"some": Entry(True, "", "Otherwise")})
    assert (known.presented(SOME).name, known.presented(SOME).description) == ("Some", "Otherwise")
    assert known.changed_at > 0
