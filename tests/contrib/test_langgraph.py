"""Graphs of LangGraph behind the adapter, with the framework's fake models."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph")

from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

from a2a_django.contrib.langgraph import GraphAgent
from a2a_django.testing import A2ATestCase


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    structured_response: dict[str, Any]


def served(graph: Any, **attributes: Any) -> GraphAgent:
    kind = type("Served", (GraphAgent,), {"abstract": True, "graph": graph, **attributes})
    made = kind(slug="served", description="Served.")
    assert isinstance(made, GraphAgent)
    return made


def one_node(node: Any, **options: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("answer", node)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(**options)


def parrot(state: State) -> State:
    """Says how much it has heard."""
    said = state["messages"]
    return {"messages": [AIMessage(f"{len(said)}: {said[-1].text}")]}


@tool
def look(number: int) -> str:
    """Look."""
    return f"saw {number}"


class LangGraphTests(A2ATestCase):
    def test_text_as_it_comes(self) -> None:
        model = GenericFakeChatModel(messages=iter([AIMessage("one two three")]))

        async def answer(state: State) -> State:
            return {"messages": [await model.ainvoke(state["messages"])]}

        stream = self.a2a_client.stream("count", agent=served(one_node(answer)))
        stream.read()
        assert stream.text == "one two three"
        assert len(stream.artifacts) > 2
        assert stream.states == ["completed"]

    def test_the_conversation_of_a_graph_without_memory(self) -> None:
        agent = served(one_node(parrot))
        first = self.a2a_client.send("hello", agent=agent)
        assert first.text == "1: hello"
        assert self.a2a_client.send("again", agent=agent, context=first).text == "3: again"

    def test_the_conversation_of_a_graph_with_memory(self) -> None:
        agent = served(one_node(parrot, checkpointer=InMemorySaver()))
        first = self.a2a_client.send("hello", agent=agent)
        assert self.a2a_client.send("again", agent=agent, context=first).text == "3: again"
        assert self.a2a_client.send("somebody else", agent=agent).text == "1: somebody else"

    def test_the_thread_is_the_callers(self) -> None:
        from django.contrib.auth.models import User

        agent = served(one_node(parrot, checkpointer=InMemorySaver()))
        alice, bob = User.objects.create_user("alice"), User.objects.create_user("bob")
        assert self.a2a_client.send("hello", agent=agent, context="c-1", user=alice).text == "1: hello"
        assert self.a2a_client.send("hello", agent=agent, context="c-1", user=bob).text == "1: hello"

    def test_tools_are_told(self) -> None:
        call = AIMessage("", tool_calls=[{"name": "look", "args": {"number": 7}, "id": "call-1"}])
        model = FakeMessagesListChatModel(responses=[call, AIMessage("It saw seven.")])
        builder = StateGraph(State)

        async def answer(state: State) -> State:
            return {"messages": [await model.ainvoke(state["messages"])]}

        def after(state: State) -> str:
            last = state["messages"][-1]
            return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

        builder.add_node("answer", answer)
        builder.add_node("tools", ToolNode([look]))
        builder.add_edge(START, "answer")
        builder.add_conditional_edges("answer", after)
        builder.add_edge("tools", "answer")
        stream = self.a2a_client.stream("look", agent=served(builder.compile()))
        stream.read()
        assert [event.text for event in stream.events if event.state == "working"] == ["Calling look"]
        assert stream.text == "It saw seven."

    def test_structured_output_is_data(self) -> None:
        agent = served(one_node(lambda state: {"structured_response": {"number": 7}}))
        task = self.a2a_client.send("which?", agent=agent)
        assert (task.data, task.text) == ({"number": 7}, "")

    def asking(self) -> GraphAgent:
        def answer(state: State) -> State:
            colour = interrupt({"question": "Which colour?"})
            size = interrupt("Which size?")
            return {"messages": [AIMessage(f"{colour}, {size}")]}

        return served(one_node(answer, checkpointer=InMemorySaver()))

    def test_interrupts_ask_back(self) -> None:
        agent = self.asking()
        task = self.a2a_client.send("paint", agent=agent)
        assert task.state == "input_required"
        assert task.message is not None
        assert task.message.data == {"question": "Which colour?"}
        task = self.a2a_client.send("blue", agent=agent, task=task)
        assert (task.state, task.text) == ("input_required", "Which size?")
        task = self.a2a_client.send({"w": 2}, agent=agent, task=task)
        assert (task.state, task.text) == ("completed", "blue, {'w': 2}")

    def test_a_new_task_does_not_answer_another(self) -> None:
        agent = self.asking()
        first = self.a2a_client.send("paint", agent=agent)
        assert self.a2a_client.send("blue", agent=agent, context=first).state == "input_required"

    def test_a_cancel_ends_the_run(self) -> None:
        ended: list[str] = []

        async def answer(state: State) -> State:
            return {"messages": [AIMessage("One moment")]}

        async def slow(state: State) -> State:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise
            return {}

        builder = StateGraph(State)
        builder.add_node("answer", answer)
        builder.add_node("slow", slow)
        builder.add_edge(START, "answer")
        builder.add_edge("answer", "slow")
        agent = served(builder.compile())
        with self.a2a_client.stream("go", agent=agent) as stream:
            stream.read_until(lambda event: event.kind == "artifact")
            assert self.a2a_client.cancel(stream.task, agent=agent).state == "canceled"
        assert ended == ["cancelled"]
