"""The comparison with the agents' own tables, with what was sent, and with what webhooks were told finds what it is
there to find."""

from __future__ import annotations

from typing import Any

import pytest

from tests.chaos.accounts import FAILED, Account, Books, Script, check_accounts, check_history
from tests.chaos.oracle import Record
from tests.chaos.pushes import check_pushes
from tests.chaos.site.plans import chunk, plan_of, status, ticks, words_of

LOST = "The process that worked on the task was lost, and the agent does not begin such work again."
THINGS = [status("WORKING"), *(step.thing for step in ticks(3, 0))]
DONE = status("COMPLETED")
TALKER = Script("talker")


def event(thing: dict[str, Any], message_id: str = "m-2") -> dict[str, Any]:
    """The event by which a thing is published."""
    if "state" in thing:
        found: dict[str, Any] = {"state": thing["state"]}
        if thing["text"]:
            parts = [{"text": thing["text"]}]
            found["message"] = {"messageId": message_id, "role": "ROLE_AGENT", "parts": parts}
        return {"statusUpdate": {"status": found, "metadata": thing["metadata"]}}
    artifact = {"artifactId": thing["artifact"] or "chosen", "parts": thing["parts"]}
    return {"artifactUpdate": {"artifact": artifact, "append": thing["append"], "lastChunk": thing["last"]}}


def record(*attempts: list[dict[str, Any]], history: list[dict[str, Any]] | None = None) -> Record:
    """A task in whose attempts, from 1 on, these things were published."""
    pairs = [(number, event(thing)) for number, things in enumerate(attempts, 1) for thing in things]
    state = attempts[-1][-1].get("state", "TASK_STATE_WORKING")
    return Record(state, [each for _, each in pairs], [number for number, _ in pairs], history or [])


def problems(found: Record, books: Books, script: Script = TALKER) -> str:
    return "; ".join(check_accounts(found, script, books))


def books(*accounts: Account, entries: list[tuple[int, int]] | None = None) -> Books:
    return Books(dict(enumerate(accounts, 1)), entries or [])


WHOLE, HALF = Account(THINGS, finished=True), Account(THINGS)
RAISING = Script("talker", raises=True)
ONCE = Script("once", max_attempts=1)


@pytest.mark.parametrize(
    ("found", "written", "script"),
    [
        (record([*THINGS, DONE]), books(WHOLE), TALKER),
        (record(THINGS[:2], [*THINGS, DONE]), books(HALF, WHOLE), TALKER),
        (record(THINGS[:3], [*THINGS[3:], DONE]), books(HALF, Account(THINGS[3:], 3, finished=True)), TALKER),
        (record(THINGS[:2]), books(HALF), TALKER),
        (record([*THINGS, status("FAILED", FAILED)]), books(WHOLE), RAISING),
        (record([*THINGS[:1], status("FAILED", LOST)]), books(HALF), ONCE),
        (record([*THINGS[:1], status("CANCELED")]), books(HALF), Script("talker", cancelled=True)),
        (record([*THINGS[:1], status("FAILED", FAILED)]), books(Account(THINGS, trouble="it was away")), TALKER),
    ],
    ids=["whole", "again", "from a checkpoint", "at work", "raises", "lost", "cancelled", "no database"],
)
def test_what_was_written_down_may_be_said(found: Record, written: Books, script: Script) -> None:
    assert problems(found, written, script) == ""


@pytest.mark.parametrize(
    ("found", "written", "script", "word"),
    [
        (record([*THINGS[:2], *THINGS[3:], DONE]), books(WHOLE), TALKER, "had written down"),
        (record([*THINGS[:2], *THINGS[1:], DONE]), books(WHOLE), TALKER, "had written down"),
        (record([*THINGS[:3], DONE]), books(WHOLE), TALKER, "not through"),
        (record([*THINGS, DONE]), books(HALF), TALKER, "not through"),
        (record([*THINGS, DONE]), books(WHOLE), RAISING, "not through"),
        (
            record(THINGS[:2], [*THINGS[3:], DONE]),
            books(HALF, Account(THINGS[3:], 3, finished=True)),
            TALKER,
            "went on",
        ),
        (record([*THINGS[:2], DONE], THINGS), books(HALF, HALF), TALKER, "had written down"),
        (record([*THINGS[:1], status("CANCELED")]), books(HALF), TALKER, "nobody has cancelled"),
        (record([*THINGS[:1], status("FAILED", LOST)]), books(HALF), TALKER, "given up"),
        (record([*THINGS[:1], status("FAILED", FAILED)]), books(HALF), TALKER, "its agent has not"),
        (record([*THINGS[:1], status("FAILED", FAILED)]), books(HALF), RAISING, "before its agent had"),
        (record([*THINGS[:1], status("FAILED", "who knows")]), books(HALF), TALKER, "nobody said"),
        (record(THINGS), books(), TALKER, "had written down"),
    ],
)
def test_what_was_not_written_down_is_found(found: Record, written: Books, script: Script, word: str) -> None:
    assert word in problems(found, written, script)


