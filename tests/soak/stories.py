"""Stories: a task of the scripted agent, those who send it messages, and those who watch it through other processes."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from tests.soak.doors import Door, Gone, Refused, Silent
from tests.soak.oracle import INPUT_REQUIRED, TERMINAL, End, Json, Piece, View, check, check_script
from tests.soak.stage import Stage

#: Scripts of the agent by weight; numbers in braces are drawn.
SCRIPTS: Final = {
    "slow {5-25}": 5.0,
    "burst {20-400}": 3.0,
    "burst {20-200} {100-2000}": 1.0,
    # More than a reader's queue and the buffers on the way hold.
    "burst 2500 300": 0.4,
    "burst 1600 3000": 0.4,
    "pace {100-500} {2-12}": 4.0,
    "ask {1-3}": 2.5,
    "replace {0-600}": 1.0,
    "auth": 0.7,
    "quiet {1-4}": 1.0,
    "echo {1-9}": 1.5,
    "boom {1-4}": 0.5,
    "meta": 0.5,
    "noend": 0.5,
}
#: Seconds after which those who watch a task that has ended must have seen its end, on a busy machine too: longer than
#: a process is paused, and than it takes to notice without a bell.
PATIENCE: Final = 30.0
#: Seconds for which a slow reader reads nothing, all in all.
DAWDLE: Final = 5.0


def texts_of(script: str) -> list[str] | None:
    """Return the texts that an attempt at a script puts into artifacts, None where that depends on the answers."""
    word, *rest = script.split()
    match word:
        case "slow" | "pace":
            return [f"tick-{number}" for number in range(int(rest[0]))]
        case "burst":
            return [f"tick-{number}".ljust(int(rest[1]) if rest[1:] else 0, ".") for number in range(int(rest[0]))]
        case "ask":
            return None
    return {"replace": ["v1", "+v2", "v3"], "auth": ["authorised"], "quiet": ["awake"], "echo": rest}.get(word, [])


def message(text: str, task_id: str = "") -> Json:
    """Return the parameters of a SendMessage."""
    wire: Json = {"messageId": uuid.uuid4().hex, "role": "ROLE_USER", "parts": [{"text": text}]}
    return {"message": {**wire, "taskId": task_id} if task_id else wire}


@dataclass(eq=False)
class Story:
    """One task. ``task_id`` is known after the first answer; a story whose first answer got lost is none."""

    stage: Stage
    script: str
    task_id: str = ""
    views: list[View] = field(default_factory=list)
    home: str = ""
    ended_at: float | None = None
    moved_at: float = 0.0
    last_seq: int = -1
    orphaned_at: float | None = None
    _workers: set[asyncio.Task[None]] = field(default_factory=set)

    def is_done(self) -> bool:
        """Whether all who took part are through."""
        return all(worker.done() for worker in self._workers)

    # ------------------------------------------------------------------------------------------------ beginning

    async def begin(self) -> bool:
        """Send the first message in one of the possible ways; returns whether there is a task to follow."""
        way = self.stage.chance.choice(("stream", "stream", "now", "blocking"))
        if way == "blocking" and not self.script.startswith(("echo", "meta", "noend")):
            way = "now"
        door = self.stage.door()
        self.home = door.name
        view = self._view("sender")
        if way == "stream":
            self._spawn(self._follow(view, first=(door, message(self.script))))
            while not self.task_id and not self.is_done():  # noqa: ASYNC110 - the follower is no event of this class
                await asyncio.sleep(0.01)
            return bool(self.task_id)
        params = message(self.script)
        if way == "now":
            params["configuration"] = {"returnImmediately": True}
        task = await self._ask(view, door, "SendMessage", params)
        if task is None:
            return False
        self.task_id = task["id"]
        return True

    def attend(self) -> None:
        """Let the others come: those who watch, and who answers the questions of ``ask``."""
        chance = self.stage.chance
        if self.script.startswith("ask"):
            self._spawn(self._answer_questions())
        for number in range(30 if chance.random() < 0.03 else chance.randint(1, 4)):
            self._spawn(self._watch(self._view(f"watcher {number + 1}"), chance.uniform(0, 1.5)))

    async def _watch(self, view: View, delay: float) -> None:
        await asyncio.sleep(delay)
        await self._follow(view)

    # ------------------------------------------------------------------------------------------------ taking part

    async def _follow(self, view: View, first: tuple[Door, Json] | None = None) -> None:
        """Read the task to its end, over as many connections as it takes."""
        while True:
            if first is not None:
                (door, params), first = first, None
                piece = await self._read(view, door, "SendStreamingMessage", params)
                if not self.task_id:
                    return
            else:
                away = self.home if self.stage.chance.random() < 0.8 else ""
                piece = await self._read(view, self.stage.door(away), "SubscribeToTask", {"id": self.task_id})
            if piece is None or piece.state() in TERMINAL:
                await self._see_end(view)
                return
            if piece.end is End.BROKEN:
                await asyncio.sleep(self.stage.chance.uniform(0.05, 0.5))

    async def _read(self, view: View, door: Door, method: str, params: Json) -> Piece | None:
        """Read one connection; None when the task has ended already."""
        chance, counts = self.stage.chance, self.stage.counts
        piece = Piece(door.name, method)
        view.pieces.append(piece)
        stays = chance.uniform(0.2, 8.0) if chance.random() < 0.3 else None
        if self.script.startswith("pace") and chance.random() < 0.8:
            stays = chance.uniform(0.02, 0.5)  # come and go while much happens
        slow = chance.random() < (0.5 if self.script.startswith(("burst 2500", "burst 1600")) else 0.15)
        dawdle = DAWDLE if slow else 0.0
        counts["connections"] += 1
        try:
            async with asyncio.timeout(stays), aclosing(door.stream(method, params, slow=slow)) as events:
                async for event in events:
                    if piece.snapshot is None:
                        piece.snapshot = event.get("task")
                        if piece.snapshot is None:
                            self._fault(f"the first event of {method} at {door.name} is no task", event=event)
                            return piece
                        self.task_id = self.task_id or piece.snapshot["id"]
                    else:
                        piece.events.append(event)
                        counts["events"] += 1
                    if dawdle > 0 and chance.random() < 0.05:
                        pause = chance.uniform(0.2, 1.5)
                        dawdle -= pause
                        await asyncio.sleep(pause)
            piece.end = End.ENDED
        except TimeoutError:
            piece.end = End.LEFT
            counts["left"] += 1
        except Gone:
            piece.end = End.BROKEN
            counts["broken"] += 1
        except Refused as error:
            piece.end = End.BROKEN
            if error.reason == "UNSUPPORTED_OPERATION" and piece.snapshot is None:
                return None
            self._fault(f"{method} at {door.name}: {error}")
            await asyncio.sleep(1)
        except Silent as error:
            piece.end = End.BROKEN
            self._fault(str(error))
        return piece

    async def _see_end(self, view: View) -> None:
        """The task has ended: get it from any process."""
        while True:
            task = await self._ask(view, self.stage.door(), "GetTask", {"id": self.task_id})
            if task is not None:
                view.pieces[-1].complete = True
                if task["status"]["state"] not in TERMINAL:
                    self._fault(f"{view.name} was told that the task had ended; it is {task['status']['state']}")
                return
            await asyncio.sleep(0.2)

    async def _answer_questions(self) -> None:
        view = self._view("answerer")
        while True:
            task = await self._ask(view, self.stage.door(), "GetTask", {"id": self.task_id})
            state = task["status"]["state"] if task else ""
            if state in TERMINAL:
                return
            if state == INPUT_REQUIRED:
                await self._ask(view, self.stage.door(), "SendMessage", message("red", self.task_id))
            await asyncio.sleep(self.stage.chance.uniform(0.1, 0.6))

    async def nudge(self) -> None:
        """Send a message to a task whose process is lost, or cancel it, while others may be taking it up."""
        if self.stage.chance.random() < 0.5:
            self.stage.counts["orphans cancelled"] += 1
            await self._ask(self._view("canceller"), self.stage.door(), "CancelTask", {"id": self.task_id})
        else:
            self.stage.counts["orphans sent a message"] += 1
            params = {**message("go on", self.task_id), "configuration": {"returnImmediately": True}}
            await self._ask(self._view("nudger"), self.stage.door(), "SendMessage", params)

    async def _ask(self, view: View, door: Door, method: str, params: Json) -> Json | None:
        """Make a call and keep the task it gives; None when there was no answer."""
        self.stage.counts["calls"] += 1
        try:
            answer = await door.call(method, params)
        except Gone:
            return None
        except Refused as error:
            # The task may have ended while the call was on its way.
            if not (self.task_id and error.reason in ("UNSUPPORTED_OPERATION", "TASK_NOT_CANCELABLE")):
                self._fault(f"{method} at {door.name}: {error}")
            return None
        except Silent as error:
            self._fault(str(error))
            return None
        task: Json | None = answer.get("task") if method == "SendMessage" else answer
        if task is None:
            self._fault(f"{method} at {door.name} gave no task", answer=answer)
            return None
        view.pieces.append(Piece(door.name, method, task, end=End.LEFT))
        return task

    # ------------------------------------------------------------------------------------------------ the end

    async def close(self, *, rested: bool) -> None:
        """End the connections that are open; ``rested``: nothing has happened for a while, they must have it all.

        Then compare everything with the rows.
        """
        for view in self.views:
            if rested and view.pieces and view.pieces[-1].end is End.OPEN and view.pieces[-1].snapshot:
                view.pieces[-1].complete = True
                self.stage.counts["watched to the last"] += 1
        for worker in self._workers:
            worker.cancel()
        for outcome in await asyncio.gather(*self._workers, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome
        record = await self.stage.rows.record(self.task_id)
        self.stage.counts["tasks compared"] += 1
        self.stage.counts["streams compared"] += len(self.views)
        problems = list(check(self.views, record))
        if (texts := texts_of(self.script)) is not None:
            problems += check_script(texts, record)
        if problems:
            self._fault("; ".join(problems), rows=vars(record), views=self.views_as_json())

    def views_as_json(self) -> list[Any]:
        """Return what was seen, for a file."""
        return [{"name": view.name, "pieces": [vars(piece) for piece in view.pieces]} for view in self.views]

    def _view(self, name: str) -> View:
        self.views.append(View(name))
        return self.views[-1]

    def _spawn(self, work: Any) -> None:
        self._workers.add(asyncio.create_task(work))

    def _fault(self, text: str, **evidence: Any) -> None:
        self.stage.fault(f"task {self.task_id} ({self.script}): {text}", **evidence)
