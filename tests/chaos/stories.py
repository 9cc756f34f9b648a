"""Stories: a task, those who send it messages, and those who watch it through other processes."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from tests.chaos.accounts import Script, check_accounts, check_history
from tests.chaos.doors import Door, Gone, Json, Refused, Silent
from tests.chaos.messages import params
from tests.chaos.oracle import INPUT_REQUIRED, TERMINAL, End, Piece, View, check
from tests.chaos.pushes import check_pushes, told
from tests.chaos.scripts import BIG, LONG, SHORT, Part
from tests.chaos.stage import Stage
from tests.push.receiver import Answer, Hook

#: Seconds after which those who watch a task that has ended must have seen its end, on a busy machine too: longer than
#: a process is paused, and than it takes to notice without a bell.
PATIENCE: Final = 45.0
#: Seconds for which a slow reader reads nothing, all in all.
DAWDLE: Final = 5.0
#: Seconds for which the first message is sent again while its answers are lost, or processes have no room for a run.
SENDING: Final = 120.0


@dataclass(eq=False)
class Story:
    """One task. Its first message is sent again as long as no task is known to have come of it: as it was, where the
    agent gives the same task to the same message (``repeats``), else after a look at the tasks of ``context_id``.
    ``sent`` has the ids of all messages and whether their arrival was confirmed."""

    stage: Stage
    part: Part
    task_id: str = ""
    context_id: str = field(default_factory=lambda: f"chaos-{uuid.uuid4().hex}")
    sent: dict[str, bool] = field(default_factory=dict)
    views: list[View] = field(default_factory=list)
    hook: Hook | None = None
    cancelled: bool = False
    repeats: bool = False
    ended_at: float | None = None
    moved_at: float = 0.0
    last_seq: int = -1
    orphaned_at: float | None = None
    _home: str = ""
    _workers: set[asyncio.Task[None]] = field(default_factory=set)

    def heard_at(self) -> float:
        """Return when the webhook was told of something last, by the clock of the stage."""
        if self.hook is None or not self.hook.posts:
            return 0.0
        return self.hook.posts[-1].at - self.stage.started

    async def is_done(self) -> bool:
        """Whether all who took part are through, the webhook among them."""
        return all(worker.done() for worker in self._workers) and await self.is_told(self.task_id)

    async def is_told(self, task_id: str) -> bool:
        """Whether the webhook has been told of all that has happened to a task."""
        if self.hook is None:
            return True
        events = (await self.stage.rows.record(task_id)).events
        return not list(check_pushes(events, told(self.hook, task_id)))

    # ------------------------------------------------------------------------------------------------ beginning

    async def begin(self) -> bool:
        """Bring the task into being; returns whether it worked."""
        chance = self.stage.chance
        way = chance.choice(("stream", "stream", "now", "blocking"))
        if way == "blocking" and not self.part.is_any_of(SHORT):
            way = "now"
        if not self.part.is_any_of(("once", *BIG)) and chance.random() < 0.3:
            shaky: list[Answer] = [chance.choice((500, 503, 200, 200, 0.1)) for _ in range(6)]
            self.hook = self.stage.receiver.hook(*(shaky if chance.random() < 0.4 else ()), 200)
        configuration: Json = {}
        if way == "now":
            configuration["returnImmediately"] = True
        if self.hook is not None:
            configuration["taskPushNotificationConfig"] = {"url": self.hook.url}
        self.repeats = self.part.repeats and (self.part.slug != "talker" or chance.random() < 0.5)
        message: Json | None = None
        until = self.stage.now() + SENDING
        while self.stage.now() < until:
            door = self.stage.door()
            self._home = door.process
            if message is None or not self.repeats:
                message = self._message(self.part.script, context_id=self.context_id, configuration=configuration)
            else:
                self.stage.counts["first messages repeated as they were"] += 1
            if way == "stream":
                await self._open(door, message)
            elif (task := await self._ask(self._view("sender"), door, "SendMessage", message)) is not None:
                self.task_id = task["id"]
            if self.task_id or (not self.repeats and await self._found()):
                return True
            await asyncio.sleep(chance.uniform(0.1, 0.6))
        return False

    async def _open(self, door: Door, message: Json) -> None:
        """Send the first message for a stream and wait for the task in front."""
        self._spawn(self._follow(self._view("sender"), first=(door, message)))
        while not self.task_id and not all(worker.done() for worker in self._workers):  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def _found(self) -> bool:
        """Look whether a task has come of a message whose answer was lost; the task of an earlier one is as good."""
        while True:
            door = self.stage.door()
            listing = await self._call(door, "ListTasks", {"tenant": self.part.slug, "contextId": self.context_id})
            if listing is not None:
                break
            await asyncio.sleep(0.2)
        if not listing.get("tasks"):
            self.stage.counts["first messages sent again"] += 1
            return False
        self.stage.counts["tasks found by a list"] += 1
        self.task_id = listing["tasks"][0]["id"]
        return True

    def attend(self) -> None:
        """Let the others come: those who watch, who answers questions, who cancels."""
        chance = self.stage.chance
        if self.part.word == "ask":
            self._spawn(self._answer_questions())
        if self.part.is_any_of(LONG):
            self._spawn(self._cancel(chance.uniform(0.3, 6.0)))
        for number in range(30 if chance.random() < 0.03 else chance.randint(1, 4)):
            self._spawn(self._watch(self._view(f"watcher {number + 1}"), chance.uniform(0, 1.5)))

    async def _watch(self, view: View, delay: float) -> None:
        await asyncio.sleep(delay)
        await self._follow(view)

    # ------------------------------------------------------------------------------------------------ reading

    async def _follow(self, view: View, first: tuple[Door, Json] | None = None) -> None:
        """Read the task to its end, over as many connections as it takes."""
        chance = self.stage.chance
        while True:
            if first is not None:
                (door, message), first = first, None
                piece = await self._read(view, door, "SendStreamingMessage", message)
                if piece is not None and piece.snapshot is not None:
                    self.sent[message["message"]["messageId"]] = True
                if not self.task_id or piece is None or piece.snapshot is None:
                    return
            else:
                door = self.stage.door(self._home if chance.random() < 0.8 else "")
                named = {"tenant": self.part.slug, "id": self.task_id}
                piece = await self._read(view, door, "SubscribeToTask", named, after=self._last(view, door))
            if piece is None or piece.state() in TERMINAL:
                await self._see_end(view)
                return
            if piece.end is End.BROKEN:
                await asyncio.sleep(chance.uniform(0.05, 0.5))

    def _last(self, view: View, door: Door) -> int | None:
        """Return the number of the last event that the reader has seen, if it wants to go on after that."""
        if not door.numbered or self.stage.chance.random() < 0.3:
            return None
        pieces = [piece for piece in view.pieces if piece.snapshot is not None]
        return pieces[-1].numbers[-1] if pieces else None

    async def _read(self, view: View, door: Door, method: str, message: Json, after: int | None = None) -> Piece | None:
        """Read one connection; None when the task has ended already."""
        chance, counts = self.stage.chance, self.stage.counts
        piece = Piece(door.name, method, after=after)
        view.pieces.append(piece)
        counts["connections that went on after an event"] += after is not None
        stays = chance.uniform(0.2, 8.0) if chance.random() < 0.3 else None
        if self.part.word == "pace" and chance.random() < 0.8:
            stays = chance.uniform(0.02, 0.5)  # come and go while much happens
        slow = chance.random() < (0.5 if self.part.is_any_of(BIG) else 0.15)
        dawdle = DAWDLE if slow else 0.0
        counts["connections"] += 1
        try:
            async with (
                asyncio.timeout(stays),
                aclosing(door.stream(method, message, slow=slow, after=after)) as events,
            ):
                async for number, event in events:
                    piece.numbers.append(number)
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
            if not self.stage.excused(error):
                self._fault(f"{method} at {door.name}: {error}")
            await asyncio.sleep(0.5)
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

    # ------------------------------------------------------------------------------------------------ taking part

    async def _answer_questions(self) -> None:
        view = self._view("answerer")
        while True:
            task = await self._ask(view, self.stage.door(), "GetTask", {"id": self.task_id})
            state = task["status"]["state"] if task else ""
            if state in TERMINAL:
                return
            if state == INPUT_REQUIRED:
                way = self.stage.chance.choice(({}, {"returnImmediately": True}))
                message = self._message("red", task_id=self.task_id, configuration=way)
                await self._ask(view, self.stage.door(), "SendMessage", message)
            await asyncio.sleep(self.stage.chance.uniform(0.1, 0.6))

    async def _cancel(self, delay: float) -> None:
        """Cancel the task, until it is known that it has ended."""
        view = self._view("canceller")
        await asyncio.sleep(delay)
        self.cancelled = True
        while True:
            await self._ask(view, self.stage.door(), "CancelTask", {"id": self.task_id})
            task = await self._ask(view, self.stage.door(), "GetTask", {"id": self.task_id})
            if task is not None and task["status"]["state"] in TERMINAL:
                return
            await asyncio.sleep(0.2)

    async def nudge(self) -> None:
        """Send a message to a task whose process is lost, or cancel it, while others may be taking it up."""
        if self.stage.chance.random() < 0.5:
            self.stage.counts["orphans cancelled"] += 1
            self.cancelled = True
            await self._ask(self._view("nudger"), self.stage.door(), "CancelTask", {"id": self.task_id})
        else:
            self.stage.counts["orphans sent a message"] += 1
            message = self._message("go on", task_id=self.task_id, configuration={"returnImmediately": True})
            await self._ask(self._view("nudger"), self.stage.door(), "SendMessage", message)

    def _message(self, text: str, **members: Any) -> Json:
        """Return the parameters of a SendMessage; whether it arrives is not known yet."""
        message = params(self.part.slug, text, **members)
        self.sent[message["message"]["messageId"]] = False
        return message

    async def _ask(self, view: View, door: Door, method: str, given: Json) -> Json | None:
        """Make a call and keep the task it gives; None when there was no answer."""
        answer = await self._call(door, method, {"tenant": self.part.slug, **given})
        if answer is None:
            return None
        task: Json | None = answer.get("task") if method == "SendMessage" else answer
        if task is None:
            self._fault(f"{method} at {door.name} gave no task", answer=answer)
            return None
        if method == "SendMessage":
            self.sent[given["message"]["messageId"]] = True
        view.pieces.append(Piece(door.name, method, task, end=End.LEFT))
        return task

    async def _call(self, door: Door, method: str, given: Json) -> Json | None:
        """Return the answer, None when there was none, or one that may be given."""
        self.stage.counts["calls"] += 1
        try:
            return await door.call(method, given)
        except Gone:
            return None
        except Refused as error:
            # The task may have ended while the call was on its way.
            late = self.task_id and error.reason in ("UNSUPPORTED_OPERATION", "TASK_NOT_CANCELABLE")
            if not late and not self.stage.excused(error):
                self._fault(f"{method} at {door.name}: {error}")
            return None
        except Silent as error:
            self._fault(str(error))
            return None

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
        await self.compare(self.task_id, self.views)

    async def compare(self, task_id: str, views: list[View]) -> None:
        """Compare a task that has come of the story with what was seen, written down and sent."""
        record = await self.stage.rows.record(task_id)
        books = await self.stage.rows.books(task_id)
        own = task_id == self.task_id
        sent = self.sent if own else dict.fromkeys(self.sent, False)
        script = Script(self.part.slug, self.part.max_attempts, self.part.word == "boom", self.cancelled)
        problems = [*check(views, record), *check_accounts(record, script, books), *check_history(record, sent)]
        if self.hook is not None:
            problems += check_pushes(record.events, told(self.hook, task_id))
            self.stage.counts["notifications"] += len(told(self.hook, task_id))
        counts = self.stage.counts
        counts["tasks compared"] += 1
        counts["streams compared"] += len(views)
        counts["attempts"] += len(books.accounts)
        counts[f"ended {record.state.removeprefix('TASK_STATE_')}"] += 1
        if problems:
            evidence = {"rows": vars(record), "books": books, "sent": sent, "views": views}
            self.stage.fault(f"task {task_id} ({self.part}): {'; '.join(problems)}", **evidence)

    def _view(self, name: str) -> View:
        self.views.append(View(name))
        return self.views[-1]

    def _spawn(self, work: Any) -> None:
        self._workers.add(asyncio.create_task(work))

    def _fault(self, text: str, **evidence: Any) -> None:
        self.stage.fault(f"task {self.task_id} ({self.part}): {text}", **evidence)
