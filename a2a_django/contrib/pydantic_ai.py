"""Agents of Pydantic AI as agents of the site (extra ``pydantic-ai``).

.. code-block:: python

    class Concierge(PydanticAgent):
        "Answers questions about orders."
        agent = pydantic_ai.Agent("openai:gpt-5", tools=[order_status])
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, ClassVar

import pydantic_ai
from pydantic import TypeAdapter
from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.run import AgentRunResultEvent
from pydantic_core import to_jsonable_python

from a2a_django.agents import Agent, TaskContext
from a2a_django.contrib.conversations import turns
from a2a_django.contrib.memory import remember, remembered, says_yes

KIND = "pydantic-ai"


class PydanticAgent(Agent):
    """Serves ``agent``: its text as it comes, the tools it calls as statuses, structured output as a data part.

    The conversation goes on from one task of a context to the next. Tools that need approval (``requires_approval``)
    or are carried out elsewhere (``CallDeferred``) ask the caller: the task is in input required, the next message is
    the answer. A cancel ends the run.
    """

    abstract = True

    #: The framework's agent.
    agent: ClassVar[pydantic_ai.Agent[Any, Any]]

    def deps(self, ctx: TaskContext) -> Any:
        """Return the dependencies of a run."""
        return None

    def prompt(self, ctx: TaskContext) -> Any:
        """Return the user's prompt: text, or a sequence of the framework's content."""
        return ctx.text

    def question(self, requests: DeferredToolRequests) -> Any:
        """Return what the caller is asked: a message as for ``ctx.input_required``."""
        calls = [*requests.approvals, *requests.calls]
        asked = [{"id": c.tool_call_id, "tool": c.tool_name, "arguments": c.args_as_dict()} for c in calls]
        names = ", ".join(call.tool_name for call in calls)
        text = f"May I call {names}?" if requests.approvals else f"I need the result of {names}."
        return [text, {"calls": asked}]

    def answer(self, ctx: TaskContext, requests: DeferredToolRequests) -> DeferredToolResults:
        """Return what the caller's answer means.

        A data part may give the result of each call by its id; otherwise a text that begins with yes approves all, any
        other is why not, and the text is the result of tools that are carried out elsewhere.
        """
        given = ctx.data if isinstance(ctx.data, dict) else {}
        yes = says_yes(ctx.text, ctx.data)
        approvals: dict[str, Any] = {}
        for call in requests.approvals:
            approved = given[call.tool_call_id] is True if call.tool_call_id in given else yes
            approvals[call.tool_call_id] = True if approved else ToolDenied(ctx.text or "Not approved.")
        calls = {call.tool_call_id: given.get(call.tool_call_id, ctx.text) for call in requests.calls}
        return DeferredToolResults(approvals=approvals, calls=calls)

    async def run(self, ctx: TaskContext) -> AsyncIterator[Any]:
        """Work on a message."""
        pending, kept = await remembered(ctx, KIND)
        history = await _earlier(ctx) if kept is None else ModelMessagesTypeAdapter.validate_python(kept)
        options: dict[str, Any] = {"message_history": history, "deps": self.deps(ctx)}
        if pending is None:
            options["user_prompt"] = self.prompt(ctx)
        else:
            options["deferred_tool_results"] = self.answer(ctx, _requests(pending))
        wanted = self.agent.output_type
        is_text = wanted is str or (isinstance(wanted, Sequence) and str in wanted)
        streamed, result = False, None
        async with self.agent.run_stream_events(output_type=[wanted, DeferredToolRequests], **options) as events:
            async for event in events:
                if isinstance(event, AgentRunResultEvent):
                    result = event.result
                elif isinstance(event, FunctionToolCallEvent):
                    await ctx.working(f"Calling {event.part.tool_name}")
                elif is_text and (text := _text_in(event)):
                    streamed = True
                    yield text
        if result is None:
            raise RuntimeError("The agent has given no result")
        messages = ModelMessagesTypeAdapter.dump_python(result.all_messages(), mode="json")
        output: Any = result.output
        if isinstance(output, DeferredToolRequests):
            if not await remember(ctx, KIND, pending=_kept(output), messages=messages):
                raise RuntimeError("The run is too long to be kept until it is answered")
            await ctx.input_required(self.question(output))
            return
        await remember(ctx, KIND, messages=messages)
        if not isinstance(output, str):
            value = to_jsonable_python(output)
            yield value if isinstance(value, dict | list) else {"value": value}
        elif output and not streamed:
            yield output


def _text_in(event: Any) -> str:
    text = ""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        text = event.part.content
    elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        text = event.delta.content_delta
    return text


def _kept(requests: DeferredToolRequests) -> Any:
    return to_jsonable_python({"approvals": requests.approvals, "calls": requests.calls})


def _requests(kept: Any) -> DeferredToolRequests:
    read = TypeAdapter(list[ToolCallPart]).validate_python
    return DeferredToolRequests(approvals=read(kept["approvals"]), calls=read(kept["calls"]))


async def _earlier(ctx: TaskContext) -> list[ModelMessage]:
    """Return the conversation as far as it is known here, for one that began without this adapter."""
    return [
        ModelRequest(parts=[UserPromptPart(text)]) if by_user else ModelResponse(parts=[TextPart(text)])
        for by_user, text in await turns(ctx)
    ]
