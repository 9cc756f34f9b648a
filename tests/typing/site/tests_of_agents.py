"""Tests of agents, as their author would write them with types."""

from __future__ import annotations

from typing import assert_type

from a2a_django.testing import A2AClient, A2ATestCase, FakeReceiver, Task


class ConciergeTests(A2ATestCase):
    a2a_agent = "concierge"

    def test_an_answer(self) -> None:
        task = self.a2a_client.send("1003", push=FakeReceiver(), metadata={"a": 1})
        assert_type(task, Task)
        assert_type(task.state, str)
        assert_type(task.history[0].text, str)
        for event in self.a2a_client.stream({"number": 7}, task=task):
            assert_type(event.state, str)
        assert_type(self.a2a_receiver.states, list[str])

    async def test_another(self) -> None:
        client = self.async_a2a_client
        task = await client.send("1003", context="c-1", wait=False)
        assert (await client.cancel(task)).state == "canceled"
        async with await client.subscribe(task) as stream:
            assert_type([event.text async for event in stream], list[str])


def test_with_a_fixture(a2a_client: A2AClient) -> None:
    assert a2a_client.ask("hello").text == "HELLO"