def test_what_an_attempt_that_is_over_still_says_is_found() -> None:
    found = record(THINGS[:2], THINGS)
    found.attempts[-1] = 1
    assert "over" in problems(found, books(HALF, HALF))


@pytest.mark.parametrize(
    ("entries", "word"),
    [([(0, 1), (1, 1), (2, 1)], ""), ([(0, 1), (1, 1)], "rows"), ([(0, 1), (1, 2), (2, 1)], "rows")],
)
def test_a_clerk_has_a_row_for_each_chunk(entries: list[tuple[int, int]], word: str) -> None:
    chunks = THINGS[1:]
    found = problems(record([*chunks, DONE]), books(Account(chunks, finished=True), entries=entries), Script("clerk"))
    assert word in found
    assert bool(word) == bool(found)


def test_the_package_chooses_one_id_for_the_pieces_of_an_attempt() -> None:
    plan = [chunk([{"text": "a"}], ""), chunk([{"text": "b"}], "", append=True)]
    assert problems(record([*plan, DONE]), books(Account(plan, finished=True))) == ""
    other = record([*plan, DONE])
    other.events[1]["artifactUpdate"]["artifact"]["artifactId"] = "another"
    assert "had written down" in problems(other, books(Account(plan, finished=True)))


def user(message_id: str) -> dict[str, Any]:
    return {"messageId": message_id, "role": "ROLE_USER", "parts": []}


QUESTION = status("INPUT_REQUIRED", "which?")
ASKED = event(QUESTION)["statusUpdate"]["status"]["message"]


@pytest.mark.parametrize(
    ("history", "word"),
    [
        ([user("a"), ASKED, user("b")], ""),
        ([user("a"), user("b")], ""),
        ([user("a"), ASKED, user("b"), user("lost")], ""),
        ([user("a"), ASKED], "missing"),
        ([user("a"), ASKED, user("b"), user("c")], "nobody sent"),
        ([user("a"), ASKED, user("b"), user("b")], "twice"),
        ([user("a"), ASKED, user("b"), ASKED], "the agent's messages"),
    ],
)
def test_the_history_is_what_was_sent_and_asked(history: list[dict[str, Any]], word: str) -> None:
    found = "; ".join(check_history(record([QUESTION], history=history), {"a": True, "b": True, "lost": False}))
    assert word in found
    assert bool(word) == bool(found)


@pytest.mark.parametrize(
    ("came", "word"),
    [
        ([0, 1, 2, 3], ""),
        ([0, 0, 1, 1, 2, 3, 3], ""),
        ([0, 1, 2, 1, 3], ""),
        ([0, 2, 1, 3], "was told of event [3] after event 1"),
        ([0, 1, 2], "3 events of 4"),
        ([1, 2, 3], "after event 0"),
    ],
)
def test_a_webhook_is_told_in_order_and_at_least_once(came: list[int], word: str) -> None:
    events = [event(thing) for thing in THINGS]
    found = "; ".join(check_pushes(events, [events[number] for number in came]))
    assert word in found
    assert bool(word) == bool(found)


def test_plans_depend_on_the_words_alone() -> None:
    assert words_of("ask 2 #abc") == ["ask", "2"]
    assert plan_of(["ask", "2"], ["a"]).steps[-1].thing["text"] == "question 2?"
    assert plan_of(["ask", "2"], ["a", "b"]).steps[-1].thing["parts"] == [{"text": "a"}, {"text": "b"}]
    assert plan_of(["boom", "1"], []).raises
