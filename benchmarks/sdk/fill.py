"""Prepares a database for the SDK's server: `python -m benchmarks.sdk.fill COUNT` makes its table and COUNT tasks."""

from __future__ import annotations

import asyncio
import sys
import uuid
from itertools import islice
from typing import Any

from a2a.server.models import TaskModel
from a2a.server.tasks import DatabasePushNotificationConfigStore
from sqlalchemy import insert

from benchmarks.rows import StoredTask, stored_tasks
from benchmarks.sdk.store import create_store

BATCH = 1000


def row(task: StoredTask) -> dict[str, Any]:
    """The columns of one task, as the SDK's store writes them."""
    task_id = str(uuid.uuid5(uuid.NAMESPACE_OID, str(task.number)))  # in no order, as the SDK's own random ids
    message = {
        "messageId": task.message_id,
        "contextId": task.context_id,
        "taskId": task_id,
        "role": "ROLE_USER",
        "parts": [{"text": task.text}],
    }
    stamp = task.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "id": task_id,
        "context_id": task.context_id,
        "kind": "task",
        "owner": "",
        "last_updated": task.at.replace(tzinfo=None),
        "status": {"state": "TASK_STATE_COMPLETED", "timestamp": stamp},
        "artifacts": [{"artifactId": "answer", "parts": [{"text": task.text}]}],
        "history": [message],
        "task_metadata": None,
        "protocol_version": "1.0",
    }


async def fill(count: int) -> None:
    """Makes the tables and the rows."""
    store = create_store()
    await store.initialize()
    await DatabasePushNotificationConfigStore(store.engine).initialize()
    rows = (row(task) for task in stored_tasks(count))
    async with store.engine.begin() as connection:
        while batch := list(islice(rows, BATCH)):
            await connection.execute(insert(TaskModel), batch)
    await store.engine.dispose()


if __name__ == "__main__":
    asyncio.run(fill(int(sys.argv[1])))
