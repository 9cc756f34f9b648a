"""What is looked at when everything has come to its end: tasks that nobody has heard of, and the lists."""

from __future__ import annotations

import asyncio

from tests.chaos.doors import Door, Gone, Json, Refused, Silent
from tests.chaos.oracle import TERMINAL
from tests.chaos.rows import Head
from tests.chaos.stage import Stage
from tests.chaos.stories import PATIENCE, Story

INTERRUPTED = frozenset({"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"})
PAGE = 50


async def rest(stage: Stage) -> None:
    """Wait until no task is at work, those that nobody watches among them: all processes are there."""
    deadline = stage.now() + PATIENCE
    while left := await stage.rows.at_work():
        if stage.now() > deadline:
            stage.fault(f"{len(left)} tasks do not end, {left[0]} among them")
            return
        await asyncio.sleep(0.5)


async def inspect(stage: Stage, stories: dict[str, Story]) -> None:
    """Look at all tasks. One more than the story knows may have come of each first message whose answer was lost."""
    heads = await stage.rows.heads()
    extra: dict[str, int] = {}
    for head in heads:
        if head.state not in TERMINAL | INTERRUPTED:
            stage.fault(f"task {head.pk} ({head.agent}) is {head.state} in the end")
        story = stories.get(head.context_id)
        if story is None:
            stage.fault(f"task {head.pk} ({head.agent}) is of no story")
        elif head.pk != story.task_id:
            extra[head.context_id] = extra.get(head.context_id, 0) + 1
            stage.counts["tasks whose answer was lost"] += 1
            await _told(stage, story, head)
            await story.compare(head.pk, [])
    for context_id, number in extra.items():
        story = stories[context_id]
        lost = [message_id for message_id, certain in story.sent.items() if not certain]
        if number > len(lost) or story.repeats:
            stage.fault(f"{story.part}: {number} tasks more than one, of {len(lost)} messages without an answer")
    for door in stage.doors:
        for slug in {head.agent for head in heads}:
            await _compare_list(stage, door, slug, [head for head in heads if head.agent == slug])


async def _told(stage: Stage, story: Story, head: Head) -> None:
    """Wait until the webhook has been told; if it never is, the comparison says so."""
    deadline = stage.now() + PATIENCE
    while stage.now() < deadline and not await story.is_told(head.pk):  # noqa: ASYNC110
        await asyncio.sleep(0.2)


async def _compare_list(stage: Stage, door: Door, slug: str, heads: list[Head]) -> None:
    """Page through the list of an agent's tasks: each once, as it is."""
    listed: list[Json] = []
    token = ""
    try:
        while True:
            given: Json = {"tenant": slug, "pageSize": PAGE, "includeArtifacts": False}
            page = await door.call("ListTasks", {**given, "pageToken": token} if token else given)
            listed += page.get("tasks", [])
            if not (token := page.get("nextPageToken", "")):
                break
    except (Gone, Refused, Silent) as error:
        stage.fault(f"ListTasks at {door.name}, in peace: {error!r}")
        return
    stage.counts["lists compared"] += 1
    found = sorted((task["id"], task["status"]["state"]) for task in listed)
    if found != [(head.pk, head.state) for head in heads] or page.get("totalSize") != len(heads):
        stage.fault(
            f"ListTasks at {door.name} has {len(listed)} tasks of {slug} (total {page.get('totalSize')}), "
            f"and there are {len(heads)}"
        )
