"""What other processes do arrives, whatever the channel layer does."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from django.test import override_settings

from a2a_django import engine
from a2a_django.engine import database, watch
from a2a_django.models import Task
from tests.engine.kit import WAIT, when
from tests.engine.layers import ReachingLayer
from tests.engine.test_subscribers import Elsewhere, heard, opened
from tests.engine.writing import chunk, create, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sound_rows")]


class FrailLayer(ReachingLayer):
    """A layer with a server that can be taken away."""

    mood: ClassVar[str] = ""

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        if self.mood == "loses":
            return
        if self.mood == "hangs":
            await asyncio.sleep(3600)
        if self.mood == "refuses":
            raise ConnectionRefusedError("no server")
        await super().group_send(group, message)


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FrailLayer]]:
    monkeypatch.setattr(FrailLayer, "mood", "")
    monkeypatch.setattr(watch, "BELL_POLL_SECONDS", 0.3)
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(watch, "SEND_SECONDS", 0.05)
    backend = f"{FrailLayer.__module__}.{FrailLayer.__qualname__}"
    with override_settings(CHANNEL_LAYERS={"default": {"BACKEND": backend}}):
        yield FrailLayer


@pytest.fixture
def elsewhere(layer: type[FrailLayer]) -> Iterator[Elsewhere]:
    made = Elsewhere()
    yield made
    made.journal.close()


async def write(elsewhere: Elsewhere, task: Task, text: str) -> None:
    await database.run(elsewhere.journal.write, says(task, chunk(task, text)))


async def begun(elsewhere: Elsewhere) -> tuple[Task, Any]:
    """A task that runs elsewhere, and a reader here, who hears the bells."""
    task = (await database.run(lambda: create(elsewhere.journal))).task
    reader = await opened(task)
    await heard("a layer", lambda: FrailLayer().group_send(watch.GROUP, {"from": "nobody", "bells": []}))
    return task, reader


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if "layer" in record.message]


@pytest.mark.parametrize("mood", ["loses", "hangs", "refuses"])
async def test_nothing_is_lost_with_the_bells(layer: type[FrailLayer], elsewhere: Elsewhere, mood: str) -> None:
    task, reader = await begun(elsewhere)
    layer.mood = mood
    numbers: list[int] = []
    async with asyncio.timeout(WAIT):
        for seq in range(1, 6):
            await write(elsewhere, task, str(seq))
            while reader.seq < seq:
                numbers += [event[0] for event in await reader.next()]
    assert numbers == [1, 2, 3, 4, 5]
    assert engine.get().watch._deaf_until > 0, "it looks more often while it hears nothing"
    layer.mood = ""
    async with asyncio.timeout(WAIT):
        while engine.get().watch._deaf_until:  # until the first bell is heard again
            await write(elsewhere, task, "more")
            await asyncio.sleep(0.02)


async def test_a_look_that_took_long_does_not_bring_about_a_long_pause(
    layer: type[FrailLayer], elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database was away for a while, or the process was stopped, and no bell is heard."""
    look, looks = watch.states_of, [2.0]

    def slow_once(task_ids: list[str]) -> Any:
        time.sleep(looks.pop() if looks else 0)
        return look(task_ids)

    task, reader = await begun(elsewhere)
    layer.mood = "loses"
    monkeypatch.setattr(watch, "states_of", slow_once)
    await when(lambda: not looks)
    await asyncio.sleep(2.1)
    async with asyncio.timeout(WAIT):
        await write(elsewhere, task, "late")
        assert [event[0] for event in await reader.next()] == [1]
    reader.close()


@pytest.mark.parametrize("mood", ["hangs", "refuses"])
async def test_a_layer_that_fails_is_one_line_in_the_log_and_so_is_its_return(
    layer: type[FrailLayer], elsewhere: Elsewhere, caplog: pytest.LogCaptureFixture, mood: str
) -> None:
    caplog.set_level(logging.WARNING, "a2a_django.engine")
    task, _ = await begun(elsewhere)
    layer.mood = mood
    for number in range(5):
        await write(elsewhere, task, str(number))
        async with asyncio.timeout(WAIT):
            while elsewhere.watch._ringing:  # noqa: ASYNC110 - of another loop
                await asyncio.sleep(0.01)
    assert lines(caplog) == ["The channel layer is not to be had; until it is, the rows have to do"]
    layer.mood = ""
    await write(elsewhere, task, "again")
    async with asyncio.timeout(WAIT):
        while len(lines(caplog)) < 2:  # noqa: ASYNC110 - of another loop
            await asyncio.sleep(0.01)
    assert lines(caplog)[1] == "The channel layer is there again"


async def test_with_a_layer_that_works_the_rows_are_looked_at_seldom(
    layer: type[FrailLayer], elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "BELL_POLL_SECONDS", 3600)
    task, reader = await begun(elsewhere)
    async with asyncio.timeout(WAIT):
        for seq in range(1, 6):
            await write(elsewhere, task, str(seq))
            while reader.seq < seq:
                await reader.next()
    assert engine.get().watch._deaf_until == 0
