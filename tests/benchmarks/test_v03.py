"""The measurement of version 0.3 sees wrong answers."""

from __future__ import annotations

import json

import pytest

from benchmarks.load import LoadError
from benchmarks.measures.stream import check_events
from benchmarks.measures.v03 import _renamed, check_old_sent
from benchmarks.wire import chunk_text


def sent(**task: object) -> bytes:
    whole = {"kind": "task", "status": {"state": "completed"}, "artifacts": [{"parts": [{"text": "echo"}]}], **task}
    return json.dumps({"id": 7, "result": whole}).encode()


def test_an_answer_that_is_right_passes_and_others_do_not() -> None:
    check_old_sent(7, sent())
    for wrong in (sent(status={"state": "TASK_STATE_COMPLETED"}), sent(artifacts=[]), b'{"id":7,"error":{}}'):
        with pytest.raises(LoadError):
            check_old_sent(7, wrong)
    with pytest.raises(LoadError):
        check_old_sent(8, sent())


def test_events_are_read_as_those_of_1_0() -> None:
    def event(**result: object) -> bytes:
        return _renamed(json.dumps({"result": result}).encode())

    task = event(kind="task", id="t", status={"state": "submitted"})
    chunks = [
        event(kind="artifact-update", artifact={"parts": [{"kind": "text", "text": chunk_text(i)}]}) for i in range(3)
    ]
    end = event(kind="status-update", status={"state": "completed"})
    assert check_events([task, *chunks, end], 3) == "t"
    for wrong in ([task, *chunks], [task, *chunks[1:], end], [task, *chunks, event(kind="else"), end]):
        with pytest.raises(LoadError):
            check_events(wrong, 3)
