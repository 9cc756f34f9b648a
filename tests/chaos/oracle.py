"""What clients have seen of one task, and whether the journal's rows say the same.

Written without the package's own code for folding and snapshots, for it has to find their faults.

gRPC gives no numbers, so they are found out: a snapshot is the task after its first n events, for the n at which
all of it agrees; what follows on the same connection has to be the events n + 1, n + 2, ... . On the next connection,
through whatever process, the client must not be thrown back behind what it has seen. Where there are numbers, they have
to be those; and whoever names the last one that it has seen has to get what comes after it, and only that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

Json = dict[str, Any]

SUBMITTED: Final = "TASK_STATE_SUBMITTED"
INPUT_REQUIRED: Final = "TASK_STATE_INPUT_REQUIRED"
TERMINAL: Final = frozenset(f"TASK_STATE_{name}" for name in ("COMPLETED", "FAILED", "CANCELED", "REJECTED"))


class End(Enum):
    """How a connection ended."""

    OPEN = "open"
    BROKEN = "broken"
    LEFT = "left"
    ENDED = "ended"


@dataclass(eq=False)
class Piece:
    """What one connection gave: a snapshot, then events; ``numbers`` has those of all of them. ``after``: the event
    that was named as the last one seen. ``complete``: at this time the task was known to have ended or to have rested
    for a while, so that it must all be there."""

    door: str
    method: str
    snapshot: Json | None = None
    events: list[Json] = field(default_factory=list)
    end: End = End.OPEN
    complete: bool = False
    after: int | None = None
    numbers: list[int | None] = field(default_factory=list)

    def state(self) -> str:
        """Return the last state that the client has seen, "" before the first."""
        for event in reversed(self.events):
            if "statusUpdate" in event:
                return str(event["statusUpdate"]["status"]["state"])
        return str(self.snapshot["status"]["state"]) if self.snapshot else ""

    def __str__(self) -> str:
        return f"{self.method} at {self.door}, {len(self.events)} events, {self.end.value}"


@dataclass
class View:
    """What one client has seen of a task, connection by connection."""

    name: str
    pieces: list[Piece] = field(default_factory=list)


@dataclass
class Record:
    """A task as its rows say it is: events in the order of their numbers, each with its attempt, and the history."""

    state: str
    events: list[Json]
    attempts: list[int]
    history: list[Json]


class Replay:
    """The task after its first ``seq`` events."""

    def __init__(self) -> None:
        self.seq = 0
        self.status: Json = {"state": SUBMITTED}
        self.metadata: Json = {}
        self.artifacts: dict[str, Json] = {}

    def apply(self, event: Json) -> None:
        """Take the next event."""
        self.seq += 1
        if (update := event.get("statusUpdate")) is not None:
            self.status = update["status"]
            self.metadata |= update.get("metadata", {})
            return
        update = event["artifactUpdate"]
        new = update["artifact"]
        old = self.artifacts.get(new["artifactId"])
        if old is None or not update.get("append"):
            self.artifacts[new["artifactId"]] = {**new, "parts": list(new["parts"])}
            return
        old["parts"] += new["parts"]
        for name, value in new.items():
            if name == "metadata":
                old["metadata"] = {**old.get("metadata", {}), **value}
            elif name != "parts":
                old[name] = value

    def agrees(self, task: Json) -> bool:
        """Whether ``task`` is the task as it is now; the history apart."""
        status, expected = task["status"], self.status
        if "timestamp" not in expected:
            status = {"state": status["state"]}
        asked = expected.get("message")
        if asked is not None and "message" not in status and asked in task.get("history", []):
            # A message has come since, and with it the question has gone into the history.
            expected = {name: value for name, value in expected.items() if name != "message"}
        artifacts = task.get("artifacts", [])
        return (
            status == expected
            and len(artifacts) == len(self.artifacts)
            and all(len(artifact["parts"]) == len(self._parts(artifact)) for artifact in artifacts)
            and artifacts == list(self.artifacts.values())
            and task.get("metadata", {}) == self.metadata
        )

    def has_status(self, task: Json) -> bool:
        """Whether ``task`` has the status of now, and nothing of what there is beside it."""
        status, expected = task["status"], self.status
        if "timestamp" not in expected:
            status = {"state": status["state"]}
        bare = {name: value for name, value in expected.items() if name != "message"}
        return status in (expected, bare) and not task.get("artifacts") and not task.get("history")

    def _parts(self, artifact: Json) -> list[Json]:
        found: list[Json] = self.artifacts.get(artifact["artifactId"], {}).get("parts", [])
        return found


def check(views: list[View], record: Record) -> Iterator[str]:
    """Yield what is wrong."""
    pieces = [piece for view in views for piece in view.pieces if piece.snapshot is not None]
    stands: dict[Piece, list[int]] = {piece: [] for piece in pieces}
    replay = Replay()
    for event in (None, *record.events):
        if event is not None:
            replay.apply(event)
        for piece in pieces:
            if piece.snapshot is None:
                continue
            if piece.after is not None:
                if replay.seq >= piece.after and replay.has_status(piece.snapshot):
                    stands[piece] = [piece.after]
            elif replay.agrees(piece.snapshot):
                stands[piece].append(replay.seq)
    for view in views:
        yield from _check_view(view, record, stands)


def _check_view(view: View, record: Record, stands: dict[Piece, list[int]]) -> Iterator[str]:
    last = len(record.events)
    floors = [0]
    for number, piece in enumerate(view.pieces, 1):
        where = f"{view.name}, connection {number} ({piece})"
        if piece.snapshot is None:
            if piece.events or piece.end is End.ENDED:
                yield f"{where}: no task came first"
            continue
        if not stands[piece]:
            yield f"{where}: the snapshot is the task at no time"
            return
        history = piece.snapshot.get("history", [])
        if history != record.history[: len(history)]:
            yield f"{where}: the history is not that of the rows"
        follow = [n for n in stands[piece] if record.events[n : n + len(piece.events)] == piece.events]
        if follow and any(number is not None for number in piece.numbers):
            counted = [n for n in follow if piece.numbers == list(range(n, n + len(piece.events) + 1))]
            if not counted:
                yield f"{where}: the numbers are {piece.numbers}, the events those from {follow} on"
            follow = counted or follow
        if not follow:
            yield f"{where}: {_difference(piece, record, stands[piece])}"
            return
        later = [n for n in follow if n >= min(floors)]
        if not later:
            yield f"{where}: the snapshot is of event {follow[-1]}, but {min(floors)} events had been seen before"
            return
        floors = [n + len(piece.events) for n in later]
        state = piece.state()
        if piece.end is End.ENDED and state not in TERMINAL:
            parked = piece.method == "SendStreamingMessage" and state == INPUT_REQUIRED
            if not parked:
                yield f"{where}: the stream ended by itself in {state}"
        if (piece.complete or state in TERMINAL) and last not in floors:
            yield f"{where}: it stopped at event {floors[-1]} of {last}"


def _difference(piece: Piece, record: Record, stands: list[int]) -> str:
    """Describe where the events of a connection part from the rows."""
    start = stands[0]
    for at, event in enumerate(piece.events):
        if start + at >= len(record.events):
            return f"event {start + at + 1} is not in the rows, which have {len(record.events)}"
        if event != record.events[start + at]:
            others = [number for number, one in enumerate(record.events, 1) if one == event]
            came = f"event {others}" if others else "an unknown event"
            return f"after the snapshot at {start}, in the place of event {start + at + 1} came {came}"
    return "the events are right"
