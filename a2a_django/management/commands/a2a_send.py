"""``manage.py a2a_send``: talk to an agent of this site from the shell."""

from __future__ import annotations

import asyncio
import json
import mimetypes
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from a2a_django import engine
from a2a_django.access import owner_at, owner_of, resolve_agent
from a2a_django.agents.cards import CardBase
from a2a_django.management.users import user_named
from a2a_django.models.fields import uuid7
from a2a_django.operations import OPERATIONS, CallContext, EventStream
from a2a_django.protocol import codec
from a2a_django.protocol.errors import A2AError
from a2a_django.protocol.states import INTERRUPTED, TERMINAL, TaskState
from a2a_django.protocol.versions import V1_0
from a2a_django.protocol.wire import Wire


class Command(BaseCommand):
    """Runs the agent in this process (or hands it to the site's queue, by ``RUNNER``) and prints what it says.

    The message is sent as the user that is named; who has the shell needs no permission. Exit code 1: the task has
    failed, was rejected or cancelled, or there was an error.
    """

    help = "Send a message to an agent of this site and print what it answers, as it comes."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the message, whom it is for and from."""
        parser.add_argument("text", nargs="?", default="", help="The text of the message.")
        parser.add_argument("--agent", default="", help="The agent's slug or tenant; by default the default agent.")
        parser.add_argument("--user", help="Whose message it is; by default nobody's in particular.")
        parser.add_argument("--task", default="", help="The task that it belongs to, which waits for it.")
        parser.add_argument("--context", default="", help="The context that it belongs to.")
        parser.add_argument("--data", help="A data part: JSON.")
        parser.add_argument("--file", action="append", default=[], dest="files", help="A file; may be repeated.")
        parser.add_argument("--json", action="store_true", help="Print each event as a line of JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Send it. Raises ``CommandError`` when it is refused, or when the task does not end well."""
        user = AnonymousUser() if options["user"] is None else user_named(options["user"])
        message = _message(options)
        try:
            asyncio.run(self._send(options["agent"], user, message, as_json=options["json"]))
        except A2AError as error:
            fields = [f"{each.field}: {each.description}" for each in error.violations]
            raise CommandError("; ".join([error.message, *fields])) from error

    async def _send(self, tenant: str, user: Any, message: Wire, *, as_json: bool) -> None:
        try:
            agent = await resolve_agent(tenant, in_path=False)
            operation = OPERATIONS["SendStreamingMessage" if agent.streaming else "SendMessage"]
            request = codec.decode(operation.request, {"message": message})
            call = CallContext(
                agent=agent,
                tenant=tenant,
                owner=owner_at(tenant, await asyncio.to_thread(owner_of, user)),
                user=user,
                version=V1_0,
                extensions=(),
                binding="COMMAND",
                streaming=True,
                base=CardBase("", ""),
            )
            answer = await operation.call(call, request)
            told = _Told(self, as_json=as_json)
            if isinstance(answer, EventStream):
                async for texts in answer:
                    for text in texts:
                        told.event(text)
            else:
                told.event(answer)
            told.end()
        finally:
            await asyncio.to_thread(engine.shutdown)


class _Told:
    """What is printed: texts as they come, everything else in lines of its own."""

    def __init__(self, command: BaseCommand, *, as_json: bool) -> None:
        self._out, self._style, self._as_json = command.stdout, command.style, as_json
        self._task_id, self._state = "", ""
        self._midway = False

    def event(self, text: str) -> None:
        """Print one event (a StreamResponse)."""
        if self._as_json:
            self._out.write(text)
        event: dict[str, Any] = json.loads(text)
        if "task" in event:
            self._task(event["task"])
        elif "message" in event:
            self._parts(event["message"].get("parts", ()))
        elif "statusUpdate" in event:
            self._status(event["statusUpdate"]["status"])
        elif "artifactUpdate" in event:
            self._parts(event["artifactUpdate"]["artifact"].get("parts", ()))

    def end(self) -> None:
        """Say how it ended. Raises ``CommandError`` when it did not end well."""
        self._line_end()
        if self._state in INTERRUPTED and not self._as_json:
            self._out.write(_("The agent waits for an answer: --task %(task)s") % {"task": self._task_id})
        if self._state in TERMINAL and self._state != TaskState.COMPLETED:
            state = self._state.removeprefix("TASK_STATE_").lower()
            raise CommandError(_("Task %(task)s: %(state)s.") % {"task": self._task_id, "state": state})

    def _task(self, task: Mapping[str, Any]) -> None:
        self._task_id = task["id"]
        self._status(task["status"])
        for artifact in task.get("artifacts", ()):
            self._parts(artifact.get("parts", ()))

    def _status(self, status: Mapping[str, Any]) -> None:
        self._state = status["state"]
        if not self._as_json and (said := status.get("message")):
            self._line_end()
            self._parts(said.get("parts", ()))
            self._line_end()

    def _parts(self, parts: Any) -> None:
        if self._as_json:
            return
        for part in parts:
            if "text" in part:
                self._out.write(part["text"], ending="")
                self._out.flush()
                self._midway = True
            else:
                self._line_end()
                self._out.write(self._style.NOTICE(_described(part)))

    def _line_end(self) -> None:
        if self._midway:
            self._out.write("")
            self._midway = False


def _described(part: Mapping[str, Any]) -> str:
    """Return a line for a part that is no text."""
    if "data" in part:
        return json.dumps(part["data"], ensure_ascii=False, indent=2)
    name = part.get("filename") or part.get("mediaType") or _("file")
    if "url" in part:
        return f"{name}: {part['url']}"
    return _("%(name)s: %(size)d bytes") % {"name": name, "size": len(part.get("raw", "")) * 3 // 4}


def _message(options: Mapping[str, Any]) -> Wire:
    parts: list[Wire] = [{"text": options["text"]}] if options["text"] else []
    if options["data"] is not None:
        try:
            parts.append({"data": json.loads(options["data"])})
        except ValueError as error:
            raise CommandError(_("--data is no JSON: %(why)s") % {"why": error}) from error
    for name in options["files"]:
        path = Path(name)
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise CommandError(_("Cannot read %(file)s: %(why)s") % {"file": name, "why": error.strerror}) from error
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        parts.append({"raw": b64encode(raw).decode("ascii"), "filename": path.name, "mediaType": kind})
    if not parts:
        raise CommandError(_("Say something: a text, --data or --file."))
    message: Wire = {"messageId": uuid7(), "role": "ROLE_USER", "parts": parts}
    if options["task"]:
        message["taskId"] = options["task"]
    if options["context"]:
        message["contextId"] = options["context"]
    return message
