"""Agents of the OpenAI Agents SDK behind the adapter, with a model that answers from a list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

pytest.importorskip("agents")

import agents
from agents import ModelResponse, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)
from pydantic import BaseModel

from a2a_django.contrib.openai_agents import OpenAIAgent
from a2a_django.testing import A2ATestCase

Answer = str | ResponseFunctionToolCall


class FakeModel(Model):
    """Answers with what ``answer`` makes of the input; text comes word by word."""

    def __init__(self, answer: Callable[[Any], Answer]) -> None:
        self.answer = answer

    def _output(self, given: Any) -> Any:
        answer = self.answer(given)
        if isinstance(answer, ResponseFunctionToolCall):
            return answer
        content = ResponseOutputText(text=answer, type="output_text", annotations=[])
        return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[content])

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        return ModelResponse(output=[self._output(input)], usage=Usage(), response_id=None)

    async def stream_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        output = self._output(input)
        if isinstance(output, ResponseOutputMessage):
            for number, word in enumerate(output.content[0].text.split(" ")):
                yield ResponseTextDeltaEvent(
                    content_index=0, delta=word if not number else f" {word}", item_id="m", logprobs=[],
                    output_index=0, sequence_number=number, type="response.output_text.delta",
                )  # fmt: skip
        response = Response(
            id="r", created_at=0, model="fake", object="response", output=[output], tool_choice="auto", tools=[],
            parallel_tool_calls=False,
        )  # fmt: skip
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=99)


def called(name: str, arguments: str = "{}") -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(call_id=f"call-{name}", name=name, arguments=arguments, type="function_call")


def tools_first(*names: str) -> FakeModel:
    """A model that calls tools, one after the other, and then tells what they returned."""

    def answer(given: Any) -> Answer:
        items = given if isinstance(given, list) else []
        returned = [item["output"] for item in items if item.get("type") == "function_call_output"]
        if len(returned) < len(names):
            return called(names[len(returned)], '{"number": 7}')
        return " and ".join(map(str, returned))

    return FakeModel(answer)


def parrot(given: Any) -> str:
    items = [{"content": given}] if isinstance(given, str) else given
    last = items[-1]["content"]
    return f"{len(items)}: {last}"


def served(**options: Any) -> OpenAIAgent:
    context = options.pop("context", None)
    inner = agents.Agent(name="Inner", **options)
    extra = {} if context is None else {"context": context}
    made = type("Served", (OpenAIAgent,), {"abstract": True, "agent": inner, **extra})(
        slug="served", description="Served."
    )
    assert isinstance(made, OpenAIAgent)
    return made


class OpenAIAgentsTests(A2ATestCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        set_tracing_disabled(True)  # nothing is sent from tests

    def test_text_as_it_comes_and_the_conversation(self) -> None:
        agent = served(model=FakeModel(parrot))
        stream = self.a2a_client.stream("hello you", agent=agent)
        stream.read()
        assert [piece.text for piece in stream.artifacts] == ["1:", " hello", " you"]
        again = self.a2a_client.send("again", agent=agent, context=stream.task)
        assert again.text == "3: again"
        assert self.a2a_client.send("other", agent=agent).text == "1: other"

    def test_tools_are_told(self) -> None:
        @function_tool
        def look(wrapper: agents.RunContextWrapper[str], number: int) -> str:
            return f"{wrapper.context} saw {number}"

        @function_tool
        async def count(number: int) -> str:
            return str(number + 1)

        agent = served(model=tools_first("look", "count"), tools=[look, count], context=lambda self, ctx: ctx.text)
        stream = self.a2a_client.stream("Ann", agent=agent)
        stream.read()
        assert [event.text for event in stream.events if event.state == "working"] == ["Calling look", "Calling count"]
        assert stream.text == "Ann saw 7 and 8"

    def test_structured_output_is_data(self) -> None:
        class Order(BaseModel):
            number: int

        agent = served(model=FakeModel(lambda given: '{"number": 7}'), output_type=Order)
        task = self.a2a_client.send("which?", agent=agent)
        assert (task.data, task.text) == ({"number": 7}, "")

    def approval(self) -> tuple[OpenAIAgent, list[int]]:
        deleted: list[int] = []

        @function_tool(needs_approval=True)
        def delete(number: int) -> str:
            deleted.append(number)
            return "deleted"

        return served(model=tools_first("delete"), tools=[delete]), deleted

    def test_approval(self) -> None:
        agent, deleted = self.approval()
        task = self.a2a_client.send("delete it", agent=agent)
        assert (task.state, task.text) == ("input_required", "May I call delete?")
        assert deleted == []
        done = self.a2a_client.send("yes", agent=agent, task=task)
        assert (done.state, done.text, deleted) == ("completed", "deleted", [7])

    def test_no_approval(self) -> None:
        agent, deleted = self.approval()
        task = self.a2a_client.send("delete it", agent=agent)
        done = self.a2a_client.send("no", agent=agent, task=task)
        assert (done.state, deleted) == ("completed", [])
        assert "approved" in done.text

    def test_approval_as_data(self) -> None:
        agent, deleted = self.approval()
        task = self.a2a_client.send("delete it", agent=agent)
        self.a2a_client.send({"call-delete": True}, agent=agent, task=task)
        assert deleted == [7]

    def test_a_handoff_is_told(self) -> None:
        other: agents.Agent[Any] = agents.Agent(name="Other", model=FakeModel(lambda given: "From the other."))
        agent = served(model=FakeModel(lambda given: called("transfer_to_other")), handoffs=[other])
        stream = self.a2a_client.stream("go", agent=agent)
        stream.read()
        assert "Handing over to Other" in [event.text for event in stream.events]
        assert stream.text == "From the other."

    def test_a_cancel_ends_the_run(self) -> None:
        ended: list[str] = []

        @function_tool
        async def wait(number: int) -> str:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise
            return ""

        agent = served(model=tools_first("wait"), tools=[wait])
        task = self.a2a_client.send("go", agent=agent, wait=False)
        self.a2a_client.wait(task, "working", agent=agent)
        assert self.a2a_client.cancel(task, agent=agent).state == "canceled"
        assert ended == ["cancelled"]
