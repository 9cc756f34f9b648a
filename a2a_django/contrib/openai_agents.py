"""Agents of the OpenAI Agents SDK as agents of the site (extra ``openai-agents``).

.. code-block:: python

    class Concierge(OpenAIAgent):
        "Answers questions about orders."
        agent = agents.Agent(name="Concierge", tools=[order_status])
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, ClassVar

import agents
from agents import ItemHelpers, RunConfig, Runner, RunState
from agents.items import ToolApprovalItem
from pydantic_core import to_jsonable_python

from a2a_django.agents import Agent, TaskContext
from a2a_django.contrib.conversations import turns
from a2a_django.contrib.memory import remember, remembered, says_yes

KIND = "openai-agents"


class OpenAIAgent(Agent):
    """Serves ``agent``: its text as it comes, the tools it calls and handoffs as statuses, ``output_type`` as data.

    The conversation goes on from one task of a context to the next. Tools with ``needs_approval`` ask the caller: the
    task is in input required, the next message approves or not. A cancel ends the run.
    """

    abstract = True

    #: The SDK's agent.
    agent: ClassVar[agents.Agent[Any]]

    def context(self, ctx: TaskContext) -> Any:
        """Return the context object of a run."""
        return None

    def run_config(self, ctx: TaskContext) -> RunConfig | None:
        """Return the SDK's settings for a run."""
        return None

    def question(self, asked: Sequence[ToolApprovalItem]) -> Any:
        """Return what the caller is asked."""
        names = ", ".join(str(item.tool_name) for item in asked)
        calls = [{"id": item.call_id, "tool": item.tool_name, "arguments": item.arguments} for item in asked]
        return [f"May I call {names}?", {"calls": calls}]

    def approves(self, ctx: TaskContext, item: ToolApprovalItem) -> bool:
        """Return whether the caller's answer approves a call.

        A data part may say so for each call by its id, or ``{"approved": true}``; else a text that begins with yes.
        """
        if isinstance(ctx.data, dict) and item.call_id in ctx.data:
            return ctx.data[item.call_id] is True
        return says_yes(ctx.text, ctx.data)

    async def run(self, ctx: TaskContext) -> AsyncIterator[Any]:
        """Work on a message."""
        result = Runner.run_streamed(
            self.agent, await self._input(ctx), context=self.context(ctx), run_config=self.run_config(ctx)
        )
        is_text = self.agent.output_type in (None, str)
        streamed = False
        try:
            async for event in result.stream_events():
                if event.type == "raw_response_event":
                    if is_text and event.data.type == "response.output_text.delta":
                        streamed = True
                        yield event.data.delta
                elif event.type == "run_item_stream_event" and event.name == "tool_called":
                    await ctx.working(f"Calling {getattr(event.item.raw_item, 'name', None) or 'a tool'}")
                elif event.type == "agent_updated_stream_event" and event.new_agent is not self.agent:
                    await ctx.working(f"Handing over to {event.new_agent.name}")
        finally:
            if not result.is_complete:
                result.cancel()
        if result.interruptions:
            state = result.to_state().to_json()
            if not await remember(ctx, KIND, pending=state):
                raise RuntimeError("The run is too long to be kept until it is answered")
            await ctx.input_required(self.question(result.interruptions))
            return
        await remember(ctx, KIND, messages=to_jsonable_python(result.to_input_list()))
        output = result.final_output
        if not isinstance(output, str):
            value = to_jsonable_python(output)
            yield value if isinstance(value, dict | list) else {"value": value}
        elif output and not streamed:
            yield output

    async def _input(self, ctx: TaskContext) -> Any:
        pending, kept = await remembered(ctx, KIND)
        if pending is not None:
            given = self.context(ctx)
            state: RunState[Any, Any] = await RunState.from_json(
                self.agent, pending, **({} if given is None else {"context_override": given})
            )
            for item in state.get_interruptions():
                if self.approves(ctx, item):
                    state.approve(item)
                else:
                    state.reject(item)
            return state
        if kept is None:
            kept = [{"role": "user" if by_user else "assistant", "content": text} for by_user, text in await turns(ctx)]
        return [*kept, *ItemHelpers.input_to_new_input_list(ctx.text)]
