"""Agents of Pydantic AI behind the adapter, with the framework's own test models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

import pydantic_ai
from pydantic import BaseModel
from pydantic_ai import CallDeferred
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel

from a2a_django.contrib.pydantic_ai import PydanticAgent
from a2a_django.testing import A2ATestCase


def texts(messages: list[ModelMessage]) -> list[str]:
    """What was said, the user's and the model's texts."""
    return [
        part.content
        for message in messages
        for part in message.parts
        if part.part_kind in ("user-prompt", "text") and isinstance(part.content, str)
    ]


async def parrot(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
    """Says how much it has heard, in two pieces."""
    said = texts(messages)
    yield f"{len(said)}: "
    yield said[-1]


def plan(*names: str) -> Any:
    """A model that calls the named tools, one after the other, and then tells what they returned."""

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        returned = [
            part for message in messages if isinstance(message, ModelRequest)
            for part in message.parts if isinstance(part, ToolReturnPart)
        ]  # fmt: skip
        if len(returned) < len(names):
            name = names[len(returned)]
            yield {0: DeltaToolCall(name, '{"number": 7}', tool_call_id=f"call-{name}")}
        else:
            yield " and ".join(str(part.content) for part in returned)

    return FunctionModel(stream_function=stream)


def served(agent: pydantic_ai.Agent[Any, Any], **attributes: Any) -> PydanticAgent:
    kind = type("Served", (PydanticAgent,), {"abstract": True, "agent": agent, **attributes})
    made = kind(slug="served", description="Served.")
    assert isinstance(made, PydanticAgent)
    return made


class PydanticAITests(A2ATestCase):
    def test_text_as_it_comes_and_the_conversation(self) -> None:
        agent = served(pydantic_ai.Agent(FunctionModel(stream_function=parrot)))
        stream = self.a2a_client.stream("hello", agent=agent)
        stream.read()
        assert [piece.text for piece in stream.artifacts] == ["1: ", "hello"]
        assert stream.states == ["completed"]
        again = self.a2a_client.send("and again", agent=agent, context=stream.task)
        assert again.text == "3: and again"
        other = self.a2a_client.send("somebody else", agent=agent)
        assert other.text == "1: somebody else"

    def test_a_conversation_that_began_without_the_adapter(self) -> None:
        from a2a_django.models import Message

        agent = served(pydantic_ai.Agent(FunctionModel(stream_function=parrot)))
        first = self.a2a_client.send("hello", agent=agent)
        Message.objects.update(checkpoint=None)
        assert self.a2a_client.send("again", agent=agent, context=first).text == "3: again"

    def test_tools_are_told(self) -> None:
        inner: pydantic_ai.Agent[Any, str] = pydantic_ai.Agent(plan("look", "count"), deps_type=str)

        @inner.tool
        def look(ctx: pydantic_ai.RunContext[str], number: int) -> str:
            return f"{ctx.deps} saw {number}"

        @inner.tool_plain
        async def count(number: int) -> int:
            return number + 1

        agent = served(inner, deps=lambda self, ctx: ctx.text)
        stream = self.a2a_client.stream("Ann", agent=agent)
        stream.read()
        said = [event.text for event in stream.events if event.state == "working"]
        assert said == ["Calling look", "Calling count"]
        assert stream.text == "Ann saw 7 and 8"

    def test_structured_output_is_data(self) -> None:
        class Order(BaseModel):
            number: int
            items: list[str]

        model = TestModel(custom_output_args={"number": 7, "items": ["tea"]})
        task = self.a2a_client.send("which?", agent=served(pydantic_ai.Agent(model, output_type=Order)))
        assert task.data == {"number": 7, "items": ["tea"]}
        assert task.text == ""

    def approval(self) -> tuple[PydanticAgent, list[int]]:
        inner: pydantic_ai.Agent[Any, str] = pydantic_ai.Agent(plan("delete"))
        deleted: list[int] = []

        @inner.tool_plain(requires_approval=True)
        def delete(number: int) -> str:
            deleted.append(number)
            return "deleted"

        return served(inner), deleted

    def test_approval(self) -> None:
        agent, deleted = self.approval()
        task = self.a2a_client.send("delete it", agent=agent)
        assert (task.state, task.text) == ("input_required", "May I call delete?")
        assert task.message is not None
        assert task.message.data["calls"] == [{"id": "call-delete", "tool": "delete", "arguments": {"number": 7}}]
        assert deleted == []
        done = self.a2a_client.send("Yes, please", agent=agent, task=task)
        assert (done.state, done.text, deleted) == ("completed", "deleted", [7])

    def test_no_approval(self) -> None:
        agent, deleted = self.approval()
        task = self.a2a_client.send("delete it", agent=agent)
        done = self.a2a_client.send("No, keep it", agent=agent, task=task)
        assert (done.state, done.text, deleted) == ("completed", "No, keep it", [])

    def test_approval_as_data(self) -> None:
        agent, deleted = self.approval()
        task = self.a2a_client.send("delete it", agent=agent)
        self.a2a_client.send({"call-delete": True}, agent=agent, task=task)
        assert deleted == [7]

    def test_a_tool_that_is_carried_out_elsewhere(self) -> None:
        inner: pydantic_ai.Agent[Any, str] = pydantic_ai.Agent(plan("ask"))

        @inner.tool_plain
        def ask(number: int) -> str:
            raise CallDeferred

        agent = served(inner)
        task = self.a2a_client.send("go", agent=agent)
        assert (task.state, task.text) == ("input_required", "I need the result of ask.")
        assert self.a2a_client.send("forty-two", agent=agent, task=task).text == "forty-two"

    def test_a_cancel_ends_the_run(self) -> None:
        ended: list[str] = []

        async def slow(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
            yield "One moment"
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        agent = served(pydantic_ai.Agent(FunctionModel(stream_function=slow)))
        with self.a2a_client.stream("go", agent=agent) as stream:
            stream.read_until(lambda event: event.kind == "artifact")
            assert self.a2a_client.cancel(stream.task, agent=agent).state == "canceled"
        assert ended == ["cancelled"]

    def test_a_model_that_fails(self) -> None:
        async def broken(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
            raise ConnectionError("the model is away")
            yield ""

        task = self.a2a_client.send("go", agent=served(pydantic_ai.Agent(FunctionModel(stream_function=broken))))
        assert task.state == "failed"
        assert "the model is away" in repr(task)
