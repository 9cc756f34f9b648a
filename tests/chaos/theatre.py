"""Begins stories, decides on those whose process was killed, and closes what is through."""

from __future__ import annotations

import asyncio
import traceback

from tests.chaos.oracle import TERMINAL
from tests.chaos.rows import Standing
from tests.chaos.scripts import Part
from tests.chaos.stage import Stage
from tests.chaos.stories import PATIENCE, Story

#: Stories at a time; more wait, so that a slow machine is not drowned.
MOST = 30
#: Seconds after which a task that waits for its sender counts as at rest: all who watch it must have seen the last
#: event by then, also through a process that was paused and without bells.
REST = 20.0


class Theatre:
    """See the module; ``tasks`` stories all in all."""

    def __init__(self, stage: Stage, tasks: int) -> None:
        self.stage = stage
        self.tasks = tasks
        self.stories: list[Story] = []
        #: All that have been begun, by their contexts.
        self.known: dict[str, Story] = {}
        self._beginning: set[asyncio.Task[None]] = set()

    async def play(self, seconds: float) -> None:
        """Begin the stories, evenly over the time."""
        begun = self.stage.now()
        for number in range(self.tasks):
            due = begun + seconds * number / self.tasks
            await asyncio.sleep(max(0.0, due - self.stage.now()))
            while len(self._beginning) + len(self.stories) >= MOST and not self.stage.over:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            if self.stage.over:
                return
            task = asyncio.create_task(self._begin())
            self._beginning.add(task)
            task.add_done_callback(self._begun)

    async def _begin(self) -> None:
        story = Story(self.stage, Part.drawn(self.stage.chance))
        self.known[story.context_id] = story
        if await story.begin():
            self.stage.counts["tasks"] += 1
            story.moved_at = self.stage.now()
            self.stories.append(story)
            story.attend()
        else:
            self.stage.fault(f"no process takes the first message of a task ({story.part})")

    def _begun(self, task: asyncio.Task[None]) -> None:
        self._beginning.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.stage.fault(f"a story could not begin: {error!r}")

    async def supervise(self) -> None:
        """Look after the stories until there are none and none may begin any more."""
        while self.stories or self._beginning or not self.stage.over:
            await asyncio.sleep(0.5)
            stories = list(self.stories)
            standings = await self.stage.rows.standings([story.task_id for story in stories])
            for story in stories:
                standing = standings.get(story.task_id)
                if standing is None:
                    self.stage.fault(f"task {story.task_id} ({story.part}) was answered, but there is no row of it")
                    self.stories.remove(story)
                    continue
                try:
                    await self._look_after(story, standing)
                except Exception as error:
                    self.stage.fault(f"task {story.task_id} ({story.part}): {error!r}\n{traceback.format_exc()}")
                    if story in self.stories:
                        self.stories.remove(story)

    async def _look_after(self, story: Story, standing: Standing) -> None:
        if standing.last_seq != story.last_seq:
            story.last_seq, story.moved_at = standing.last_seq, self.stage.now()
        if not standing.orphaned:
            story.orphaned_at = None
        if standing.state in TERMINAL:
            await self._ended(story)
        elif standing.orphaned:
            await self._orphaned(story)
        elif story.part.rests and not standing.held:
            await self._rests(story)
        elif self.stage.now() - story.moved_at > 2 * PATIENCE:
            self.stage.fault(f"task {story.task_id} ({story.part}) stands still in {standing.state}")
            await self._drop(story, rested=True)

    async def _rests(self, story: Story) -> None:
        quiet = self.stage.now() - max(story.moved_at, story.heard_at())
        if quiet > REST and (quiet > PATIENCE or await story.is_told(story.task_id)):
            await self._drop(story, rested=True)

    async def _ended(self, story: Story) -> None:
        story.ended_at = story.ended_at or self.stage.now()
        if await story.is_done():
            await self._drop(story, rested=False)
        elif self.stage.now() - max(story.ended_at, story.heard_at()) > PATIENCE:
            self.stage.fault(f"task {story.task_id} ({story.part}) has ended, but not everybody has been told")
            await self._drop(story, rested=True)

    async def _orphaned(self, story: Story) -> None:
        """Its process was killed, or paused for longer than a lease: another one has to take it up."""
        if story.orphaned_at is None:
            story.orphaned_at = self.stage.now()
            self.stage.counts["orphans"] += 1
            if self.stage.chance.random() < 0.3:
                await story.nudge()
        elif self.stage.now() - story.orphaned_at > PATIENCE:
            self.stage.fault(f"task {story.task_id} ({story.part}) has lost its process, and nobody takes it up")
            await self._drop(story, rested=True)

    async def _drop(self, story: Story, *, rested: bool) -> None:
        self.stories.remove(story)
        await story.close(rested=rested)
