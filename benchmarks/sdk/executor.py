"""What the SDK's servers do, over whatever binding.

One executor plays both agents of our site: "chunks N" streams N artifact chunks, everything else is echoed. The events
are the fewest that the SDK's own interface allows: the task, the artifact's chunks, the completion.
"""

from __future__ import annotations

import os
from typing import Any

import httpx
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    DatabasePushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill

from benchmarks.sdk.store import create_engine, create_store
from benchmarks.wire import ECHO, chunk_text

ARTIFACT = "answer"


class BenchExecutor(AgentExecutor):
    """Echoes, or streams chunks."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        if context.message is None:
            raise ValueError("a request without a message")
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        word, _, count = context.get_user_input().partition(" ")
        texts = (chunk_text(number) for number in range(int(count))) if word == "chunks" else iter((ECHO,))
        for number, text in enumerate(texts):
            await updater.add_artifact([new_text_part(text)], artifact_id=ARTIFACT, append=number > 0)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError("no benchmark cancels")


def create_card(url: str, binding: str) -> AgentCard:
    """The card; the SDK reads from it what the agent can do."""
    return AgentCard(
        name="Bench",
        description="Echoes and streams.",
        version="1.0",
        supported_interfaces=[AgentInterface(url=url, protocol_binding=binding, protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True, push_notifications=bool(os.environ.get("BENCH_PUSH"))),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="Echo", description="Echoes.", tags=["bench"])],
    )


def create_handler(card: AgentCard) -> DefaultRequestHandler:
    """What is behind every binding."""
    store = InMemoryTaskStore() if os.environ.get("BENCH_STORE") == "memory" else create_store()
    options: dict[str, Any] = {}
    if os.environ.get("BENCH_PUSH"):
        configs = DatabasePushNotificationConfigStore(create_engine())
        options["push_config_store"] = configs
        options["push_sender"] = BasePushNotificationSender(httpx.AsyncClient(), configs)
    return DefaultRequestHandler(agent_executor=BenchExecutor(), task_store=store, agent_card=card, **options)
