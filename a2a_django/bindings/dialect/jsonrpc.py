"""JSON-RPC as the tutorials write it: rewritten, and carried out by the binding of 0.3."""

from __future__ import annotations

import json
from typing import Any, cast

from a2a_django.bindings import older
from a2a_django.bindings.calls import Pairs
from a2a_django.bindings.dialect import requests
from a2a_django.bindings.http import Answer, Exchange, StreamAnswer
from a2a_django.conf import a2a_settings
from a2a_django.protocol import codec
from a2a_django.protocol.errors import InvalidParamsError


async def handle(
    exchange: Exchange, name: str, given: dict[str, Any], pairs: Pairs, request_id: str
) -> Answer | StreamAnswer:
    """Answer a call of the method ``name`` with the params ``given``; ``request_id`` is JSON text.

    Never raises but for cancellation: what goes wrong is an answer in the form of 0.3.
    """
    binding = older.part("jsonrpc")
    try:
        meant, said = requests.rewritten(name, given, waits=a2a_settings.TUTORIAL_WAITS)
    except InvalidParamsError as error:
        return cast(Answer, binding.refuse(error, exchange, request_id))
    answer: Answer | StreamAnswer = await binding.handle(exchange, meant, said, pairs, request_id)
    return _history(answer) if name == requests.HISTORY and isinstance(answer, Answer) else answer


def _history(answer: Answer) -> Answer:
    """Return the answer to ``messages/list`` for the one to ``tasks/get``; an error stays what it is."""
    body = json.loads(answer.body)
    if "result" not in body:
        return answer
    body["result"] = requests.messages_of(body["result"])
    return Answer(answer.status, answer.headers, codec.dumps(body).encode("ascii"))
