"""What a script is: the first words of a task's first message, and the list of things that a run says for them.

A thing is a JSON object: ``{"state": ..., "text": ..., "metadata": ...}`` or ``{"artifact": id, "parts": [...],
"append": ..., "last": ...}`` with name and metadata. The id is "" where the package chooses it. Milliseconds to wait
before it stand beside it in ``Step``.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

Thing = dict[str, Any]

TICK_MS: Final = 200


class Step(NamedTuple):
    """One thing to say, after a pause."""

    thing: Thing
    pause: int = 0


class Plan(NamedTuple):
    """All a run says, and whether it ends by an exception."""

    steps: list[Step]
    raises: bool = False


def words_of(text: str) -> list[str]:
    """Return the words of a script, without the mark that makes the text of a message unique."""
    return text.partition("#")[0].split()


def status(name: str, text: str = "", **metadata: Any) -> Thing:
    """Return a change of state."""
    return {"state": f"TASK_STATE_{name}", "text": text, "metadata": metadata}


def chunk(parts: list[Any], artifact: str, *, append: bool = False, last: bool = False, **more: Any) -> Thing:
    """Return a piece of an artifact."""
    return {"artifact": artifact, "parts": parts, "append": append, "last": last, **more}


def ticks(count: int, pause: int, size: int = 0, artifact: str = "ticks") -> list[Step]:
    """Return numbered pieces of text."""
    return [
        Step(
            chunk([{"text": f"tick-{i}".ljust(size, ".")}], artifact, append=i > 0, last=i == count - 1),
            pause,
        )
        for i in range(count)
    ]


def plan_of(words: list[str], answers: list[str]) -> Plan:
    """Return what a run says for a script, ``answers`` being the texts that came after the first message."""
    word, *rest = words
    numbers = [int(each) for each in rest]
    working = Step(status("WORKING"))
    match word:
        case "slow":
            return Plan([working, *ticks(numbers[0], TICK_MS)])
        case "burst":
            return Plan([working, *ticks(numbers[0], 0, numbers[1] if len(numbers) > 1 else 0)])
        case "pace":
            return Plan([working, *ticks(numbers[0], numbers[1])])
        case "quiet":
            return Plan([working, Step(chunk([{"text": "awake"}], "out"), numbers[0] * 1000)])
        case "replace":
            return Plan(
                [
                    working,
                    Step(chunk([{"text": "v1"}], "r", name="old", metadata={"a": 1})),
                    Step(chunk([{"text": "+v2"}], "r", metadata={"b": 2}, append=True)),
                    Step(chunk([{"text": "v3"}], "r", name="new", last=True), numbers[0]),
                ]
            )
        case "meta":
            return Plan([Step(status("WORKING", a=1, b=2)), Step(status("WORKING", "half", a=3), 50)])
        case "auth":
            return Plan(
                [
                    working,
                    Step(status("AUTH_REQUIRED", "please sign in")),
                    Step(status("WORKING"), 1500),
                    Step(chunk([{"text": "authorised"}], "out")),
                ]
            )
        case "ask" if len(answers) < numbers[0]:
            return Plan([working, Step(status("INPUT_REQUIRED", f"question {len(answers) + 1}?"), 50)])
        case "ask":
            return Plan([working, Step(chunk([{"text": answer} for answer in answers], "out"))])
        case "park":
            return Plan([working, *ticks(numbers[0], 100), Step(status("INPUT_REQUIRED", "anybody?"))])
        case "boom":
            return Plan([working, *ticks(numbers[0], 20)], raises=True)
        case "fail":
            return Plan([working, Step(status("FAILED", "it did not work"), 50)])
        case "reject":
            return Plan([Step(status("REJECTED", "not here"))])
        case "idle":
            return Plan([working])
    raise ValueError(f"no script is called {word}")


def data_plan(count: int) -> Plan:
    """Return numbered data parts of one artifact whose id the package chooses."""
    things = [
        chunk([{"data": {"number": i, "even": i % 2 == 0, "words": ["a", str(i)]}}], "", append=i > 0)
        for i in range(count)
    ]
    return Plan([Step(thing, TICK_MS) for thing in things])
