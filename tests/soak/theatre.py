"""Keeps a number of stories going, decides on those whose process was killed, and closes what is through."""

from __future__ import annotations

import asyncio
import re

from tests.soak.oracle import TERMINAL
from tests.soak.stage import Stage
from tests.soak.stories import PATIENCE, SCRIPTS, Story


class Theatre:
    """See the module; ``size`` stories at a time."""

    def __init__(self, stage: Stage, size: int) -> None:
        self.stage = stage
        self.size = size
        self.stories: list[Story] = []
        self._beginning: set[asyncio.Task[None]] = set()

    async def play(self, seconds: float) -> None:
        """Begin stories for so long."""
        until = self.stage.now() + seconds
        while self.stage.now() < until and not self.stage.over:
            if len(self._beginning) + len(self.stories) < self.size:
                task = asyncio.create_task(self._begin())
                self._beginning.add(task)
                task.add_done_callback(self._begun)
            await asyncio.sleep(self.stage.chance.uniform(0.0, 0.2))

    async def _begin(self) -> None:
        (script,) = self.stage.chance.choices(list(SCRIPTS), list(SCRIPTS.values()))
        story = Story(self.stage, re.sub(r"\{(\d+)-(\d+)\}", self._draw, script))
        if await story.begin():
            self.stage.counts["tasks"] += 1
            story.moved_at = self.stage.now()
            self.stories.append(story)
            story.attend()
        else:
            self.stage.counts["first answers lost"] += 1

    def _draw(self, match: re.Match[str]) -> str:
        return str(self.stage.chance.randint(int(match[1]), int(match[2])))

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
                    self.stage.fault(f"task {story.task_id} ({story.script}) was answered, but there is no row of it")
                    await self._drop(story, rested=False)
                    continue
                if standing.last_seq != story.last_seq:
                    story.last_seq, story.moved_at = standing.last_seq, self.stage.now()
                if not standing.orphaned:
                    story.orphaned_at = None
                if standing.state in TERMINAL:
                    await self._ended(story)
                elif standing.orphaned:
                    await self._orphaned(story)
                elif self.stage.now() - story.moved_at > 2 * PATIENCE:
                    self.stage.fault(f"task {story.task_id} ({story.script}) stands still in {standing.state}")
                    await self._drop(story, rested=True)

    async def _ended(self, story: Story) -> None:
        story.ended_at = story.ended_at or self.stage.now()
        if story.is_done():
            await self._drop(story, rested=False)
        elif self.stage.now() - story.ended_at > PATIENCE:
            self.stage.fault(f"task {story.task_id} ({story.script}) has ended, but not everybody has been told")
            await self._drop(story, rested=True)

    async def _orphaned(self, story: Story) -> None:
        """Its process was killed, or paused for longer than a lease: another one has to take it up."""
        if story.orphaned_at is None:
            story.orphaned_at = self.stage.now()
            self.stage.counts["orphans"] += 1
            if self.stage.chance.random() < 0.3:
                await story.nudge()
        elif self.stage.now() - story.orphaned_at > PATIENCE:
            self.stage.fault(f"task {story.task_id} ({story.script}) has lost its process, and nobody takes it up")
            await self._drop(story, rested=True)

    async def _drop(self, story: Story, *, rested: bool) -> None:
        self.stories.remove(story)
        await story.close(rested=rested)
