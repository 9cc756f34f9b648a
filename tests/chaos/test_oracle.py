"""The judge of the chaos finds what it is there to find."""

from __future__ import annotations

from typing import Any

import pytest

from tests.chaos.oracle import End, Piece, Record, View, check

USER = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "slow 3"}]}


def status(state: str, at: int, message: dict[str, Any] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"state": f"TASK_STATE_{state}", "timestamp": f"2026-11-30T00:00:{at:02}.000Z"}
    return {"statusUpdate": {"status": {**found, "message": message} if message else found}}


def chunk(text: str, *, append: bool = True) -> dict[str, Any]:
    update = {"artifact": {"artifactId": "ticks", "parts": [{"text": text}]}}
    return {"artifactUpdate": {**update, "append": True} if append else update}


QUESTION = {"messageId": "m-2", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}
EVENTS = [
    status("WORKING", 1),
    chunk("a", append=False),
    chunk("b"),
    chunk("a", append=False),  # another attempt says the same again
    chunk("b"),
    status("COMPLETED", 6),
]


def record(events: list[dict[str, Any]] = EVENTS) -> Record:
    return Record(events[-1]["statusUpdate"]["status"]["state"], events, [1, 1, 1, 2, 2, 2], [USER])


def snapshot(seq: int, **members: Any) -> dict[str, Any]:
    """The task after its first events, put together by hand."""
    texts = [[], [], ["a"], ["a", "b"], ["a"], ["a", "b"], ["a", "b"]][seq]
    state = {"state": "TASK_STATE_SUBMITTED", "timestamp": "2026-11-30T00:00:00.000Z"}
    if seq:
        state = EVENTS[5 if seq == 6 else 0]["statusUpdate"]["status"]
    task: dict[str, Any] = {"status": state, "history": [USER]}
    if texts:
        task["artifacts"] = [{"artifactId": "ticks", "parts": [{"text": text} for text in texts]}]
    return {**task, **members}


def piece(seq: int, *events: dict[str, Any], end: End = End.BROKEN, **members: Any) -> Piece:
    return Piece("door", members.pop("method", "SubscribeToTask"), snapshot(seq), list(events), end, **members)


def problems(*pieces: Piece, rows: Record | None = None) -> str:
    return "; ".join(check([View("somebody", list(pieces))], rows or record()))


@pytest.mark.parametrize(
    "pieces",
    [
        [piece(0, *EVENTS, end=End.ENDED)],
        [piece(3, *EVENTS[3:], end=End.ENDED)],
        [piece(2, *EVENTS[2:4]), piece(4), piece(4, *EVENTS[4:], end=End.ENDED), piece(6)],
        [piece(0, *EVENTS[:3]), piece(5, end=End.LEFT), piece(5, EVENTS[5], end=End.ENDED)],
        [piece(1, end=End.OPEN)],
        [Piece("door", "SubscribeToTask")],
    ],
    ids=["whole", "from any event", "over connections", "what came between is in the snapshot", "waiting", "nothing"],
)
def test_what_is_right_is_right(pieces: list[Piece]) -> None:
    assert problems(*pieces) == ""


@pytest.mark.parametrize(
    ("pieces", "word"),
    [
        ([piece(0, *EVENTS[:2], *EVENTS[3:], end=End.ENDED)], "in the place of event 3 came"),
        ([piece(0, *EVENTS[:2], EVENTS[1], *EVENTS[2:], end=End.ENDED)], "in the place of event 3 came"),
        ([piece(0, EVENTS[1], EVENTS[0], *EVENTS[2:], end=End.ENDED)], "in the place of event 1 came"),
        ([piece(2, *EVENTS[1:], end=End.ENDED)], "in the place of event 3 came"),
        ([piece(3, *EVENTS[4:], end=End.ENDED)], "in the place of event"),
        ([piece(0, *EVENTS, status("FAILED", 7), end=End.ENDED)], "event 7 is not in the rows"),
        ([piece(6), piece(1)], "6 events had been seen before"),
        ([piece(0, *EVENTS[:3]), piece(1, *EVENTS[1:], end=End.ENDED)], "3 events had been seen before"),
        ([piece(0, *EVENTS[:3], end=End.ENDED)], "ended by itself in TASK_STATE_WORKING"),
        ([piece(0, *EVENTS[:3], end=End.OPEN, complete=True)], "stopped at event 3 of 6"),
        (
            [Piece("door", "GetTask", snapshot(3, artifacts=[{"artifactId": "ticks", "parts": [{"text": "b"}]}]))],
            "the task at no time",
        ),
        ([Piece("door", "GetTask", snapshot(6, metadata={"a": 1}))], "the task at no time"),
        ([Piece("door", "GetTask", snapshot(6, history=[QUESTION]))], "the history is not that of the rows"),
        ([Piece("door", "SubscribeToTask", None, [EVENTS[0]])], "no task came first"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_found(pieces: list[Piece], word: str) -> None:
    assert word in problems(*pieces)


def test_a_question_goes_into_the_history_when_the_answer_comes() -> None:
    events = [status("WORKING", 1), status("INPUT_REQUIRED", 2, QUESTION), status("WORKING", 3)]
    rows = Record("TASK_STATE_WORKING", events, [1, 1, 2], [USER, QUESTION])
    asked = events[1]["statusUpdate"]["status"]
    bare = {name: value for name, value in asked.items() if name != "message"}
    before = Piece("door", "GetTask", {"status": asked, "history": [USER]})
    after = Piece("door", "GetTask", {"status": bare, "history": [USER, QUESTION]})
    lost = Piece("door", "GetTask", {"status": bare, "history": [USER]})
    assert problems(before, after, rows=rows) == ""
    assert "at no time" in problems(lost, rows=rows)


def test_only_the_stream_of_a_message_ends_at_a_question() -> None:
    events = [status("INPUT_REQUIRED", 1, QUESTION)]
    rows = Record("TASK_STATE_INPUT_REQUIRED", events, [1], [USER])
    assert problems(piece(0, *events, end=End.ENDED, method="SendStreamingMessage"), rows=rows) == ""
    assert "ended by itself" in problems(piece(0, *events, end=End.ENDED), rows=rows)


def resumed(after: int, *events: dict[str, Any], **members: Any) -> Piece:
    """A connection that went on after an event; the status is that of now."""
    snapshot = {"status": members.pop("status", EVENTS[5]["statusUpdate"]["status"]), **members.pop("task", {})}
    numbers = members.pop("numbers", list(range(after, after + len(events) + 1)))
    return Piece("door", "SubscribeToTask", snapshot, list(events), End.ENDED, after=after, numbers=numbers)


def test_who_names_the_last_event_gets_what_comes_after_it() -> None:
    assert problems(piece(0, *EVENTS[:2]), resumed(2, *EVENTS[2:])) == ""


@pytest.mark.parametrize(
    ("one", "word"),
    [
        (resumed(2, *EVENTS[3:]), "in the place of event 3 came"),
        (resumed(2, *EVENTS[1:]), "in the place of event 3 came"),
        (resumed(2, *EVENTS[2:], numbers=[2, 3, 4, 5, 7]), "the numbers are"),
        (resumed(2, *EVENTS[2:], task={"artifacts": [{"artifactId": "ticks"}]}), "the task at no time"),
        (resumed(3, *EVENTS[3:], status={"state": "TASK_STATE_CANCELED"}), "the task at no time"),
    ],
)
def test_what_is_wrong_after_the_last_event_is_found(one: Piece, word: str) -> None:
    assert word in problems(piece(0, *EVENTS[:2]), one)
