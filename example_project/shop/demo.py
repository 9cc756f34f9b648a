"""Things to paste into a terminal, for the front page and for `make demo`."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from django.utils.translation import gettext as _

VERSION: Final = "-H 'A2A-Version: 1.0'"
CONVERSATION: Final = "my-order"


class Line(NamedTuple):
    """What to paste, one or more lines for a shell, and what it shows."""

    title: str
    command: str


def lines_to_paste(base: str) -> list[Line]:
    """Return commands that talk to the agent of the site at ``base`` (no trailing slash)."""
    send = f"{base}/a2a/message:send"
    stocktake = {"message": _message("Please do a stocktake"), "configuration": {"returnImmediately": True}}
    # Who does not say who is calling finds tasks only by ids: here, that of the conversation.
    conversation = f"{base}/a2a/tasks?contextId={CONVERSATION}"
    waiting = f"curl -s {VERSION} '{conversation}&status=TASK_STATE_INPUT_REQUIRED&pageSize=1'"
    return [
        Line(_("The agent's card"), f"curl -s {base}/.well-known/agent-card.json"),
        Line(_("A question over JSON-RPC"), _rpc(base, "curl -s", "SendMessage", "Where is order 1003?")),
        Line(_("A live stream"), _rpc(base, "curl -sN", "SendStreamingMessage", "Please do a stocktake")),
        Line(
            _("The same agent over HTTP+JSON; it asks back"),
            _post(send, {"message": _message("Where is my order?", contextId=CONVERSATION)}),
        ),
        Line(
            _("Your reply: find the task that waits for it, then send the reply to that task"),
            _taking_id(waiting, '["tasks"][0]["id"]')
            + "\n"
            + _post(send, {"message": _message("It is order 1001", messageId="m-2", taskId="$TASK")}),
        ),
        Line(
            _("A stocktake that is cancelled as soon as it has begun"),
            _taking_id(_post(send, stocktake), '["task"]["id"]')
            + "\n"
            + _post(f"{base}/a2a/tasks/${{TASK}}:cancel", {}),
        ),
        Line(_("The tasks of that conversation"), f"curl -s {VERSION} '{conversation}'"),
    ]


def _message(text: str, **members: str) -> dict[str, object]:
    return {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}], **members}


def _rpc(base: str, curl: str, method: str, text: str) -> str:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": _message(text)}}
    return _post(f"{base}/a2a/", call, curl)


def _post(url: str, body: object, curl: str = "curl -s") -> str:
    # Only outside of the single quotes does the shell put the id in.
    data = json.dumps(body).replace("$TASK", "'$TASK'")
    return f"{curl} {url} -H 'Content-Type: application/json' {VERSION} -d '{data}'"


def _taking_id(command: str, path: str) -> str:
    """Return a line that keeps the id at ``path`` of what ``command`` answers in the shell's variable TASK."""
    return f"TASK=$({command} | python3 -c 'import json, sys; print(json.load(sys.stdin){path})')"
