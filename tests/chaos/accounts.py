"""Whether the rows of a task say what its agent has produced: by the agent's own table, attempt for attempt.

Written without the package's own code, as the oracle is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final

from tests.chaos.oracle import TERMINAL, Json, Record

#: What the package itself may say at the end of a task, as far as its attempts allow it.
LOST: Final = re.compile(
    r"The process that worked on the task was lost, \d+ times in a row\."
    r"|(The process that worked on the task was lost|The server was stopped before the agent had finished)"
    r", and the agent does not begin such work again\."
)
FAILED: Final = "The agent could not finish the task."


@dataclass
class Account:
    """What an agent has written down of one attempt; see ``site.models.Attempt``."""

    plan: list[Json]
    start: int = 0
    finished: bool = False
    trouble: str = ""


@dataclass
class Script:
    """What is known of a task from outside: how often its agent may be run, whether it raises, whether a client has
    cancelled it."""

    slug: str
    max_attempts: int = 100
    raises: bool = False
    cancelled: bool = False


@dataclass
class Books:
    """All an agent has written down of a task: its attempts by number, and for a ``clerk`` the rows of its own, each
    with its attempt."""

    accounts: Mapping[int, Account] = field(default_factory=dict)
    entries: list[tuple[int, int]] = field(default_factory=list)


def said(event: Json) -> Json:
    """Return an event in the words of an agent (``site.plans``)."""
    if (update := event.get("statusUpdate")) is not None:
        status = update["status"]
        text = "".join(part["text"] for part in status.get("message", {}).get("parts", ()))
        return {"state": status["state"], "text": text, "metadata": update.get("metadata", {})}
    update = event["artifactUpdate"]
    artifact = update["artifact"]
    found = {"artifact": artifact["artifactId"], "parts": artifact["parts"]}
    found |= {"append": update.get("append", False), "last": update.get("lastChunk", False)}
    return found | {name: artifact[name] for name in ("name", "metadata") if name in artifact}


def check_accounts(record: Record, script: Script, books: Books) -> Iterator[str]:
    """Yield what is wrong."""
    by_attempt: dict[int, list[Json]] = {}
    for attempt, event in zip(record.attempts, record.events, strict=True):
        by_attempt.setdefault(attempt, []).append(said(event))
    if record.attempts != sorted(record.attempts):
        yield f"events of attempts that were over: {record.attempts}"
    published = 0
    for attempt, things in by_attempt.items():
        account = books.accounts.get(attempt, Account([]))
        plan = _with_ids(account.plan, things)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(things, plan, strict=False))
        own = [thing for thing, _ in same]
        extra = things[len(own) :]
        is_last = attempt == record.attempts[-1]
        if len(extra) > 1 or (extra and not (is_last and extra[0].get("state") in TERMINAL)):
            yield f"attempt {attempt} said {_short(things)}, and had written down {_short(plan)}"
            continue
        if extra:
            yield from _check_end(extra[0], script, account, whole=len(own) == len(plan), attempts=len(books.accounts))
        if account.start > published:
            yield f"attempt {attempt} went on after thing {account.start}, and only {published} were there"
        published = max(published, account.start + len(own))
    if script.slug == "clerk":
        yield from _check_clerk(record, books)


def _check_end(end: Json, script: Script, account: Account, *, whole: bool, attempts: int) -> Iterator[str]:
    """The package has ended the task: may it?"""
    state, text = end["state"].removeprefix("TASK_STATE_"), end["text"]
    if state == "COMPLETED":
        if not (whole and account.finished) or script.raises:
            yield f"it is COMPLETED, and its agent was not through (all said: {whole})"
    elif state == "CANCELED":
        if not script.cancelled:
            yield "it is CANCELED, and nobody has cancelled it"
    elif state == "FAILED" and LOST.fullmatch(text):
        if attempts < script.max_attempts - 1:  # the last one may not have come to write
            yield f"it was given up after {attempts} attempts of {script.max_attempts}: {text}"
    elif state == "FAILED" and text == FAILED:
        if script.raises and not (whole and account.finished):
            yield "it has FAILED before its agent had"
        if not script.raises and not account.trouble:
            yield "it has FAILED, and its agent has not"
    else:
        yield f"nobody said {end}"


def _check_clerk(record: Record, books: Books) -> Iterator[str]:
    """Chunk, row and checkpoint are one transaction: each number is there exactly once, in both."""
    chunks = [
        (int(event["artifactUpdate"]["artifact"]["parts"][0]["text"].rpartition("-")[2]), attempt)
        for attempt, event in zip(record.attempts, record.events, strict=True)
        if "artifactUpdate" in event
    ]
    if chunks != sorted(books.entries):
        yield f"the chunks are {chunks}, the rows of the site's own {sorted(books.entries)}"
    if [number for number, _ in chunks] != list(range(len(chunks))):
        yield f"the chunks are {[number for number, _ in chunks]}"


def check_history(record: Record, sent: Mapping[str, bool]) -> Iterator[str]:
    """Yield what is wrong with the history: ``sent`` has the ids of all messages that clients sent, and whether they
    were told that the message has arrived."""
    known = [message["messageId"] for message in record.history if message["role"] == "ROLE_USER"]
    if unknown := [each for each in known if each not in sent]:
        yield f"nobody sent the messages {unknown}"
    if len(known) != len(set(known)):
        yield f"messages are there twice: {known}"
    if missing := [each for each, certain in sent.items() if certain and each not in known]:
        yield f"the messages {missing} are missing"
    questions = [
        message
        for event in record.events
        if (message := event.get("statusUpdate", {}).get("status", {}).get("message")) is not None
    ]
    answers = [message for message in record.history if message["role"] == "ROLE_AGENT"]
    # The message of the last status may be there still, and not in the history yet.
    if answers not in (questions, questions[:-1]):
        yield f"the agent's messages are {_short(answers)}, and it said {_short(questions)}"


def _with_ids(plan: list[Json], things: list[Json]) -> list[Json]:
    """Return the plan with the id of an artifact that the package has chosen, one for each attempt."""
    chosen = next((thing["artifact"] for thing in things if "artifact" in thing), "")
    return [thing | {"artifact": thing["artifact"] or chosen} if "artifact" in thing else thing for thing in plan]


def _short(things: list[Any]) -> str:
    """Return things for a sentence: the rest is in the evidence."""
    words = [each.get("state") or "".join(str(part.get("text", part)) for part in each["parts"]) for each in things]
    return f"{words[:30]}{' ...' if len(words) > 30 else ''} ({len(words)})"
