"""The context of a run: what it knows, and what can be said through it, in both flavours."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from a2a import types as sdk
from django.contrib.auth.models import AnonymousUser, User
from django.utils.translation import gettext_lazy

from a2a_django import Extension, Part
from a2a_django.engine import database
from a2a_django.models import Task
from a2a_django.protocol.v1 import a2a_pb2
from tests.agents.conftest import Doing
from tests.engine.kit import (
    ask,
    call_of,
    get,
    made_of,
    message,
    outputs,
    quiet,
    request,
    rest,
    said,
    send,
    short,
    some,
    state_of,
    states_in,
    status_text,
    stream,
    subscribe,
    texts_of,
    until,
    up_to,
)

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.4.3")]


def noting(notes: dict[str, Any], *names: str) -> Any:
    """A step that writes attributes of the context down."""

    def step(ctx: Any) -> None:
        for name in names:
            notes[name] = getattr(ctx, name)

    return step


# -- what a run knows


async def test_the_message_and_its_parts(doing: Doing) -> None:
    notes: dict[str, Any] = {}
    agent = doing(noting(notes, "message", "text", "data", "files"))
    parts = [{"text": "one"}, {"data": {"n": 1}}, {"raw": "eA=="}, {"text": "two"}, {"url": "https://x/y"}, {"data": 2}]
    await ask("SendMessage", call_of(agent), {"message": message(parts=parts)})
    assert isinstance(notes["message"], a2a_pb2.Message)
    assert [part.WhichOneof("content") for part in notes["message"].parts] == [next(iter(part)) for part in parts]
    assert notes["text"] == "one\ntwo"
    assert notes["data"] == {"n": 1}
    assert [part.raw or part.url for part in notes["files"]] == [b"x", "https://x/y"]


async def test_a_message_of_data_alone_has_no_text_and_one_of_text_no_data(doing: Doing) -> None:
    notes: dict[str, Any] = {}
    agent = doing(noting(notes, "text", "data", "files"))
    await ask("SendMessage", call_of(agent), {"message": message(parts=[{"data": None}])})
    assert notes == {"text": "", "data": None, "files": []}
    await send(agent, "text")
    assert notes == {"text": "text", "data": None, "files": []}


async def test_the_task_and_its_ids(doing: Doing) -> None:
    notes: dict[str, Any] = {}
    agent = doing(noting(notes, "task", "task_id", "context_id", "message", "cancelled"))
    answer = await send(agent, context_id="my context")
    task = notes["task"]
    assert isinstance(task, Task)
    assert task.pk == notes["task_id"] == notes["message"].task_id == answer["id"]
    assert task.context_id == notes["context_id"] == notes["message"].context_id == "my context"
    assert task._state.adding is False, "a row is no new object"
    assert task._state.db == "default"
    assert notes["cancelled"] is False


async def test_the_caller_and_the_request(doing: Doing) -> None:
    notes: dict[str, Any] = {}
    extensions = [Extension("https://e.example/a"), Extension("https://e.example/b")]
    names = ("user", "tenant", "metadata", "extensions", "accepted_output_modes")
    agent = doing(noting(notes, *names), lambda ctx: ctx.input_required("?"), extensions=extensions)
    user = await database.run(User.objects.create_user, "alice")
    call = call_of(agent, user=user, tenant="shop", extensions=("https://e.example/b", "https://e.example/unknown"))
    wire = request(metadata={"k": [1, None]}, configuration={"acceptedOutputModes": ["image/png", "text/plain"]})
    task = (await ask("SendMessage", call, wire))["task"]
    assert notes == {
        "user": user,
        "tenant": "shop",
        "metadata": {"k": [1, None]},
        "extensions": ("https://e.example/b",),
        "accepted_output_modes": ("image/png", "text/plain"),
    }
    await quiet()
    await send(agent, task_id=task["id"])
    assert isinstance(notes["user"], AnonymousUser)
    assert (notes["metadata"], tuple(notes["extensions"]), tuple(notes["accepted_output_modes"])) == ({}, (), ())


async def test_a_message_that_waited_is_run_for_its_own_sender() -> None:
    """Two users who share their tasks (by OWNER_RESOLVER): the agent must not act for the wrong one."""
    go, users = asyncio.Event(), []

    async def run(ctx: Any) -> None:
        users.append(ctx.user.get_username())
        await ctx.input_required("?")
        await go.wait()

    agent = made_of(run)
    alice, bob = await database.run(
        lambda: (User.objects.create_user("alice"), User.objects.create_user("bob")),
    )
    task = await send(agent, call=call_of(agent, owner="team", user=alice))
    waiting = asyncio.ensure_future(send(agent, call=call_of(agent, owner="team", user=bob), task_id=task["id"]))
    await until(lambda: Task.objects.get().message_count >= 2)
    go.set()
    await waiting
    await quiet()
    assert users == ["alice", "bob"]


@pytest.mark.spec("3.4.2")
async def test_history_conversation_and_references(doing: Doing) -> None:
    notes: list[dict[str, Any]] = []

    def note(ctx: Any) -> None:
        notes.append({"history": texts(ctx.history), "references": [task.pk for task in ctx.references]})

    def talk(ctx: Any) -> Any:
        found = ctx.conversation()
        if asyncio.iscoroutine(found):

            async def later() -> None:
                notes[-1]["conversation"] = texts(await found)

            return later()
        notes[-1]["conversation"] = texts(found)
        return None

    agent = doing(note, talk, lambda ctx: ctx.input_required(f"question {len(notes)}"))
    other_agent = made_of(lambda ctx: None, slug="other")
    strange = await send(other_agent, "strange agent", context_id="c")
    foreign = await send(agent, "foreign", context_id="c", call=call_of(agent, owner="bob"))
    await quiet()
    first = await send(agent, "one", context_id="c")
    await quiet()
    second = await send(
        agent,
        "two",
        context_id="c",
        referenceTaskIds=[foreign["id"], first["id"], "unknown", first["id"], strange["id"]],
    )
    await quiet()
    await send(agent, "three", task_id=second["id"], referenceTaskIds=[second["id"], first["id"]])
    await quiet()
    assert notes[1:] == [
        {"history": ["one"], "references": [], "conversation": []},
        {"history": ["two"], "references": [first["id"]], "conversation": ["one"]},
        {
            "history": ["two", "question 3", "three"],
            "references": [second["id"], first["id"]],
            "conversation": ["one", "two", "question 3"],
        },
    ]


async def test_a_repeated_message_hides_no_earlier_message_from_the_conversation(doing: Doing) -> None:
    heard: list[list[str]] = []

    def talk(ctx: Any) -> Any:
        found = ctx.conversation()
        if asyncio.iscoroutine(found):

            async def later() -> None:
                heard.append(texts(await found))

            return later()
        heard.append(texts(found))
        return None

    agent = doing(talk, lambda ctx: ctx.input_required("?"))
    task = await send(agent, "one", messageId="same")
    for text, message_id in (("two", "other"), ("two", "other"), ("three", "third")):
        await quiet()
        await send(agent, text, task_id=task["id"], messageId=message_id)
    assert heard[-1] == ["one", "?", "two", "?", "?"]


def texts(messages: list[Any]) -> list[str]:
    """The first text of each protobuf message."""
    assert all(isinstance(each, a2a_pb2.Message) for each in messages)
    return [each.parts[0].text for each in messages]


# -- what a run says


@pytest.mark.parametrize(
    ("method", "state"),
    [
        ("working", "WORKING"),
        ("input_required", "INPUT_REQUIRED"),
        ("auth_required", "AUTH_REQUIRED"),
        ("complete", "COMPLETED"),
        ("fail", "FAILED"),
        ("reject", "REJECTED"),
    ],
)
async def test_statuses(doing: Doing, method: str, state: str) -> None:
    agent = doing(lambda ctx: getattr(ctx, method)("because", metadata={"k": 1}), mode="task")
    events = await (some if state == "AUTH_REQUIRED" else rest)(await stream(agent))
    task_id = events[0]["task"]["id"]
    await until(lambda: Task.objects.get(pk=task_id).last_seq > 0)
    await quiet()
    task = await get(agent, task_id)
    assert task["metadata"] == {"k": 1}
    if state == "WORKING":
        assert states_in(events) == ["WORKING", "COMPLETED"]
        assert said(task) == ["hello", "because"]
    else:
        assert state_of(task) == state
        assert status_text(task) == "because"
        found = task["status"]["message"]
        assert (found["role"], found["taskId"], found["contextId"]) == ("ROLE_AGENT", task["id"], task["contextId"])


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ("text", [{"text": "text"}]),
        (gettext_lazy("lazy"), [{"text": "lazy"}]),
        (Part(text="a part"), [{"text": "a part"}]),
        (["one", Part(text="two"), {"three": 3}], [{"text": "one"}, {"text": "two"}, {"data": {"three": 3}}]),
        ({"k": 1}, [{"data": {"k": 1}}]),
        (sdk.Part(text="of the SDK"), [{"text": "of the SDK"}]),
        (None, None),
        ("", None),
    ],
)
async def test_status_messages(doing: Doing, given: Any, parts: Any) -> None:
    task = await send(doing(lambda ctx: ctx.complete(given)))
    assert state_of(task) == "COMPLETED"
    assert task["status"].get("message", {}).get("parts") == parts


@pytest.mark.parametrize("kind", [a2a_pb2, sdk])
async def test_a_whole_message_as_status_message_keeps_its_id(doing: Doing, kind: Any) -> None:
    whole = kind.Message(message_id="my id", parts=[kind.Part(text="whole")], role=kind.Role.Value("ROLE_USER"))
    task = await send(doing(lambda ctx: ctx.complete(whole)))
    found = task["status"]["message"]
    assert (found["messageId"], found["role"], found["taskId"]) == ("my id", "ROLE_AGENT", task["id"])


async def test_a_status_message_moves_into_the_history_once(doing: Doing) -> None:
    """D-22: also when the agent uses one id again and again, or that of a message of the user."""

    def whole(text: str, message_id: str) -> Any:
        return a2a_pb2.Message(message_id=message_id, parts=[Part(text=text)], role=a2a_pb2.ROLE_AGENT)

    agent = doing(
        lambda ctx: ctx.working("a"),
        lambda ctx: ctx.working(whole("b", "same")),
        lambda ctx: ctx.working(whole("c", "same")),
        lambda ctx: ctx.working(whole("d", "users")),
        lambda ctx: ctx.working("e"),
        lambda ctx: ctx.working(),
        lambda ctx: ctx.complete("end"),
    )
    task = await send(agent, messageId="users")
    assert said(task) == ["hello", "a", "b", "e"]
    assert said(await get(agent, task["id"])) == ["hello", "a", "b", "e"]
    assert status_text(task) == "end"


@pytest.mark.spec("3.2.5")
async def test_metadata_of_statuses_are_merged(doing: Doing) -> None:
    agent = doing(
        lambda ctx: ctx.working(metadata={"a": 1, "b": {"deep": 1}}),
        lambda ctx: ctx.working(metadata={"b": {"other": 2}, "c": None}),
        lambda ctx: ctx.complete(),
    )
    events = await rest(await stream(agent))
    given = [event["statusUpdate"].get("metadata") for event in events[1:]]
    assert given == [{"a": 1, "b": {"deep": 1}}, {"b": {"other": 2}, "c": None}, None]
    task = await get(agent, events[0]["task"]["id"])
    assert task["metadata"] == {"a": 1, "b": {"other": 2}, "c": None}


@pytest.mark.spec("3.2.5")
@pytest.mark.parametrize("metadata", [{"x": object()}, {"x": float("inf")}, {1: 2}, {"x": "\ud800"}])
async def test_metadata_that_is_no_json_is_refused_where_it_is_given(doing: Doing, metadata: Any) -> None:
    for step in (
        lambda ctx: ctx.working(metadata=metadata),
        lambda ctx: ctx.artifact("x", metadata=metadata),
    ):
        assert state_of(await send(doing(step))) == "FAILED"


async def test_artifacts_and_their_pieces(doing: Doing) -> None:
    ids: list[Any] = []

    def first(ctx: Any) -> Any:
        return remember(ctx.artifact("one", {"n": 2}, name=gettext_lazy("Name"), metadata={"a": 1, "b": 1}))

    def remember(found: Any) -> Any:
        if asyncio.iscoroutine(found):

            async def later() -> None:
                ids.append(await found)

            return later()
        ids.append(found)
        return None

    agent = doing(
        first,
        lambda ctx: ctx.artifact("two", artifact_id=ids[0], append=True, description="More", metadata={"b": 2}),
        lambda ctx: ctx.artifact("three", artifact_id=ids[0], append=True, last_chunk=True),
        lambda ctx: ctx.artifact("old", artifact_id="r", name="old", description="goes", metadata={"x": 1}),
        lambda ctx: ctx.artifact("older", artifact_id="r", append=True),
        lambda ctx: ctx.artifact("new", artifact_id="r", name="new"),
        lambda ctx: ctx.artifact("made by appending", artifact_id="ghost", append=True),
    )
    events = await rest(await stream(agent))
    updates = [event["artifactUpdate"] for event in events if "artifactUpdate" in event]
    assert [(update.get("append", False), update.get("lastChunk", False)) for update in updates] == [
        (False, False),
        (True, False),
        (True, True),
        (False, False),
        (True, False),
        (False, False),
        (True, False),
    ]
    artifacts = (await get(agent, events[0]["task"]["id"]))["artifacts"]
    assert artifacts == [
        {
            "artifactId": ids[0],
            "name": "Name",
            "description": "More",
            "metadata": {"a": 1, "b": 2},
            "parts": [{"text": "one"}, {"data": {"n": 2}}, {"text": "two"}, {"text": "three"}],
        },
        {"artifactId": "r", "name": "new", "parts": [{"text": "new"}]},
        {"artifactId": "ghost", "parts": [{"text": "made by appending"}]},
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda ctx: ctx.artifact(),
        lambda ctx: ctx.artifact("x", artifact_id=7),
        lambda ctx: ctx.artifact("x", artifact_id="x" * 1025),
        lambda ctx: ctx.artifact("x", artifact_id="\0"),
        lambda ctx: ctx.artifact("x", name="\ud800"),
        lambda ctx: ctx.artifact("x", description=object()),
        lambda ctx: ctx.working(object()),
        lambda ctx: ctx.working([]),
    ],
)
async def test_what_may_not_be_said_fails_the_task(doing: Doing, wrong: Any) -> None:
    task = await send(doing(wrong))
    assert state_of(task) == "FAILED"
    assert status_text(task) == "The agent gave an invalid response."


async def test_an_artifact_larger_than_allowed_fails_the_task(doing: Doing, settings: Any) -> None:
    settings.A2A = {**settings.A2A, "MAX_ARTIFACT_CHUNKS": 3, "MAX_ARTIFACT_BYTES": 5000}
    chunk = lambda ctx: ctx.artifact("x", artifact_id="out", append=True)  # noqa: E731
    large = lambda ctx: ctx.artifact("x" * 3000, artifact_id="out", append=True)  # noqa: E731
    assert state_of(await send(doing(chunk, chunk, chunk))) == "COMPLETED"
    for agent in (doing(chunk, chunk, chunk, chunk), doing(large, large)):
        task = await send(agent)
        assert state_of(task) == "FAILED"
        assert status_text(task) == "The agent gave an invalid response."
        assert outputs(task) in (["x"] * 3, ["x" * 3000])
    replace = lambda ctx: ctx.artifact("x" * 3000, artifact_id="out")  # noqa: E731
    assert state_of(await send(doing(replace, replace, replace))) == "COMPLETED"


async def test_more_artifacts_than_allowed_fail_the_task(doing: Doing, settings: Any) -> None:
    settings.A2A = {**settings.A2A, "MAX_ARTIFACTS": 2}
    new = lambda ctx: ctx.artifact("x")  # noqa: E731
    more = lambda ctx: ctx.artifact("y", artifact_id="out", append=True)  # noqa: E731
    assert state_of(await send(doing(new, more, more))) == "COMPLETED"
    task = await send(doing(new, more, more, new))
    assert state_of(task) == "FAILED"
    assert status_text(task) == "The agent gave an invalid response."
    assert len(task["artifacts"]) == 2


async def test_more_messages_than_allowed_fail_the_task(doing: Doing, settings: Any) -> None:
    settings.A2A = {**settings.A2A, "MAX_HISTORY": 3}
    say = lambda ctx: ctx.working("on my way")  # noqa: E731
    quiet = lambda ctx: ctx.working()  # noqa: E731
    last = lambda ctx: ctx.complete("done")  # noqa: E731
    assert state_of(await send(doing(say, say, say, quiet, quiet, last))) == "COMPLETED"
    task = await send(doing(say, say, say, say))
    assert state_of(task) == "FAILED"
    assert status_text(task) == "The agent gave an invalid response."


# -- round trips


async def test_a_question_and_its_answer(doing: Doing) -> None:
    def talk(ctx: Any) -> Any:
        return ctx.input_required("which colour?") if len(ctx.history) == 1 else ctx.artifact(ctx.text)

    agent = doing(lambda ctx: ctx.working(), talk)
    task = await send(agent, "paint it")
    assert (state_of(task), status_text(task)) == ("INPUT_REQUIRED", "which colour?")
    await quiet()
    task = await send(agent, "red", task_id=task["id"])
    assert state_of(task) == "COMPLETED"
    assert outputs(task) == ["red"]
    assert said(task) == ["paint it", "which colour?", "red"]
    assert [entry["role"] for entry in task["history"]] == ["ROLE_USER", "ROLE_AGENT", "ROLE_USER"]
    assert {entry["taskId"] for entry in task["history"]} == {task["id"]}


async def test_a_follow_up_about_which_nothing_is_said_completes_the_task(doing: Doing) -> None:
    agent = doing(lambda ctx: ctx.input_required("?") if len(ctx.history) == 1 else None)
    task = await send(agent)
    await quiet()
    assert state_of(await send(agent, "more", task_id=task["id"])) == "COMPLETED"


async def test_a_run_may_go_on_after_it_has_asked_for_a_credential() -> None:
    go = asyncio.Event()

    async def run(ctx: Any) -> str:
        await ctx.auth_required("sign in")
        await go.wait()
        await ctx.working()
        return "authorised"

    agent = made_of(run)
    task = await send(agent)
    assert (state_of(task), status_text(task)) == ("AUTH_REQUIRED", "sign in")
    watching = await subscribe(agent, task["id"])
    streaming = await stream(agent)
    await up_to(streaming, "AUTH_REQUIRED")
    go.set()
    assert states_in(await rest(watching)) == ["WORKING", "COMPLETED"]
    assert states_in(await rest(streaming)) == ["WORKING", "COMPLETED"]
    assert outputs(await get(agent, task["id"])) == ["authorised"]


async def test_a_run_that_returns_after_it_has_asked_for_a_credential_is_parked(doing: Doing) -> None:
    agent = doing(lambda ctx: ctx.auth_required("sign in") if len(ctx.history) == 1 else ctx.artifact("in"))
    task = await send(agent)
    await quiet()
    row = await database.run(Task.objects.get)
    assert (short(row.state), row.lease_holder) == ("AUTH_REQUIRED", "")
    answer = await send(agent, "here", task_id=task["id"])
    assert (state_of(answer), outputs(answer)) == ("COMPLETED", ["in"])


async def test_a_run_may_work_on_after_a_question_it_has_answered_itself(doing: Doing) -> None:
    agent = doing(lambda ctx: ctx.input_required("?"), lambda ctx: ctx.working("never mind"))
    events = await rest(await stream(agent))
    assert states_in(events) == ["INPUT_REQUIRED", "WORKING", "COMPLETED"]


@pytest.mark.parametrize("end", ["complete", "fail", "reject"])
async def test_nothing_can_be_said_after_the_end(doing: Doing, end: str) -> None:
    agent = doing(lambda ctx: getattr(ctx, end)("over"), lambda ctx: ctx.artifact("late"))
    task = await send(agent)
    assert status_text(task) == "over"
    assert outputs(task) == []
    assert texts_of(task["status"]["message"]) == ["over"]
