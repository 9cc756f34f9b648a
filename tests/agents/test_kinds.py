"""What ``run`` may be, and what it may yield and return."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.utils.translation import gettext_lazy

from a2a_django import Part
from tests.engine.kit import folded, get, made_of, outputs, rest, send, state_of, states_in, status_text, stream

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.7")]


async def coroutine(ctx: Any) -> str:
    return "one two"


async def async_generator(ctx: Any) -> AsyncIterator[str]:
    yield "one "
    yield "two"


def function(ctx: Any) -> str:
    return "one two"


def generator(ctx: Any) -> Iterator[str]:
    yield "one "
    yield "two"


@pytest.mark.parametrize("run", [coroutine, function])
async def test_what_is_returned_is_one_artifact_in_one_piece(run: Callable[..., Any]) -> None:
    events = await rest(await stream(made_of(run)))
    update = events[1]["artifactUpdate"]
    assert update["lastChunk"] is True
    assert "append" not in update
    assert outputs(folded(events)) == ["one two"]
    assert states_in(events) == ["COMPLETED"]


@pytest.mark.parametrize("run", [async_generator, generator])
async def test_what_is_yielded_are_the_pieces_of_one_artifact(run: Callable[..., Any]) -> None:
    agent = made_of(run)
    events = await rest(await stream(agent))
    first, second = (event["artifactUpdate"] for event in events[1:3])
    assert "append" not in first
    assert second["append"] is True
    assert first["artifact"]["artifactId"] == second["artifact"]["artifactId"]
    (artifact,) = (await get(agent, events[0]["task"]["id"]))["artifacts"]
    assert [part["text"] for part in artifact["parts"]] == ["one ", "two"]
    assert states_in(events) == ["COMPLETED"]


async def nothing(ctx: Any) -> None:
    pass


def plain_nothing(ctx: Any) -> None:
    pass


async def empty_generator(ctx: Any) -> AsyncIterator[str]:
    return
    yield


def plain_empty_generator(ctx: Any) -> Iterator[str]:
    return
    yield


@pytest.mark.parametrize("run", [nothing, plain_nothing, empty_generator, plain_empty_generator])
async def test_an_agent_that_says_nothing_has_completed_the_task(run: Callable[..., Any]) -> None:
    task = await send(made_of(run))
    assert state_of(task) == "COMPLETED"
    assert "artifacts" not in task


VALUES: list[tuple[Any, list[dict[str, Any]]]] = [
    ("text", [{"text": "text"}]),
    ("", [{"text": ""}]),
    ("Grüße \U0001f600\u2028", [{"text": "Grüße \U0001f600\u2028"}]),
    (gettext_lazy("lazy"), [{"text": "lazy"}]),
    (b"\x00\xff", [{"raw": base64.b64encode(b"\x00\xff").decode()}]),
    (bytearray(b"x"), [{"raw": "eA=="}]),
    ({"n": 1, "f": 1.5, "big": 2**53, "list": [None, True, "x"]}, None),
    ([1, 2, {"a": None}], None),
    ({}, [{"data": {}}]),
    ([], [{"data": []}]),
    (Part(text="a part", filename="a.txt", media_type="text/plain"), None),
    (Part(url="https://shop.example/x"), [{"url": "https://shop.example/x"}]),
    ([Part(text="one"), Part(raw=b"two")], [{"text": "one"}, {"raw": "dHdv"}]),
    ((Part(text="one"), Part(text="two")), [{"text": "one"}, {"text": "two"}]),
]
VALUES[6] = (VALUES[6][0], [{"data": VALUES[6][0]}])
VALUES[7] = (VALUES[7][0], [{"data": VALUES[7][0]}])
VALUES[10] = (VALUES[10][0], [{"text": "a part", "filename": "a.txt", "mediaType": "text/plain"}])


@pytest.mark.parametrize(("value", "parts"), VALUES)
@pytest.mark.parametrize("plain", [False, True])
async def test_values_become_parts(value: Any, parts: list[dict[str, Any]], plain: bool) -> None:
    async def returns(ctx: Any) -> Any:
        return value

    def plain_returns(ctx: Any) -> Any:
        return value

    agent = made_of(plain_returns if plain else returns)
    task = await send(agent)
    assert state_of(task) == "COMPLETED"
    assert task["artifacts"][0]["parts"] == parts
    assert (await get(agent, task["id"]))["artifacts"][0]["parts"] == parts


@pytest.mark.parametrize(
    "value",
    [
        42,
        3.5,
        object(),
        {"when": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)},
        {"price": Decimal("1.5")},
        {"nan": float("nan")},
        {1: "a number as a key"},
        ["\ud800"],
        "\ud800",
        "nul \0",
        [Part(text="part"), "and text"],
        Part(),
        {"deep": None},
    ],
)
@pytest.mark.parametrize("kind", ["returned", "yielded"])
async def test_values_that_are_no_parts_fail_the_task(value: Any, kind: str) -> None:
    if isinstance(value, dict) and "deep" in value:
        for _ in range(2000):
            value = {"deep": value}

    async def returns(ctx: Any) -> Any:
        return value

    async def yields(ctx: Any) -> AsyncIterator[Any]:
        yield "fine"
        yield value
        yield "never"

    agent = made_of(returns if kind == "returned" else yields)
    task = await send(agent)
    assert state_of(task) == "FAILED"
    assert status_text(task) == "The agent gave an invalid response."
    assert outputs(task) == ([] if kind == "returned" else ["fine"])


async def test_a_yield_after_the_end_changes_nothing() -> None:
    async def run(ctx: Any) -> AsyncIterator[str]:
        yield "before"
        await ctx.complete("done")
        yield "after"

    task = await send(made_of(run))
    assert state_of(task) == "COMPLETED"
    assert outputs(task) == ["before"]


async def test_pieces_after_a_question_belong_to_the_task() -> None:
    async def run(ctx: Any) -> AsyncIterator[str]:
        await ctx.input_required("?")
        yield "after"

    agent = made_of(run)
    events = await rest(await stream(agent))
    assert states_in(events) == ["INPUT_REQUIRED"]
    assert outputs(folded(events)) == ["after"]


async def test_a_generator_that_is_told_to_stop_cleans_up_at_once() -> None:
    seen: list[str] = []
    kept: list[Any] = []  # so that it is not the collection of garbage that closes them

    async def pieces() -> AsyncIterator[Any]:
        try:
            yield "fine"
            yield object()
        finally:
            seen.append("closed")

    def plain_pieces() -> Iterator[Any]:
        try:
            yield "fine"
            yield object()
        finally:
            seen.append("closed")

    def run(ctx: Any) -> Any:
        kept.append(pieces())
        return kept[-1]

    def plain_run(ctx: Any) -> Any:
        kept.append(plain_pieces())
        return kept[-1]

    for function in (run, plain_run):
        seen.clear()
        assert state_of(await send(made_of(function))) == "FAILED"
        assert seen == ["closed"]
