"""Things to paste into a terminal, for the front page and for `make demo`."""

from __future__ import annotations

import json
from typing import NamedTuple

from django.utils.translation import gettext as _


class Line(NamedTuple):
    """A command line and what it shows."""

    title: str
    command: str


def lines_to_paste(base: str) -> list[Line]:
    """Return command lines that talk to the agent of the site at ``base`` (no trailing slash)."""
    return [
        Line(_("The agent's card"), f"curl -s {base}/.well-known/agent-card.json"),
        Line(_("A question over JSON-RPC"), _rpc(base, "curl -s", "SendMessage", "Where is order 1003?")),
        Line(_("A live stream"), _rpc(base, "curl -sN", "SendStreamingMessage", "Please do a stocktake")),
        Line(
            _("The same agent over HTTP+JSON; it asks back"),
            _post(f"{base}/a2a/message:send", "curl -s", {"message": _message("Where is my order?")}),
        ),
        Line(_("All tasks so far"), f"curl -s -H 'A2A-Version: 1.0' {base}/a2a/tasks"),
    ]


def _message(text: str) -> dict[str, object]:
    return {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}]}


def _rpc(base: str, curl: str, method: str, text: str) -> str:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": _message(text)}}
    return _post(f"{base}/a2a/", curl, call)


def _post(url: str, curl: str, body: object) -> str:
    return f"{curl} {url} -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d '{json.dumps(body)}'"
