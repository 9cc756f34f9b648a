"""Graphs of LangGraph as agents of the site (extra ``langgraph``).

.. code-block:: python

    class Concierge(GraphAgent):
        "Answers questions about orders."
        graph = create_agent("openai:gpt-5", tools=[order_status], checkpointer=saver)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command
from pydantic_core import to_jsonable_python

from a2a_django.agents import Agent, TaskContext
from a2a_django.contrib.conversations import turns


class GraphAgent(Agent):
    """Serves ``graph``, compiled: what its models say as it comes, the tools they call as statuses.

    The state's ``structured_response``, where it has one, becomes a data part. ``interrupt(...)`` puts the task in
    input required and the next message of the task resumes the graph with its data part or text; that needs a
    checkpointer, which is also where the conversation lives then. A graph without one is given the whole conversation
    each time. A cancel ends the run.
    """

    abstract = True

    #: The compiled graph.
    graph: ClassVar[Any]

    def input(self, ctx: TaskContext, earlier: Sequence[AnyMessage]) -> Any:
        """Return what the graph is given; ``earlier`` are the messages that it does not know of by itself."""
        return {"messages": [*earlier, HumanMessage(ctx.text)]}

    def resume(self, ctx: TaskContext) -> Any:
        """Return what ``interrupt`` returns: the answer's data, else its text."""
        return ctx.text if ctx.data is None else ctx.data

    def question(self, value: Any) -> Any:
        """Return what the caller is asked, for the value given to ``interrupt``."""
        found = to_jsonable_python(value)
        return found if isinstance(found, str | dict | list) else str(found)

    def config(self, ctx: TaskContext) -> RunnableConfig:
        """Return the configuration of a run. The thread is the conversation of this caller: others may use its id."""
        owner = "" if ctx.task is None else ctx.task.owner
        return {"configurable": {"thread_id": f"{self.slug}/{owner}/{ctx.context_id}", "user": ctx.user}}

    async def run(self, ctx: TaskContext) -> AsyncIterator[Any]:
        """Work on a message."""
        config = self.config(ctx)
        given: Any = None
        if not self.graph.checkpointer:
            given = self.input(ctx, await _earlier(ctx))
        elif len(ctx.history) > 1 and (await self.graph.aget_state(config)).interrupts:
            given = Command(resume=self.resume(ctx))
        else:
            given = self.input(ctx, [])
        questions: list[Any] = []
        async for mode, chunk in self.graph.astream(given, config, stream_mode=["messages", "updates"]):
            if mode == "messages":
                if text := _text_in(chunk[0]):
                    yield text
                continue
            for node, update in chunk.items():
                if node == "__interrupt__":
                    questions += [interrupt.value for interrupt in update]
                    continue
                for name in _tools_in(update):
                    await ctx.working(f"Calling {name}")
                if isinstance(update, Mapping) and update.get("structured_response") is not None:
                    value = to_jsonable_python(update["structured_response"])
                    yield value if isinstance(value, dict | list) else {"value": value}
        if questions:
            asked = [self.question(value) for value in questions]
            await ctx.input_required(asked[0] if len(asked) == 1 else asked)


def _text_in(message: Any) -> str:
    """Return what a model says; what people and tools say is no answer."""
    if not isinstance(message, AIMessage | AIMessageChunk):
        return ""
    text = message.text
    return str(text() if callable(text) and not isinstance(text, str) else text)


def _tools_in(update: Any) -> Iterable[str]:
    messages = update.get("messages", ()) if isinstance(update, Mapping) else ()
    for message in messages if isinstance(messages, list | tuple) else [messages]:
        if isinstance(message, AIMessage):
            yield from (call["name"] for call in message.tool_calls)


async def _earlier(ctx: TaskContext) -> list[AnyMessage]:
    return [HumanMessage(text) if by_user else AIMessage(text) for by_user, text in await turns(ctx)]
